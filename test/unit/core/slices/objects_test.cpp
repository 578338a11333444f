// The objects that are written about a slice: its Quota, its status, what the consumer fills in, its VirtualNode.
#include <tuple>

#include "../objects.hpp"
#include "core/common/difference.hpp"
#include "core/slices/local_slice.hpp"
#include "core/slices/quota.hpp"
#include "core/slices/slice_node.hpp"
#include "core/slices/status.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

Resources amounts(std::string_view text) { return *read_resources(parse_value(text).get_object()); }
std::string text(const json::value& value) { return json::serialize(value); }

/// Merges a patch as RFC 7386 does.
void apply(json::object& target, const json::object& patch) {
  for (const auto& [key, value] : patch) {
    if (value.is_null())
      target.erase(key);
    else if (value.is_object())
      apply(kube::ensure_object(target, key), value.get_object());
    else
      target[key] = value;
  }
}

kube::Object slice(std::string_view rest = "{}") {
  kube::Object made = parse(R"({"apiVersion": "authentication.liqo.io/v1beta1", "kind": "ResourceSlice",
    "metadata": {"name": "gpu-pool", "namespace": "liqo-tenant-rome", "uid": "u1", "resourceVersion": "7"}, "spec": {"consumerClusterID": "rome", "providerClusterID": "milan"}})");
  apply(made.tree(), parse_value(rest).get_object());
  return made;
}

GrantPlan accepted(std::string_view granted) {
  return grant_action::Accept{
      .reason = "ResourceSliceResourcesAccepted",
      .message = "ResourceSlice resources accepted",
      .record = SliceRecord{.slice_class = "default", .request = {}, .granted = amounts(granted)}};
}

QuotaWish wish(std::string_view granted = R"({"cpu": "8"})", bool cordoned = false) {
  return {.user = "gpu-pool-573ffa690333",
          .enforcement = "None",
          .cordoned = cordoned,
          .record = SliceRecord{.slice_class = "default", .request = {}, .granted = amounts(granted)}};
}

json::object patch_of(const LocalSlicePlan& plan) {
  const auto* due = std::get_if<local_slice_action::Patch>(&plan);
  REQUIRE(due);
  return due->patch;
}

kube::Object created_by(const SliceNodePlan& plan) {
  const auto* create = std::get_if<slice_node_action::Create>(&plan.action);
  REQUIRE(create);
  return create->virtual_node;
}

}  // namespace

TEST_CASE("a merge patch makes one object into the other") {
  for (const auto& [have, want, patch] : {std::tuple{"{}", "{}", "{}"},
                                          {R"({"a": 1})", R"({"a": 1})", "{}"},
                                          {R"({"a": 1})", R"({"a": 2, "b": {"c": 3}})", R"({"a":2,"b":{"c":3}})"},
                                          {R"({"a": {"b": 1, "c": 2}})", R"({"a": {"c": 2}})", R"({"a":{"b":null}})"},
                                          {R"({"a": [1, 2]})", R"({"a": [2]})", R"({"a":[2]})"},
                                          {R"({"a": {"b": 1}})", R"({"a": 1})", R"({"a":1})"},
                                          {R"({"a": {"b": 1}})", R"({})", R"({"a":null})"}}) {
    json::object from = parse_value(have).get_object();
    const json::object made = difference(from, parse_value(want).get_object());
    CHECK(text(made) == patch);
    apply(from, made);
    CHECK(json::value(from) == parse_value(want));
  }
}

TEST_CASE("a Quota is made as the Go version makes it, with our record beside") {
  const kube::Object made = forge_quota(slice(), wish());
  CHECK(made.key().text() == "liqo-tenant-rome/gpu-pool-573ffa690333");
  CHECK(made.kind() == "Quota");
  CHECK(text(made.spec()) == R"({"user":"gpu-pool-573ffa690333","limitsEnforcement":"None","resources":{"cpu":"8"}})");
  const auto owner = made.controller();
  REQUIRE(owner.has_value());
  CHECK(owner->uid == "u1");
  CHECK(owner->kind == "ResourceSlice");
  CHECK(owner->block_owner_deletion);
  CHECK(read_slice_record(made, "u1")->granted == amounts(R"({"cpu": "8"})"));
  CHECK_FALSE(plan_quota_update(made, slice(), wish()).has_value());
}

