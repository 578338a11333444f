// Volumes of StorageClass liqo: what is made of a claim, and what is done next about it.
#include "core/storage/volume.hpp"

#include "../objects.hpp"
#include "core/storage/volume_plan.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::core::storage {
namespace {

using namespace core::testing;
namespace action = volume_action;
namespace annotations = api::annotations;

std::string text(const json::value& value) { return json::serialize(value); }

/// A claim of class liqo, for which the scheduler has chosen the node "milan".
kube::Object claim() {
  return parse(R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop", "uid": "c1", "resourceVersion": "5",
      "labels": {"app": "db"},
      "annotations": {"note": "kept", "volume.kubernetes.io/selected-node": "milan",
        "volume.kubernetes.io/storage-provisioner": "liqo.io/storage"}},
    "spec": {"storageClassName": "liqo", "accessModes": ["ReadWriteOnce"], "volumeMode": "Block",
      "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}})");
}

kube::Object node(std::string_view classes = R"([{"storageClassName": "fast"},
                                                 {"storageClassName": "slow", "default": true}])") {
  return parse(R"({"metadata": {"name": "milan"}, "spec": {"storageClasses": )" + std::string(classes) + "}}");
}

kube::Object storage_class(std::string_view policy = "Delete") {
  return parse(R"({"metadata": {"name": "liqo"}, "reclaimPolicy": ")" + std::string(policy) + "\"}");
}

kube::Object remote(const kube::Object& of) {
  const kube::Object offers = node();
  auto made = forge_remote_claim(of, "shop-rome", api::VirtualNode(offers), context());
  REQUIRE(made.has_value());
  made->mutable_metadata()["uid"] = "r1";
  made->mutable_status()["phase"] = "Pending";
  return *made;
}

void bind(kube::Object& claim, std::string_view size = "1Gi", std::string_view mode = "ReadWriteOnce") {
  claim.mutable_status() = json::object{{"phase", "Bound"},
                                        {"capacity", json::object{{"storage", size}}},
                                        {"accessModes", json::array{json::string(mode)}}};
}

kube::Object volume(const kube::Object& of, const kube::Object& backing) {
  return forge_volume(of, storage_class(),
                      {.recorded = {.cluster = "milan", .key = backing.key(), .uid = "r1"}, .claim = backing});
}

VolumePlan plan(const kube::Object& claim, const kube::Object* volume, const kube::Object* backing, bool waits = false,
                bool late = false) {
  return plan_volume({.claim = claim,
                      .volume = volume,
                      .backing = backing,
                      .where = "cluster milan",
                      .waits_for_consumer = waits,
                      .is_late = late});
}

template <typename Action>
bool is(const VolumePlan& plan) {
  return std::holds_alternative<Action>(plan);
}
action::Keep keeping(VolumePlan plan) { return std::get<action::Keep>(std::move(plan)); }
/// The patch of the step of that kind, as text; "" if it is not due.
template <class Kind>
std::string patch(const VolumePlan& plan) {
  for (const action::Step& step : std::get<action::Keep>(plan).steps)
    if (const Kind* found = std::get_if<Kind>(&step)) return text(found->patch);
  return "";
}
/// The warning of a plan, an empty one if it gives none.
VolumeWarning warning(const VolumePlan& plan) {
  if (const auto* waiting = std::get_if<action::AwaitBacking>(&plan)) return waiting->warning.value_or(VolumeWarning());
  return keeping(plan).warning.value_or(VolumeWarning());
}

}  // namespace

TEST_CASE("the copy of a volume has the name of its claim at a provider, where that can be a name") {
  kube::Object copy = claim();
  CHECK(name_at_provider(copy) == copy.name());
  copy.set_annotation(annotations::moves_claim, "data-0");
  CHECK(name_at_provider(copy) == "data-0");
  for (const std::string_view no_name : {"", "..", ".", "a/b", "../secrets/b", "Data", "a?b", "a%2fb"}) {
    copy.set_annotation(annotations::moves_claim, no_name);
    CHECK(name_at_provider(copy) == copy.name());
  }
}

