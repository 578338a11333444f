// The objects of `liqoctl move volume`.
#include "model/volume/volume_move.hpp"

#include <doctest/doctest.h>

#include "core/storage/volume_carrier.hpp"
#include "kube/base/json.hpp"

namespace {

using namespace liqoctl;
namespace json = kube::json;

kube::Object parsed(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

kube::Object claim() {
  return parsed(R"({"metadata": {"name": "data", "namespace": "shop", "uid": "c1", "resourceVersion": "7",
    "finalizers": ["kubernetes.io/pvc-protection"],
    "labels": {"app": "web"}, "ownerReferences": [{"kind": "StatefulSet", "name": "web", "uid": "s1"}],
    "annotations": {"liqo.io/remote-storage-class": "fast", "pv.kubernetes.io/bind-completed": "yes",
      "volume.kubernetes.io/selected-node": "milan", "storage.liqo.io/backing-claim": "shop-rome/data",
      "storage.liqo.io/takes-volume": "pvc-c0"}},
    "spec": {"storageClassName": "liqo", "accessModes": ["ReadWriteOnce"], "volumeName": "pvc-c1",
      "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Bound"}})");
}

}  // namespace

TEST_CASE("a claim that is made anew has what its owner gave it, and no notes of others") {
  const kube::Object kept = model::claim_to_keep(claim());
  CHECK(kept.key() == claim().key());
  CHECK(kept.uid().empty());
  CHECK(kept.label("app") == "web");
  CHECK(kept.owner_references().size() == 1);
  CHECK(kept.annotations() == json::object{{"liqo.io/remote-storage-class", "fast"}});
  CHECK(kept.spec() == json::parse(R"({"storageClassName": "liqo", "accessModes": ["ReadWriteOnce"],
      "resources": {"requests": {"storage": "1Gi"}}})")
                           .as_object());
  const kube::Object given = model::forge_claim_of_volume(kept, "milan", "pvc-c2");
  CHECK(given.annotation("storage.liqo.io/takes-volume") == "pvc-c2");
  CHECK(given.annotation("volume.kubernetes.io/selected-node") == "milan");
}

TEST_CASE("the claim for the copy is nobody's, and says which one it is a copy of") {
  const kube::Object made = model::forge_temporary_claim(claim(), "turin");
  CHECK(made.name() == "liqo-move-data");
  CHECK(made.annotation("storage.liqo.io/moves-claim") == "data");
  CHECK(made.annotation("volume.kubernetes.io/selected-node") == "turin");
  CHECK(made.annotation("liqo.io/remote-storage-class") == "fast");
  CHECK(made.labels().empty());
  CHECK(made.owner_references().empty());
  CHECK(model::move_name(std::string(229, 'a') + ".b").size() == 239);
}

TEST_CASE("pods that use a claim are all but those that have finished and those that carry its data") {
  const auto pod = [](std::string name, std::string claim_name, std::string phase) {
    kube::Object made = kube::Object::make(kube::resources::pods, {"shop", std::move(name)});
    made.mutable_spec()["volumes"] =
        json::array{json::object{{"persistentVolumeClaim", json::object{{"claimName", claim_name}}}}};
    made.mutable_status()["phase"] = phase;
    return made;
  };
  const kube::Object carrier = model::forge_carrier({.key = {"shop", "liqo-move-data-from"}, .claim = "data"});
  kube::Object own = pod("web", "other", "Running");
  own.mutable_spec()["volumes"] = json::array{json::object{{"name", "data"}, {"ephemeral", json::object()}}};
  const std::vector pods{pod("waits", "data", "Pending"),
                         pod("runs", "data", "Running"),
                         pod("done", "data", "Succeeded"),
                         pod("failed", "data", "Failed"),
                         pod("another", "other", "Running"),
                         carrier,
                         own};
  const std::vector<std::string> carriers{"liqo-move-data-from"};
  CHECK(model::users_of(pods, "data", carriers) == std::vector<std::string>{"waits", "runs"});
  // Its name makes a pod a carrier, because any user may set a label.
  CHECK(model::users_of(pods, "data").size() == 3);
  CHECK(model::users_of(pods, "web-data") == std::vector<std::string>{"web"});
}