TEST_CASE("a Quota follows what is wished, and nothing that is equal is written") {
  kube::Object quota = forge_quota(slice(), wish(R"({"cpu": "8", "x.io/y": "1"})"));
  quota.mutable_metadata()["resourceVersion"] = "3";
  quota.mutable_spec()["resources"] = parse_value(R"({"cpu": "8000m", "x.io/y": 1})");
  CHECK_FALSE(plan_quota_update(quota, slice(), wish(R"({"cpu": "8", "x.io/y": "1"})")).has_value());

  const auto shrunk = plan_quota_update(quota, slice(), wish(R"({"cpu": "4"})"));
  REQUIRE(shrunk.has_value());
  CHECK(text(shrunk->at("spec")) == R"({"resources":{"cpu":"4","x.io/y":null}})");
  CHECK(kube::string_at(*shrunk, {"metadata", "resourceVersion"}) == "3");

  QuotaWish denied = wish();
  denied.record.reset();
  denied.cordoned = true;
  denied.enforcement = "Hard";
  const auto cordoned = plan_quota_update(quota, slice(), denied);
  REQUIRE(cordoned.has_value());
  CHECK(json::value(cordoned->at("spec")) == parse_value(R"({"limitsEnforcement": "Hard", "cordoned": true})"));
  apply(quota.tree(), *cordoned);
  denied.cordoned = false;
  CHECK(text(plan_quota_update(quota, slice(), denied)->at("spec")) == R"({"cordoned":null})");
  denied.cordoned = denied.drained = true;
  const auto drained = plan_quota_update(quota, slice(), denied);
  REQUIRE(drained.has_value());
  apply(quota.tree(), *drained);
  CHECK(api::Quota(quota).is_drained());
  CHECK_FALSE(plan_quota_update(quota, slice(), denied).has_value());
  denied.cordoned = denied.drained = false;
  apply(quota.tree(), *plan_quota_update(quota, slice(), denied));
  CHECK_FALSE(quota.has_annotation("liqo.io/drained"));
}

TEST_CASE("a Quota that nobody owns is taken over, one of another slice is not ours") {
  const kube::Object bare = parse(R"({"metadata": {"name": "gpu-pool-573ffa690333", "namespace": "liqo-tenant-rome"},
    "spec": {"user": "gpu-pool-573ffa690333", "limitsEnforcement": "None", "resources": {"cpu": "8"}}})");
  CHECK_FALSE(is_quota_of_another(bare, slice()));
  CHECK(plan_quota_update(bare, slice(), wish())->at("metadata").as_object().contains("ownerReferences"));
  const kube::Object earlier = forge_quota(slice(R"({"metadata": {"uid": "u0"}})"), wish());
  CHECK(is_quota_of_another(earlier, slice()));
}

TEST_CASE("a Quota's use is shown, and written only when it changes") {
  kube::Object quota = forge_quota(slice(), wish());
  quota.mutable_metadata()["uid"] = "q1";
  quota.mutable_spec()["resources"] = *kube::parse_json(R"({"cpu": "8", "memory": "4Gi"})");
  struct Case {
    const char* title;
    QuotaUsage usage;
    const char* status;
  };
  const Case cases[] = {
      {"nothing runs: what is bounded is shown as zero",
       {},
       R"({"cpu": "0", "memory": "0"}, "reserved": {}, "pods": 0)"},
      {"some of it is in use, some is on its way",
       {.used = amounts(R"({"cpu": "2", "pods": "3"})"),
        .reserved = amounts(R"({"cpu": "500m", "pods": "1"})"),
        .pods = 3},
       R"({"cpu": "2", "memory": "0"}, "reserved": {"cpu": "500m"}, "pods": 3)"},
      {"what is reserved no more goes, and what is bounded no more stays while it is used",
       {.used = amounts(R"({"cpu": "9", "memory": "1Gi", "nvidia.com/gpu": "1"})"),
        .reserved = amounts(R"({"cpu": "0"})"),
        .pods = 3},
       R"({"cpu": "9", "memory": "1Gi", "nvidia.com/gpu": "1"}, "reserved": {}, "pods": 3)"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.title);
    const auto patch = plan_quota_status(quota, one.usage);
    REQUIRE(patch.has_value());
    CHECK(kube::string_at(*patch, {"metadata", "uid"}) == "q1");
    apply(quota.tree(), *patch);
    CHECK(json::value(quota.status()) == parse_value("{\"used\": " + std::string(one.status) + "}"));
    CHECK_FALSE(plan_quota_status(quota, one.usage).has_value());
  }
}