TEST_CASE("a claim can have the volume that is free, retained, and given to it") {
  kube::Object free(json::object{{"metadata", json::object{{"name", "pvc-c9"}}}});
  free.set_annotation(annotations::provisioned_by, api::storage_provisioner);
  free.set_annotation(annotations::backing_claim, "shop-rome/data");
  free.set_annotation(annotations::backing_claim_uid, "r1");
  free.set_annotation(annotations::given_to, claim().key().text());
  free.mutable_spec()["persistentVolumeReclaimPolicy"] = "Retain";
  free.mutable_status()["phase"] = "Released";
  CHECK(is_given_to(free, claim()));
  kube::Object other = free;
  SUBCASE("and not one of another claim") { other.set_annotation(annotations::given_to, "shop/other"); }
  SUBCASE("and not one whose claim is there") { other.mutable_status()["phase"] = "Bound"; }
  SUBCASE("and not one that is about to be deleted with its data") {
    other.mutable_spec()["persistentVolumeReclaimPolicy"] = "Delete";
  }
  SUBCASE("and not one that goes") { other.mutable_metadata()["deletionTimestamp"] = "2026-01-01T00:00:00Z"; }
  SUBCASE("and not one of another provisioner") { other.set_annotation(annotations::provisioned_by, "csi"); }
  CHECK_FALSE(is_given_to(other, claim()));
}

TEST_CASE("a claim is due once the scheduler has chosen a node for it") {
  CHECK(is_due(claim(), "liqo"));
  CHECK_FALSE(is_due(claim(), "fast"));
  CHECK_FALSE(is_due(claim(), ""));
  kube::Object other = claim();
  other.set_annotation(annotations::selected_node, "");
  CHECK_FALSE(is_due(other, "liqo"));
  other = claim();
  other.set_annotation(annotations::volume_provisioner, "csi.example.org");
  CHECK_FALSE(is_due(other, "liqo"));
  other.set_annotation(annotations::volume_provisioner_beta, "liqo.io/storage");
  CHECK(is_due(other, "liqo"));
  other.mutable_spec()["volumeName"] = "pvc-c1";
  CHECK_FALSE(is_due(other, "liqo"));
  CHECK(had_volume(other));
  other.mutable_spec()["volumeName"] = "chosen-by-hand";
  CHECK_FALSE(is_due(other, "liqo"));
  CHECK_FALSE(had_volume(other));
  other.mutable_spec()["volumeName"] = "";
  CHECK(is_due(other, "liqo"));
  other.set_annotation("pv.kubernetes.io/bind-completed", "yes");
  CHECK_FALSE(is_due(other, "liqo"));
}

TEST_CASE("a remote claim is of an offered class, as large and of the same mode, and says whose it is") {
  const kube::Object made = remote(claim());
  CHECK(made.key().text() == "shop-rome/data");
  CHECK(text(made.spec()) == R"({"accessModes":["ReadWriteOnce"],"volumeMode":"Block",)"
                             R"("resources":{"requests":{"storage":"1Gi"}},"storageClassName":"slow"})");
  CHECK(made.label("app") == "db");
  CHECK(made.label("offloading.liqo.io/origin") == "local-cluster");
  CHECK(made.annotation("note") == "kept");
  CHECK_FALSE(made.has_annotation(annotations::selected_node));
  CHECK_FALSE(made.has_annotation(annotations::volume_provisioner));
  CHECK(is_backing_of(made, "c1"));
  CHECK_FALSE(is_backing_of(made, "c2"));
  CHECK_FALSE(is_backing_of(claim(), ""));
}