TEST_CASE("a pod that carries data has no more rights than that takes") {
  const kube::Object from =
      model::forge_carrier({.key = {"shop", "a"}, .claim = "data", .node = "milan", .image = "liqo:1", .seconds = 60});
  const kube::Object to = model::forge_carrier(
      {.key = {"shop", "b"}, .claim = "data", .image = "liqo:1", .carrier = model::Carrier::writes});
  const auto capabilities = [](const kube::Object& pod) {
    const json::value& container = kube::array_at(pod.spec(), {"containers"}).at(0);
    CHECK_FALSE(kube::bool_at(container, {"securityContext", "allowPrivilegeEscalation"}, true));
    CHECK(kube::array_at(container, {"securityContext", "capabilities", "drop"}) == json::array{"ALL"});
    return kube::array_at(container, {"securityContext", "capabilities", "add"});
  };
  CHECK(capabilities(from) == json::array{"DAC_OVERRIDE"});
  CHECK(capabilities(to) == json::array{"DAC_OVERRIDE", "CHOWN", "FOWNER", "FSETID"});
  CHECK(kube::bool_at(kube::array_at(from.spec(), {"containers"}).at(0).at("volumeMounts").at(0), {"readOnly"}));
  CHECK(kube::string_at(from.spec(), {"nodeName"}) == "milan");
  CHECK_FALSE(to.spec().contains("nodeName"));
  CHECK(kube::int_at(from.tree(), {"spec", "activeDeadlineSeconds"}) == 60);
  CHECK_FALSE(kube::bool_at(from.tree(), {"spec", "automountServiceAccountToken"}, true));
}

TEST_CASE("a pod that carries data and has ended says why") {
  const auto why = [](std::string_view status) {
    kube::Object pod = model::forge_carrier({.key = {"shop", "a"}, .claim = "data"});
    pod.mutable_status() = json::parse(status).as_object();
    return model::why_ended(pod);
  };
  CHECK(why(R"({"phase": "Running", "reason": "x"})").empty());
  CHECK(why("{}").empty());
  CHECK(why(R"({"phase": "Failed", "reason": "NodeAffinity",
      "message": "Pod was rejected: Predicate NodeAffinity failed"})") ==
        "NodeAffinity: Pod was rejected: Predicate NodeAffinity failed");
  CHECK(why(R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled"}}}]})") ==
        "OOMKilled");
  CHECK(why(R"({"phase": "Succeeded"})") == "phase Succeeded");
}

TEST_CASE("of Events about whatever has a name the newest one is told, fit to be shown") {
  const auto event = [](std::string_view at, const std::string& message) {
    kube::Object made = parsed(R"({"kind": "Event", "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}})");
    made.tree()["lastTimestamp"] = at;
    made.tree()["message"] = message;
    return made;
  };
  CHECK(model::newest_of_all({}).empty());
  const kube::Object old = event("2026-11-21T10:00:10Z", "waiting"),
                     late = event("2026-11-21T10:00:50Z", "no\x1b[2J disk");
  CHECK(model::newest_of_all({old, late}) == "no?[2J disk");
  CHECK(model::newest_of_all({late, old}) == "no?[2J disk");
  CHECK(model::newest_of_all({event("2026-11-21T10:00:10Z", std::string(1000, 'm'))}).size() == 512);
}

TEST_CASE("admission knows a pod that carries data") {
  const kube::Object pod =
      model::forge_carrier({.key = {"shop", "a"}, .claim = "data", .image = "liqo:1", .seconds = 60});
  CHECK(liqo::core::storage::is_volume_carrier(pod.tree()));
}

TEST_CASE("the record of a move is read as it was written, and nothing else is one") {
  kube::Object volume = kube::Object::make(kube::resources::nodes, {"", "pvc-c2"});
  CHECK_FALSE(model::read_record(volume));
  const model::MoveRecord record{.claim = model::claim_to_keep(claim()),
                                 .uid = "c1",
                                 .node = "turin",
                                 .source = "pvc-c1",
                                 .policy = "Delete",
                                 .former_node = "milan",
                                 .verified = true};
  volume.set_annotation("storage.liqo.io/move", model::write_record(record));
  const auto read = model::read_record(volume);
  REQUIRE(read);
  CHECK(model::write_record(*read) == model::write_record(record));
  CHECK(read->verified);
  CHECK(read->claim.spec() == record.claim.spec());
  for (const std::string_view broken : {"{", "[]", "{}", R"({"claim": 5})"}) {
    volume.set_annotation("storage.liqo.io/move", broken);
    CHECK_FALSE(model::read_record(volume));
  }
}