TEST_CASE("an accepted slice shows what is granted and offered; a denied one keeps what was granted") {
  ReadPolicy policy;
  policy.ingress_classes = {{"nginx", true}};
  policy.cluster_labels = {{"region", "eu"}};
  kube::Object shown = slice();
  const auto patch =
      plan_slice_status(shown, accepted(R"({"cpu": "8"})"), {.policy = policy, .storage_classes = {}}, at());
  REQUIRE(patch.has_value());
  CHECK(kube::string_at(*patch, {"metadata", "resourceVersion"}) == "7");
  apply(shown.tree(), *patch);
  CHECK(json::value(shown.status()) == parse_value(R"({"resources": {"cpu": "8"},
    "ingressClasses": [{"ingressClassName": "nginx", "default": true}], "nodeLabels": {"region": "eu"},
    "conditions": [{"type": "Resources", "status": "Accepted", "reason": "ResourceSliceResourcesAccepted",
                    "message": "ResourceSlice resources accepted", "lastTransitionTime": "2026-11-21T10:00:00Z"}]})"));
  CHECK_FALSE(
      plan_slice_status(shown, accepted(R"({"cpu": "8000m"})"), {.policy = policy, .storage_classes = {}}, at(5s))
          .has_value());

  const grant_action::Deny denied{.reason = "ResourceSliceResourcesDenied",
                                  .message = "ResourceSlice resources denied"};
  const auto drained = plan_slice_status(shown, denied, {.policy = ReadPolicy(), .storage_classes = {}}, at(10s));
  REQUIRE(drained.has_value());
  CHECK(drained->at("status").as_object().size() == 1);
  apply(shown.tree(), *drained);
  const api::ResourceSlice view(shown);
  CHECK(view.is_denied("Resources"));
  CHECK(text(view.granted()) == R"({"cpu":"8"})");
  CHECK(kube::string_at(kube::array_at(shown.status(), {"conditions"}).at(0), {"lastTransitionTime"}) ==
        "2026-11-21T10:00:10Z");

  const auto less =
      plan_slice_status(shown, accepted(R"({"memory": "1Gi"})"), {.policy = ReadPolicy(), .storage_classes = {}}, at());
  apply(shown.tree(), *less);
  CHECK(text(view.granted()) == R"({"memory":"1Gi"})");
  CHECK_FALSE(shown.status().contains("ingressClasses"));
  CHECK_FALSE(shown.status().contains("nodeLabels"));
  for (const GrantPlan& silent :
       std::initializer_list<GrantPlan>{grant_action::Keep{}, grant_action::Foreign{}, grant_action::Wait{}})
    CHECK_FALSE(plan_slice_status(shown, silent, {.policy = policy, .storage_classes = {}}, at()).has_value());
}

TEST_CASE("consumers are told whether their pods find names of home here, and nothing new while that is not known") {
  const ReadPolicy policy;
  kube::Object shown = slice();
  const auto label_after = [&](std::optional<bool> home_names) {
    const auto patch = plan_slice_status(shown, accepted(R"({"cpu": "8"})"),
                                         {.policy = policy, .storage_classes = {}, .home_names = home_names}, at());
    if (patch) apply(shown.tree(), *patch);
    return std::string(kube::string_at(shown.status(), {"nodeLabels", "liqo.io/home-names"}));
  };
  CHECK(label_after(std::nullopt).empty());
  CHECK(label_after(true) == "true");
  CHECK(label_after(std::nullopt) == "true");
  CHECK(label_after(false).empty());
  CHECK_FALSE(shown.status().contains("nodeLabels"));
}