TEST_CASE("annotations say of which class and with which access modes the remote claim is") {
  const kube::Object offers = node();
  kube::Object asking = claim();
  asking.set_annotation(annotations::remote_storage_class, "fast");
  asking.set_annotation(annotations::remote_access_modes, " ReadWriteMany,, ReadOnlyMany ");
  const kube::Object made = remote(asking);
  CHECK(kube::string_at(made.spec(), {"storageClassName"}) == "fast");
  CHECK(text(kube::array_at(made.spec(), {"accessModes"})) == R"(["ReadWriteMany","ReadOnlyMany"])");
  CHECK_FALSE(made.has_annotation(annotations::remote_storage_class));

  const auto refused = [&](const kube::Object& wrong) {
    auto answer = forge_remote_claim(wrong, "shop-rome", api::VirtualNode(offers), context());
    return answer ? std::string() : answer.error().text();
  };
  asking.set_annotation(annotations::remote_access_modes, "Bogus");
  CHECK(refused(asking).contains("no access mode \"Bogus\""));
  asking = claim();
  asking.set_annotation(annotations::remote_storage_class, "gold");
  CHECK(refused(asking).contains("does not offer the class \"gold\""));
  CHECK(refused(asking).contains("it offers fast, slow"));
  asking = claim();
  asking.mutable_spec()["dataSource"] = json::object{{"kind", "VolumeSnapshot"}};
  CHECK(refused(asking).contains("spec.dataSource"));
  asking = claim();
  asking.mutable_spec()["volumeAttributesClassName"] = "gold";
  CHECK(refused(asking).contains("spec.volumeAttributesClassName"));
}

TEST_CASE("a real claim is of the class of this cluster and for the node that was chosen") {
  const auto made = forge_real_claim(claim(), "liqo-storage", "local");
  REQUIRE(made.has_value());
  CHECK(made->key().text() == "liqo-storage/c1");
  CHECK(kube::string_at(made->spec(), {"storageClassName"}) == "local");
  CHECK(made->annotation(annotations::selected_node) == "milan");
  CHECK(is_backing_of(*made, "c1"));
  CHECK(made->label(api::labels::virtual_claim_namespace) == "shop");
  CHECK(made->label(api::labels::virtual_claim_name) == "data");
  kube::Object longer = claim();
  longer.mutable_metadata()["name"] = std::string(64, 'x');
  CHECK(forge_real_claim(longer, "liqo-storage", "local")->labels().empty());
  CHECK_FALSE(forge_real_claim(claim(), "liqo-storage", "")->spec().contains("storageClassName"));
}

TEST_CASE("a remote volume draws its pods to the virtual nodes of its provider") {
  kube::Object backing = remote(claim());
  const kube::Object asked = volume(claim(), backing);
  CHECK(asked.name() == "pvc-c1");
  CHECK(text(asked.spec().at("capacity")) == R"({"storage":"1Gi"})");
  CHECK(text(asked.spec().at("volumeMode")) == R"("Block")");
  CHECK(text(asked.spec().at("nodeAffinity")) ==
        R"({"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"liqo.io/remote-cluster-id",)"
        R"("operator":"In","values":["milan"]}]}]}})");
  CHECK(backing_of(asked) == Backing{.cluster = "milan", .key = {"shop-rome", "data"}, .uid = "r1"});
  CHECK(is_volume_of(asked, claim()));
  bind(backing, "2Gi", "ReadWriteMany");
  const kube::Object real = volume(claim(), backing);
  CHECK(text(real.spec().at("capacity")) == R"({"storage":"2Gi"})");
  CHECK(text(real.spec().at("accessModes")) == R"(["ReadWriteOnce","ReadWriteMany"])");
}

TEST_CASE("a volume in this cluster is where the real one is, and never on a virtual node") {
  kube::Object backing = *forge_real_claim(claim(), "liqo-storage", "local");
  bind(backing);
  kube::Object real = parse(R"({"metadata": {"name": "real"}, "spec": {"capacity": {"storage": "1Gi"},
    "storageClassName": "local", "claimRef": {"name": "x"}, "mountOptions": ["ro"], "local": {"path": "/data"},
    "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]},
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}}})");
  const kube::Object made =
      forge_volume(claim(), storage_class("Retain"),
                   {.recorded = {.cluster = "", .key = backing.key(), .uid = "b1"}, .claim = backing, .volume = &real});
  CHECK(text(made.spec().at("local")) == R"({"path":"/data"})");
  CHECK_FALSE(made.spec().contains("hostPath"));
  CHECK(text(made.spec().at("mountOptions")) == R"(["ro"])");
  CHECK(text(made.spec().at("persistentVolumeReclaimPolicy")) == R"("Retain")");
  CHECK(text(made.spec().at("nodeAffinity")) ==
        R"({"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"},)"
        R"({"key":"liqo.io/type","operator":"DoesNotExist"}]},)"
        R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}],)"
        R"("matchExpressions":[{"key":"liqo.io/type","operator":"DoesNotExist"}]}]}})");
  CHECK(backing_of(made)->cluster.empty());
}

