// The plan for a claim of StorageClass liqo, as it and its volume show what it needs.
#include "core/storage/claim_plan.hpp"

#include "../objects.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core::storage {
namespace {

using namespace core::testing;
namespace action = claim_action;
namespace annotations = api::annotations;

/// A claim of class liqo, for which the scheduler has chosen the node "milan".
kube::Object due() {
  kube::Object made = parse(R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop", "uid": "c1"}, "spec": {"storageClassName": "liqo"}})");
  made.set_annotation(annotations::volume_provisioner, api::storage_provisioner);
  made.set_annotation(annotations::selected_node, "milan");
  return made;
}

kube::Object waiting() {
  kube::Object made = due();
  made.set_annotation(annotations::selected_node, "");
  return made;
}

kube::Object bound() {
  kube::Object made = due();
  made.mutable_spec()["volumeName"] = "pvc-c1";
  return made;
}

kube::Object deleted(kube::Object made) {
  made.mutable_metadata()["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  return made;
}

kube::Object taking(kube::Object made) {
  made.set_annotation(annotations::takes_volume, "pvc-c0");
  return made;
}

/// A volume of the Go version for the claim, with its data in this cluster.
kube::Object of_go() {
  kube::Object made = parse(R"({"metadata": {"name": "pvc-c1"}, "spec": {"claimRef": {"uid": "c1"}}})");
  made.set_annotation(annotations::provisioned_by, api::storage_provisioner);
  return made;
}

/// One of the Go version that does not show where its data is.
kube::Object unplaced() {
  kube::Object made = of_go();
  made.mutable_spec()["hostPath"] = json::object{{"path", "/tmp/liqo-placeholder"}};
  return made;
}

kube::Object at_milan() {
  kube::Object made = unplaced();
  made.mutable_spec()["nodeAffinity"] = parse_value(R"({"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "liqo.io/remote-cluster-id", "operator": "In", "values": ["milan"]}]}]}})");
  return made;
}

const Backing backing{.cluster = "milan", .key = {"shop-rome", "data"}, .uid = "r1"};

kube::Object ours() {
  kube::Object made = of_go();
  made.set_annotation(annotations::backing_claim, "shop-rome/data");
  made.set_annotation(annotations::backing_claim_uid, "r1");
  made.set_annotation(annotations::backing_cluster, "milan");
  return made;
}

kube::Object foreign() {
  kube::Object made = ours();
  made.set_annotation(annotations::provisioned_by, "csi.example.org");
  return made;
}

/// A volume like ours, but bound to an earlier claim.
kube::Object of_another() {
  kube::Object made = ours();
  made.mutable_spec()["claimRef"] = json::object{{"uid", "c0"}};
  return made;
}

}  // namespace

TEST_CASE("a claim is left alone, given a volume, told of, or has its volume looked after") {
  struct Case {
    const char* title;
    kube::Object claim;
    std::optional<kube::Object> volume;
    action::Step next;
  };
  const Case cases[] = {
      {"no node is chosen", waiting(), std::nullopt, action::Nothing{}},
      {"no node is chosen, and it is to take a volume", taking(waiting()), std::nullopt, action::Nothing{}},
      {"due", due(), std::nullopt, action::Make{}},
      {"due, and to take a volume", taking(due()), std::nullopt, action::Take{}},
      {"its volume is lost", bound(), std::nullopt, action::Recover{}},
      {"its volume, which it took, is lost", taking(bound()), std::nullopt, action::Recover{}},
      {"it goes before it was begun", deleted(waiting()), std::nullopt, action::Abandon{}},
      {"it goes while it is begun", deleted(due()), std::nullopt, action::Abandon{}},
      {"it goes after its volume", deleted(bound()), std::nullopt, action::Abandon{}},
      {"its volume is there", due(), ours(), action::Follow{backing}},
      {"bound", bound(), ours(), action::Follow{backing}},
      {"bound to a volume whose data it took", taking(bound()), ours(), action::Follow{backing}},
      {"it goes with its volume", deleted(bound()), ours(), action::Forget{}},
      {"it goes beside a volume of somebody else", deleted(due()), foreign(), action::Forget{}},
      {"made by the Go version in this cluster", bound(), of_go(), action::Adopt{""}},
      {"made by the Go version at a provider", bound(), at_milan(), action::Adopt{"milan"}},
      {"made by the Go version nobody knows where", bound(), unplaced(), action::Nothing{}},
      {"made by the Go version, and going", bound(), deleted(of_go()), action::Nothing{}},
      {"made by somebody else", due(), foreign(), action::Refuse{}},
      {"made for another claim", due(), of_another(), action::Refuse{}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const ClaimPlan plan =
        plan_claim({.claim = c.claim, .volume = c.volume ? &*c.volume : nullptr, .storage_class = "liqo"});
    CHECK(plan.next == c.next);
    CHECK(plan.release == c.volume.has_value());
  }
}

TEST_CASE("a claim of another class gets nothing") {
  const kube::Object claim = due();
  CHECK(plan_claim({.claim = claim, .volume = nullptr, .storage_class = "other"}) ==
        ClaimPlan{.release = false, .next = action::Nothing{}});
}

}  // namespace liqo::core::storage