TEST_CASE("consumers are told what the machines are, where they agree and the operator says nothing else") {
  const Platform arm{.os = "", .architecture = "arm64"}, windows{.os = "windows", .architecture = "amd64"}, mixed;
  const Platform able{.os = "", .architecture = "", .features = {"A", "B"}, .features_left_out = {"C/d"}};
  const Platform placed{.os = "", .architecture = "", .zone = "a", .region = "eu"};
  ReadPolicy silent, said, of_features, of_places;
  of_places.cluster_labels = {{"topology.kubernetes.io/zone", "m"}};
  said.cluster_labels = {{"region", "eu"}, {"kubernetes.io/arch", "riscv64"}};
  of_features.cluster_labels = {{"features.liqo.io/A", "false"},
                                {"features.liqo.io/C", "true"},
                                {"features.liqo.io/D", "no"},
                                {"features.liqo.io/ExtendWebSocketsToKubelet", "true"},
                                {"features.liqo.io/e", "true"}};
  struct Row {
    std::string_view title, shown;
    const ReadPolicy& policy;
    const Platform* platform;
    std::string_view labels;
  };
  for (const Row& row : {
           Row{"one kind", "{}", silent, &arm, R"({"kubernetes.io/arch":"arm64"})"},
           Row{"not Linux", "{}", silent, &windows, R"({"kubernetes.io/os":"windows","kubernetes.io/arch":"amd64"})"},
           Row{"several", R"({"kubernetes.io/arch": "arm64"})", silent, &mixed, "{}"},
           Row{"one place", R"({"liqo.io/zone": "old"})", silent, &placed,
               R"({"liqo.io/zone":"a","liqo.io/region":"eu"})"},
           Row{"the operator's place", "{}", of_places, &placed,
               R"({"topology.kubernetes.io/zone":"m","liqo.io/zone":"a","liqo.io/region":"eu"})"},
           Row{"place not known yet", R"({"liqo.io/zone": "old"})", silent, nullptr, R"({"liqo.io/zone":"old"})"},
           Row{"not known yet", R"({"kubernetes.io/arch": "arm64", "x": "y"})", silent, nullptr,
               R"({"kubernetes.io/arch":"arm64"})"},
           Row{"features", R"({"features.liqo.io/Old": "true"})", silent, &able,
               R"({"features.liqo.io/A":"true","features.liqo.io/B":"true"})"},
           Row{"no features any more", R"({"features.liqo.io/Old": "true"})", silent, &mixed, "{}"},
           Row{"features not known yet", R"({"features.liqo.io/Old": "true", "features.liqo.io/X": "y"})", silent,
               nullptr, R"({"features.liqo.io/Old":"true"})"},
           Row{"the operator's features", R"({"features.liqo.io/A": "true"})", of_features, &able,
               R"({"features.liqo.io/B":"true","features.liqo.io/C":"true"})"},
           Row{"the operator says", R"({"kubernetes.io/arch": "arm64"})", said, &arm,
               R"({"kubernetes.io/arch":"riscv64","region":"eu"})"},
       }) {
    CAPTURE(row.title);
    kube::Object shown = slice();
    shown.mutable_status()["nodeLabels"] = parse_value(row.shown);
    const auto patch = plan_slice_status(shown, accepted(R"({"cpu": "8"})"),
                                         {.policy = row.policy, .storage_classes = {}, .platform = row.platform}, at());
    REQUIRE(patch.has_value());
    apply(shown.tree(), *patch);
    CHECK(json::value(kube::object_at(shown.status(), {"nodeLabels"})) == parse_value(row.labels));
    CHECK_FALSE(plan_slice_status(shown, accepted(R"({"cpu": "8"})"),
                                  {.policy = row.policy, .storage_classes = {}, .platform = row.platform}, at(5s))
                    .has_value());
  }
}

TEST_CASE("what a tenant writes into the status of its slice is undone") {
  kube::Object shown = slice();
  apply(shown.tree(),
        *plan_slice_status(shown, accepted(R"({"cpu": "8"})"), {.policy = ReadPolicy(), .storage_classes = {}}, at()));
  shown.mutable_status()["resources"] = parse_value(R"({"cpu": "8000"})");
  const auto patch =
      plan_slice_status(shown, accepted(R"({"cpu": "8"})"), {.policy = ReadPolicy(), .storage_classes = {}}, at());
  REQUIRE(patch.has_value());
  CHECK(text(patch->at("status")) == R"({"resources":{"cpu":"8"}})");
}