TEST_CASE("a volume is made when its remote claim is bound, or waits for a pod") {
  kube::Object backing = remote(claim());
  CHECK(is<action::CreateBacking>(plan(claim(), nullptr, nullptr)));
  CHECK(is<action::AwaitBacking>(plan(claim(), nullptr, &backing)));
  CHECK(is<action::CreateVolume>(plan(claim(), nullptr, &backing, true)));
  CHECK(warning(plan(claim(), nullptr, &backing)).reason.empty());
  const VolumePlan late = plan(claim(), nullptr, &backing, false, true);
  CHECK(is<action::AwaitBacking>(late));
  CHECK(warning(late).reason == api::reasons::volume_pending);
  CHECK(warning(late).for_pods);
  bind(backing);
  CHECK(is<action::CreateVolume>(plan(claim(), nullptr, &backing)));
}

TEST_CASE("a claim that has lost its volume gets no empty one") {
  kube::Object lost = claim();
  lost.mutable_spec()["volumeName"] = "pvc-c1";
  kube::Object backing = remote(lost);
  CHECK(is<action::Keep>(plan(lost, nullptr, nullptr)));
  CHECK(warning(plan(lost, nullptr, nullptr)).reason == api::reasons::volume_lost);
  // What is not bound holds nothing.
  CHECK(warning(plan(lost, nullptr, &backing, true)).reason == api::reasons::volume_lost);
  CHECK(is<action::Keep>(plan(lost, nullptr, &backing, true)));
  bind(backing);
  CHECK(is<action::CreateVolume>(plan(lost, nullptr, &backing)));
  kube::Object going = backing, foreign = backing;
  going.mutable_metadata()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  CHECK(warning(plan(lost, nullptr, &going)).reason == api::reasons::volume_lost);
  foreign.set_annotation(annotations::virtual_claim_uid, "c2");
  CHECK(warning(plan(lost, nullptr, &foreign)).reason == api::reasons::volume_lost);
}

TEST_CASE("a volume that the Go version has made shows where its data is") {
  kube::Object made = parse(R"({"metadata": {"name": "pvc-c1",
      "annotations": {"pv.kubernetes.io/provisioned-by": "liqo.io/storage"}},
    "spec": {"claimRef": {"namespace": "shop", "name": "data", "uid": "c1"},
      "hostPath": {"path": "/tmp/liqo-placeholder"},
      "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "liqo.io/remote-cluster-id", "operator": "In", "values": ["milan"]}]}]}}}})");
  CHECK(unrecorded_place(made, claim()) == "milan");
  made.mutable_spec()["hostPath"] = json::object{{"path", "/data/c1"}};
  CHECK(unrecorded_place(made, claim()) == "");
  kube::Object other = made;
  SUBCASE("not of another provisioner") { other.set_annotation(annotations::provisioned_by, "csi"); }
  SUBCASE("not where it is recorded") { other.set_annotation(annotations::backing_claim, "a/b"); }
  SUBCASE("not of another name") { other.mutable_metadata()["name"] = "pvc-c2"; }
  SUBCASE("not of another claim") { kube::ensure_object(other.mutable_spec(), "claimRef")["uid"] = "c2"; }
  SUBCASE("not without its provider") {
    other.mutable_spec()["hostPath"] = json::object{{"path", "/tmp/liqo-placeholder"}};
    other.mutable_spec().erase("nodeAffinity");
  }
  CHECK_FALSE(unrecorded_place(other, claim()).has_value());
}