TEST_CASE("our own denial of a custom class is taken back, that of its controller is not") {
  const auto with = [](std::string_view reason) {
    return slice(R"({"status": {"resources": {"cpu": "1"}, "conditions": [{"type": "Resources", "status": "Denied",
      "reason": ")" +
                 std::string(reason) + R"("}]}})");
  };
  for (const std::string_view ours : {"TenantDrained", "TenantCordoned"}) {
    kube::Object shown = with(ours);
    const auto back = plan_slice_restore(shown, true, at());
    REQUIRE(back.has_value());
    apply(shown.tree(), *back);
    CHECK(api::ResourceSlice(shown).is_accepted("Resources"));
    kube::Object open = with(ours);
    apply(open.tree(), *plan_slice_restore(open, false, at()));
    CHECK_FALSE(api::ResourceSlice(open).condition("Resources").has_value());
  }
  CHECK_FALSE(plan_slice_restore(with("TooExpensive"), true, at()).has_value());
  CHECK_FALSE(plan_slice_restore(slice(), true, at()).has_value());
}

TEST_CASE("storage classes but Liqo's own are offered by name, with the default that the provider wants") {
  const std::vector<kube::Object> classes = {
      parse(
          R"({"metadata": {"name": "slow", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}})"),
      parse(R"({"metadata": {"name": "liqo"}, "provisioner": "liqo.io/storage"})"),
      parse(R"({"metadata": {"name": "fast"}})")};
  ReadPolicy policy;
  CHECK(text(offered_storage_classes(classes, policy)) ==
        R"([{"storageClassName":"fast"},{"storageClassName":"slow","default":true}])");
  policy.storage_class = "fast";
  CHECK(text(offered_storage_classes(classes, policy)) ==
        R"([{"storageClassName":"fast","default":true},{"storageClassName":"slow"}])");
}

TEST_CASE("a slice with nothing but the label of its provider is filled in") {
  const kube::Object bare = parse(R"({"metadata": {"name": "pool", "namespace": "liqo-tenant-milan",
    "resourceVersion": "7", "labels": {"liqo.io/remote-cluster-id": "milan"}}, "spec": {"class": "default"}})");
  const auto first = plan_local_slice(bare, "rome", "milan", "");
  CHECK_FALSE(kube::object_at(patch_of(first), {"spec"}).contains("csr"));
  const auto plan = plan_local_slice(bare, "rome", "milan", "Q1NS");
  CHECK(json::value(patch_of(plan)) == parse_value(R"({"metadata": {"resourceVersion": "7", "labels":
    {"liqo.io/replication": "true", "liqo.io/remoteID": "milan"}},
    "spec": {"consumerClusterID": "rome", "providerClusterID": "milan", "csr": "Q1NS"}})"));
  kube::Object filled = bare;
  apply(filled.tree(), patch_of(plan));
  for (const char* csr : {"Q1NS", ""})
    CHECK(std::holds_alternative<local_slice_action::Keep>(plan_local_slice(filled, "rome", "milan", csr)));
  // The cluster's key was replaced.
  CHECK(text(patch_of(plan_local_slice(filled, "rome", "milan", "b3RoZXI=")).at("spec")) == R"({"csr":"b3RoZXI="})");
}

TEST_CASE("a slice that its user keeps at home is not replicated") {
  const kube::Object kept = parse(R"({"metadata": {"name": "pool", "namespace": "n", "labels":
    {"liqo.io/remote-cluster-id": "milan", "liqo.io/replication": "false", "liqo.io/remoteID": "milan"}}})");
  const auto plan = plan_local_slice(kept, "rome", "milan", "");
  CHECK_FALSE(kube::object_at(patch_of(plan), {"metadata"}).contains("labels"));
}

TEST_CASE("a slice that contradicts itself or its place is left alone, with a reason") {
  struct Row {
    std::string_view spec, provider, words;
  };
  for (const Row& row :
       {Row{"{}", "", "is no tenant namespace"}, Row{"{}", "turin", "create it in the tenant namespace"},
        Row{R"({"providerClusterID": "turin"})", "milan", "spec.providerClusterID is \"turin\""},
        Row{R"({"consumerClusterID": "turin"})", "milan", "this cluster is \"rome\""}}) {
    kube::Object wrong = parse(R"({"metadata": {"name": "pool", "namespace": "n",
      "labels": {"liqo.io/remote-cluster-id": "milan"}}})");
    wrong.tree()["spec"] = parse_value(row.spec);
    const auto plan = plan_local_slice(wrong, "rome", row.provider, "Q1NS");
    const auto* refuse = std::get_if<local_slice_action::Refuse>(&plan);
    REQUIRE(refuse);
    CHECK_MESSAGE(refuse->message.find(row.words) != std::string::npos, refuse->message);
  }
}

TEST_CASE("a virtual node is wanted unless the slice says no") {
  CHECK(wants_virtual_node(slice()));
  for (const auto& [value, wanted] :
       {std::pair{"true", true}, {"yes", true}, {"", false}, {"false", false}, {"False", false}, {"FALSE", false}}) {
    kube::Object one = slice();
    one.set_annotation("liqo.io/create-virtual-node", value);
    CHECK(wants_virtual_node(one) == wanted);
  }
}

TEST_CASE("an accepted slice becomes a VirtualNode, and what is gone from the answer goes from it") {
  const kube::Object answered = slice(R"({"status": {"resources": {"cpu": "8", "x.io/y": "1"},
    "nodeLabels": {"region": "eu"}, "nodeSelector": {"pool": "a"},
    "ingressClasses": [{"ingressClassName": "nginx", "default": true}]}})");
  const auto made = plan_slice_node(answered, "kubeconfig-resourceslice-gpu-pool", nullptr);
  CHECK(made.dropped.empty());
  kube::Object node = created_by(made);
  CHECK(node.key().text() == "liqo-tenant-rome/gpu-pool");
  CHECK(node.label("liqo.io/resourceslice-name") == "gpu-pool");
  CHECK(node.label("liqo.io/remote-cluster-id") == "milan");
  CHECK(is_node_of(node, answered));
  CHECK(json::value(node.spec()) == parse_value(R"({"clusterID": "milan",
    "labels": {"region": "eu", "liqo.io/remote-cluster-id": "milan"},
    "kubeconfigSecretRef": {"name": "kubeconfig-resourceslice-gpu-pool"},
    "resourceQuota": {"hard": {"cpu": "8", "x.io/y": "1"}},
    "ingressClasses": [{"ingressClassName": "nginx", "default": true}],
    "offloadingPatch": {"nodeSelector": {"pool": "a"}}})"));
  node.mutable_metadata()["resourceVersion"] = "4";
  CHECK(std::holds_alternative<slice_node_action::Keep>(
      plan_slice_node(answered, "kubeconfig-resourceslice-gpu-pool", &node).action));

  // What the user has added stays.
  kube::ensure_object(node.mutable_spec(), "labels")["mine"] = "1";
  kube::testing::ensure_path(node.mutable_spec(), {"offloadingPatch", "nodeSelector"})["mine"] = "1";
  node.mutable_spec()["vkOptionsTemplateRef"] = json::object{{"name", "own"}};
  const kube::Object less = slice(R"({"status": {"resources": {"cpu": "4"}}})");
  const auto update = plan_slice_node(less, "kubeconfig-resourceslice-gpu-pool", &node);
  const auto* due = std::get_if<slice_node_action::Patch>(&update.action);
  REQUIRE(due);
  CHECK(kube::string_at(due->patch, {"metadata", "resourceVersion"}) == "4");
  CHECK(json::value(due->patch.at("spec")) == parse_value(R"({"labels": {"region": null},
    "resourceQuota": {"hard": {"cpu": "4", "x.io/y": null}}, "ingressClasses": null,
    "offloadingPatch": {"nodeSelector": {"pool": null}}})"));
}