TEST_CASE("a claim that the Go version has put behind another is told by its labels") {
  const ClusterPair pair = context().clusters;
  kube::Object remote_one = parse(R"({"metadata": {"name": "data"}})");
  remote_one.set_label(api::labels::reflection_origin, pair.local);
  CHECK_FALSE(is_unrecorded_backing(remote_one, claim(), &pair));
  remote_one.set_label(api::labels::reflection_destination, pair.remote);
  CHECK(is_unrecorded_backing(remote_one, claim(), &pair));
  remote_one.set_annotation(annotations::virtual_claim_uid, "c9");
  CHECK_FALSE(is_unrecorded_backing(remote_one, claim(), &pair));
  kube::Object here = parse(R"({"metadata": {"name": "c1", "labels": {
    "storage.liqo.io/virtual-pvc-namespace": "shop", "storage.liqo.io/virtual-pvc-name": "data"}}})");
  CHECK(is_unrecorded_backing(here, claim(), nullptr));
  here.set_label(api::labels::virtual_claim_name, "other");
  CHECK_FALSE(is_unrecorded_backing(here, claim(), nullptr));
}

TEST_CASE("what somebody else has made is not taken") {
  kube::Object foreign = remote(claim());
  foreign.set_annotation(annotations::virtual_claim_uid, "c2");
  bind(foreign);
  const VolumePlan taken = plan(claim(), nullptr, &foreign);
  CHECK(is<action::AwaitBacking>(taken));
  CHECK(warning(taken).message.contains("belongs to something else"));

  kube::Object backing = remote(claim());
  kube::Object strange = volume(claim(), backing);
  strange.set_annotation(annotations::provisioned_by, "csi.example.org");
  const action::Keep other = keeping(plan(claim(), &strange, &backing));
  CHECK(warning(other).message.contains("somebody else"));
  CHECK(other.steps.empty());

  const kube::Object ours = volume(claim(), backing);
  CHECK(warning(plan(claim(), &ours, &foreign)).reason == api::reasons::volume_lost);
  kube::Object renamed = ours;
  renamed.mutable_metadata()["name"] = "pvc-c2";
  CHECK_FALSE(backing_of(renamed).has_value());
  backing.mutable_metadata()["uid"] = "r2";
  bind(backing, "9Gi");
  const action::Keep replaced = keeping(plan(claim(), &ours, &backing));
  CHECK(warning(replaced).reason == api::reasons::volume_lost);
  CHECK(replaced.steps.empty());
  CHECK(warning(plan(claim(), &ours, nullptr)).reason == api::reasons::volume_lost);
}

TEST_CASE("the volume and the claim follow what the remote claim is bound to") {
  kube::Object bound = claim(), backing = remote(claim());
  const kube::Object made = volume(bound, backing);
  bind(bound);
  CHECK(keeping(plan(bound, &made, &backing)) == action::Keep());
  CHECK(warning(plan(bound, &made, &backing, false, true)).reason == api::reasons::volume_pending);
  bind(backing, "1024Mi");
  CHECK(keeping(plan(bound, &made, &backing)) == action::Keep());

  bind(backing, "2Gi");
  const VolumePlan larger = plan(bound, &made, &backing);
  CHECK(patch<action::PatchVolume>(larger) == R"({"spec":{"capacity":{"storage":"2Gi"}}})");
  CHECK(patch<action::PatchClaim>(larger) == R"({"status":{"capacity":{"storage":"2Gi"}}})");
  CHECK(warning(larger).reason == api::reasons::volume_resized);
  CHECK(warning(larger).for_pods);
  // What was asked for is no news for those who use it.
  kube::Object grown = bound;
  grown.mutable_spec()["resources"] = json::object{{"requests", json::object{{"storage", "2Gi"}}}};
  CHECK(warning(plan(grown, &made, &backing)).reason == api::reasons::volume_resized);
  CHECK_FALSE(warning(plan(grown, &made, &backing)).for_pods);

  bind(backing, "1Gi", "ReadOnlyMany");
  const VolumePlan other = plan(bound, &made, &backing);
  CHECK(patch<action::PatchVolume>(other) == R"({"spec":{"accessModes":["ReadWriteOnce","ReadOnlyMany"]}})");
  CHECK(patch<action::PatchClaim>(other) == R"({"status":{"accessModes":["ReadWriteOnce","ReadOnlyMany"]}})");
  CHECK(warning(other).reason == api::reasons::volume_differs);
  CHECK(warning(other).for_pods);
  bound.set_annotation(annotations::remote_access_modes, "ReadOnlyMany");
  CHECK(warning(plan(bound, &made, &backing)).reason.empty());
}