TEST_CASE("what a provider says is checked before it becomes a node") {
  const kube::Object answered = slice(R"({"status": {"resources": {"cpu": "8", "memory": "-1", "a b": "1", "x": {}},
    "nodeLabels": {"region": "eu", "node-role.kubernetes.io/control-plane": "", "liqo.io/type": "x", "a b": "c",
                   "d": "e f", "g": 1},
    "storageClasses": [{"storageClassName": "A B"}, {"storageClassName": "ok", "more": 1}, 7]}})");
  const auto made = plan_slice_node(answered, "secret", nullptr);
  const kube::Object node = created_by(made);
  CHECK(text(kube::object_at(node.spec(), {"resourceQuota", "hard"})) == R"({"cpu":"8"})");
  CHECK(json::value(kube::object_at(node.spec(), {"labels"})) ==
        parse_value(R"({"region": "eu", "liqo.io/remote-cluster-id": "milan"})"));
  CHECK(text(kube::array_at(node.spec(), {"storageClasses"})) == R"([{"storageClassName":"ok"}])");
  CHECK(made.dropped.size() == 10);
}

TEST_CASE("of the features that a provider tells, those are taken that a virtual node can declare") {
  kube::Object answered = slice(R"({"status": {"resources": {"cpu": "8"}, "nodeLabels": {"features.liqo.io/A": "true",
    "features.liqo.io/b": "true", "features.liqo.io/B": "no", "features.liqo.io/C": true,
    "features.liqo.io/ExtendWebSocketsToKubelet": "true", "region": "eu"},
    "nodeSelector": {"features.liqo.io/b": "x"}}})");
  const auto made = plan_slice_node(answered, "secret", nullptr);
  const kube::Object node = created_by(made);
  CHECK(json::value(kube::object_at(node.spec(), {"labels"})) == parse_value(R"({"features.liqo.io/A": "true",
    "region": "eu", "liqo.io/remote-cluster-id": "milan"})"));
  CHECK(made.dropped.size() == 4);
  // What pods are selected by at the provider is the provider's.
  CHECK(kube::string_at(node.spec(), {"offloadingPatch", "nodeSelector", "features.liqo.io/b"}) == "x");

  // Features and other labels have bounds of their own.
  json::object& labels = kube::ensure_object(answered.mutable_status(), "nodeLabels");
  labels.clear();
  for (int i = 0; i < 100; ++i) labels["features.liqo.io/F" + std::to_string(i)] = "true";
  for (int i = 0; i < 64; ++i) labels["l" + std::to_string(i)] = "x";
  const auto full = plan_slice_node(answered, "secret", nullptr);
  CHECK(full.dropped.size() == 76);
  CHECK(kube::object_at(created_by(full).spec(), {"labels"}).size() == 24 + 64 + 1);

  // The consumer has the last word.
  const std::vector<std::string> refused{"features.liqo.io/*"};
  const auto plain = plan_slice_node(answered, "secret", nullptr, refused);
  CHECK(kube::object_at(created_by(plain).spec(), {"labels"}).size() == 64 + 1);
}

TEST_CASE("home's scheduler knows the place of a provider's nodes only if its operator wants that") {
  kube::Object answered = slice(R"({"status": {"resources": {"cpu": "8"}, "nodeLabels": {
    "liqo.io/zone": "a", "liqo.io/region": "eu", "topology.kubernetes.io/region": "said"}}})");
  const auto label = [&](std::string_view key) {
    const kube::Object node = created_by(plan_slice_node(answered, "secret", nullptr));
    return std::string(kube::string_at(node.spec(), {"labels", key}));
  };
  CHECK(label("liqo.io/zone") == "a");
  CHECK(label("topology.kubernetes.io/zone").empty());
  take_place(answered);
  CHECK(label("liqo.io/zone") == "a");
  CHECK(label("topology.kubernetes.io/zone") == "a");
  CHECK(label("topology.kubernetes.io/region") == "said");
  // One that nobody could have is dropped as before.
  answered.mutable_status()["nodeLabels"] = parse_value(R"({"liqo.io/zone": "no label"})");
  take_place(answered);
  CHECK(label("topology.kubernetes.io/zone").empty());
  kube::Object silent = slice(R"({"status": {"resources": {"cpu": "8"}}})");
  take_place(silent);
  CHECK_FALSE(silent.status().contains("nodeLabels"));
}