TEST_CASE("a volume in this cluster never shrinks, and a CSI driver's is left to its resizer") {
  kube::Object bound = claim(), backing = *forge_real_claim(claim(), "liqo-storage", "local");
  backing.mutable_metadata()["uid"] = "b1";
  bind(backing, "2Gi");
  bind(bound, "2Gi");
  kube::Object real = parse(R"({"metadata": {"name": "real"}, "spec": {"hostPath": {"path": "/data"}}})");
  const Backing recorded{.cluster = "", .key = backing.key(), .uid = "b1"};
  const kube::Object made =
      forge_volume(bound, storage_class(), {.recorded = recorded, .claim = backing, .volume = &real});
  bind(backing, "1Gi");
  CHECK(keeping(plan(bound, &made, &backing)) == action::Keep());
  bind(backing, "3Gi");
  CHECK(patch<action::PatchVolume>(plan(bound, &made, &backing)) == R"({"spec":{"capacity":{"storage":"3Gi"}}})");
  CHECK(patch<action::PatchClaim>(plan(bound, &made, &backing)) == R"({"status":{"capacity":{"storage":"3Gi"}}})");
  kube::Object of_driver = made;
  of_driver.mutable_spec()["csi"] = json::object{{"driver", "csi.example.org"}};
  CHECK(keeping(plan(bound, &of_driver, &backing)) == action::Keep());
}

TEST_CASE("a claim that asks for more has its remote claim ask for more") {
  kube::Object bound = claim(), backing = remote(claim());
  const kube::Object made = volume(bound, backing);
  bind(bound);
  bind(backing);
  CHECK(has_grown(bound, backing));
  bound.mutable_spec()["resources"] = json::object{{"requests", json::object{{"storage", "3Gi"}}}};
  CHECK(patch<action::PatchBacking>(plan(bound, &made, &backing)) ==
        R"({"spec":{"resources":{"requests":{"storage":"3Gi"}}}})");
  CHECK_FALSE(has_grown(bound, backing));
  backing.mutable_spec()["resources"] = json::object{{"requests", json::object{{"storage", "4Gi"}}}};
  CHECK(patch<action::PatchBacking>(plan(bound, &made, &backing)) == "");
}

TEST_CASE("a claim in this cluster that lost its node is made anew for another one") {
  kube::Object backing = *forge_real_claim(claim(), "liqo-storage", "local");
  const kube::Object asking = claim();
  const auto planned = [&] {
    return plan_volume({.claim = asking, .backing = &backing, .is_local = true, .where = std::string(this_cluster)});
  };
  CHECK(is<action::AwaitBacking>(planned()));
  backing.set_annotation(annotations::selected_node, "other");
  CHECK(is<action::Discard>(planned()));
  // The node of a claim at a provider is none of that cluster.
  CHECK(is<action::AwaitBacking>(plan(asking, nullptr, &backing)));
  bind(backing);
  CHECK(is<action::CreateVolume>(planned()));
}

TEST_CASE("data goes with a volume that is released and not to be retained") {
  kube::Object made = volume(claim(), remote(claim()));
  CHECK_FALSE(is_to_be_deleted(made));
  made.mutable_status()["phase"] = "Released";
  CHECK(is_to_be_deleted(made));
  kube::Object kept = made;
  kept.mutable_spec()["persistentVolumeReclaimPolicy"] = "Retain";
  CHECK_FALSE(is_to_be_deleted(kept));
  made.set_annotation(annotations::provisioned_by, "csi.example.org");
  CHECK_FALSE(is_to_be_deleted(made));
}

}  // namespace liqo::core::storage