TEST_CASE("a consumer may keep the zone of a provider off its nodes, as a label of any other name") {
  kube::Object answered = slice(R"({"status": {"resources": {"cpu": "8"}, "nodeLabels": {
    "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "eu"}}})");
  const std::vector<std::string> zone{"topology.kubernetes.io/zone"}, both{"topology.kubernetes.io/*"};
  const kube::Object without_zone = created_by(plan_slice_node(answered, "secret", nullptr, zone));
  CHECK_FALSE(kube::object_at(without_zone.spec(), {"labels"}).contains("topology.kubernetes.io/zone"));
  CHECK(kube::string_at(without_zone.spec(), {"labels", "topology.kubernetes.io/region"}) == "eu");
  const kube::Object without_both = created_by(plan_slice_node(answered, "secret", nullptr, both));
  CHECK_FALSE(kube::object_at(without_both.spec(), {"labels"}).contains("topology.kubernetes.io/region"));
}

TEST_CASE("a provider labels its nodes, but not by what others are selected and kept apart by") {
  const std::vector<std::string> refused{"security-tier", "corp.example/*"};
  for (const auto& [name, value, taken] : {std::tuple{"region", "eu", true},
                                           std::tuple{"example.com/tier", "gold", true},
                                           std::tuple{"topology.kubernetes.io/region", "eu", true},
                                           std::tuple{"topology.kubernetes.io/zone", "a", true},
                                           std::tuple{"kubernetes.io/arch", "arm64", true},
                                           std::tuple{"kubernetes.io/arch", "x", false},
                                           std::tuple{"kubernetes.io/os", "windows", true},
                                           std::tuple{"kubernetes.io/os", "plan9", false},
                                           std::tuple{"kubernetes.io/hostname", "db-1", false},
                                           std::tuple{"topology.kubernetes.io/rack", "r", false},
                                           std::tuple{"node.kubernetes.io/instance-type", "m", false},
                                           std::tuple{"node-role.kubernetes.io/control-plane", "", false},
                                           std::tuple{"kops.k8s.io/instancegroup", "n", false},
                                           std::tuple{"k8s.io/cluster", "x", false},
                                           std::tuple{"notkubernetes.io/x", "1", true},
                                           std::tuple{"kubernetes.io", "1", true},
                                           std::tuple{"security-tier", "high", false},
                                           std::tuple{"corp.example/pool", "1", false},
                                           std::tuple{"sub.corp.example/pool", "1", true},
                                           std::tuple{"liqo.io/remote-cluster-id", "rome", false}}) {
    CAPTURE(name);
    kube::Object answered = slice(R"({"status": {"resources": {"cpu": "8"}}})");
    kube::ensure_object(answered.mutable_status(), "nodeLabels")[name] = value;
    const auto made = plan_slice_node(answered, "secret", nullptr, refused);
    const kube::Object node = created_by(made);
    const json::object& labels = kube::object_at(node.spec(), {"labels"});
    CHECK((kube::string_at(labels, {name}) == value && labels.contains(name)) == taken);
    CHECK(made.dropped.empty() == taken);
  }
}

TEST_CASE("a VirtualNode of somebody else is not taken over, one that was made for the slice is") {
  for (const auto& [metadata, refused] :
       {std::pair{R"({"name": "gpu-pool"})", true},
        {R"({"name": "gpu-pool", "labels": {"liqo.io/resourceslice-name": "other"}})", true},
        {R"({"name": "gpu-pool", "labels": {"liqo.io/resourceslice-name": "gpu-pool"},
             "ownerReferences": [{"kind": "ResourceSlice", "name": "gpu-pool", "uid": "u0", "controller": true}]})",
         true},
        {R"({"name": "gpu-pool", "labels": {"liqo.io/resourceslice-name": "gpu-pool"}})", false},
        {R"({"name": "gpu-pool",
             "ownerReferences": [{"kind": "ResourceSlice", "name": "gpu-pool", "uid": "u1", "controller": true}]})",
         false}}) {
    CAPTURE(metadata);
    const kube::Object existing = parse(R"({"metadata": )" + std::string(metadata) + "}");
    const auto plan = plan_slice_node(slice(), "secret", &existing);
    CHECK(std::holds_alternative<slice_node_action::Refuse>(plan.action) == refused);
    CHECK(std::holds_alternative<slice_node_action::Patch>(plan.action) == !refused);
  }
}

}  // namespace liqo::core
