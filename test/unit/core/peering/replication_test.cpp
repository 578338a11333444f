// The plan for one replicated object, for every state that the two sides can be in.
#include "core/peering/replication.hpp"

#include "../objects.hpp"
#include "core/common/difference.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core {
namespace {

using namespace testing;
namespace kinds = api::kinds;

const ReplicationPeer peer{
    .local = "rome", .remote = "milan", .local_namespace = "liqo-tenant-milan", .remote_namespace = "liqo-tenant-rome"};

constexpr std::string_view finalizer = R"(, "finalizers": ["crdreplicator.liqo.io/resource"])";
constexpr std::string_view deleting = R"(, "deletionTimestamp": "2026-11-21T09:59:00Z")";

/// A filled ResourceSlice at home; `metadata` is added to its metadata.
kube::Object slice(std::string_view metadata = finalizer, std::string_view status = "{}") {
  return parse(R"({"apiVersion": "authentication.liqo.io/v1beta1", "kind": "ResourceSlice", "metadata": {
    "name": "pool", "namespace": "liqo-tenant-milan", "uid": "u1", "resourceVersion": "7",
    "labels": {"liqo.io/replication": "true", "liqo.io/remoteID": "milan", "liqo.io/remote-cluster-id": "milan",
               "liqo.io/ownership": "Shared", "foo": "bar"},
    "annotations": {"note": "hello"})" +
               std::string(metadata) + R"(},
    "spec": {"class": "default", "consumerClusterID": "rome", "csr": "Q1NS", "resources": {"cpu": "8000m"}},
    "status": )" +
               std::string(status) + "}");
}

/// The replica of that slice as a provider has stored it.
kube::Object replica_of(const kube::Object& local, std::string_view status = "{}") {
  kube::Object replica = forge_replica(kinds::resource_slices, local, peer);
  replica.mutable_metadata()["uid"] = "r1";
  replica.mutable_metadata()["resourceVersion"] = "90";
  replica.mutable_status() = parse_value(status).get_object();
  return replica;
}

namespace action = replication_action;

std::string summary(const ReplicationPlan& plan) {
  if (std::holds_alternative<action::Wait>(plan)) return "wait";
  if (std::holds_alternative<action::Guard>(plan)) return "guard";
  if (std::holds_alternative<action::Create>(plan)) return "create";
  if (std::holds_alternative<action::Remove>(plan)) return "remove";
  if (std::holds_alternative<action::AwaitEnd>(plan)) return "await end";
  if (const auto* release = std::get_if<action::Release>(&plan))
    return release->confirm_absence ? "confirm, release" : "release";
  if (const auto* follow = std::get_if<action::Follow>(&plan))
    return follow->update && follow->status ? "update, status" : follow->update ? "update" : "status";
  return "";
}

ReplicationPlan plan(const kube::Object* local, const kube::Object* remote, ReplicationView view = {}) {
  view.local = local;
  view.remote = remote;
  return plan_replication(kinds::resource_slices, view, peer);
}

constexpr std::string_view accepted =
    R"({"conditions": [{"type": "Resources", "status": "Accepted"}], "resources": {"cpu": "8"}})";

kube::Object edited(kube::Object object, const auto& change) {
  change(object);
  return object;
}

}  // namespace

TEST_CASE("each state of the two sides has its plan") {
  const kube::Object live = slice();
  const kube::Object fresh = slice("");
  const kube::Object dying = slice(std::string(finalizer) + std::string(deleting));
  const kube::Object dying_unguarded = slice(deleting);
  const kube::Object in_use =
      slice(R"(, "finalizers": ["resourceslice-virtualnode.liqo.io/finalizer", "crdreplicator.liqo.io/resource"])" +
            std::string(deleting));
  const kube::Object replica = replica_of(live);
  const kube::Object dying_replica =
      edited(replica, [](auto& o) { o.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z"; });
  const kube::Object foreign = edited(replica, [](auto& o) { o.set_label("liqo.io/originID", "turin"); });
  const kube::Object unlabelled = edited(live, [](auto& o) { o.set_label("liqo.io/replication", "false"); });
  const kube::Object elsewhere = edited(live, [](auto& o) { o.set_label("liqo.io/remoteID", "turin"); });
  const kube::Object nowhere =
      edited(live, [](auto& o) { o.mutable_metadata()["labels"].as_object().erase("liqo.io/remoteID"); });
  const kube::Object copy = edited(fresh, [](auto& o) { o.set_label("liqo.io/replicated", "true"); });
  const kube::Object copy_by_origin = edited(fresh, [](auto& o) { o.set_label("liqo.io/originID", "turin"); });
  const kube::Object unfilled = edited(fresh, [](auto& o) { o.mutable_spec().erase("csr"); });
  const kube::Object wiped = edited(live, [](auto& o) { o.mutable_spec().erase("csr"); });

  struct Case {
    const char* title;
    const kube::Object *local, *remote;
    ReplicationView view;
    const char* expected;
  };
  const ReplicationView home_unknown{.local_known = false}, away_unknown{.remote_known = false},
      lost{.peer_lost = true}, lost_unknown{.remote_known = false, .peer_lost = true};
  for (const Case& c : {
           Case{"nothing anywhere", nullptr, nullptr, {}, ""},
           Case{"a replica whose original is gone", nullptr, &replica, {}, "remove"},
           Case{"a replica whose original is gone, going", nullptr, &dying_replica, {}, "wait"},
           Case{"another's object, nothing at home", nullptr, &foreign, {}, ""},
           Case{"the original not known yet", nullptr, &replica, home_unknown, "wait"},
           Case{"deleting, no replica", &dying, nullptr, {}, "confirm, release"},
           Case{"deleting, with replica", &dying, &replica, {}, "remove"},
           Case{"deleting, replica going", &dying, &dying_replica, {}, "await end"},
           Case{"label removed, replica going", &unlabelled, &dying_replica, {}, "await end"},
           Case{"never guarded, replica going", &dying_unguarded, &dying_replica, {}, "wait"},
           Case{"deleting before the first sync", &dying, nullptr, away_unknown, "confirm, release"},
           Case{"deleting, never guarded", &dying_unguarded, nullptr, {}, ""},
           Case{"deleting, never guarded, with replica", &dying_unguarded, &replica, {}, "remove"},
           Case{"deleting, another's object of the name", &dying, &foreign, {}, "confirm, release"},
           Case{"deleting, its node not drained", &in_use, &replica, {}, "wait"},
           Case{"deleting, its node not drained, no replica", &in_use, nullptr, {}, "wait"},
           Case{"deleting, its node not drained, provider not known", &in_use, nullptr, away_unknown, "wait"},
           Case{"deleting, its node not drained, provider lost", &in_use, &replica, lost, "release"},
           Case{"new", &fresh, nullptr, {}, "guard"},
           Case{"new, provider not known yet", &fresh, nullptr, away_unknown, "guard"},
           Case{"guarded", &live, nullptr, {}, "create"},
           Case{"the same on both sides", &live, &replica, {}, ""},
           Case{"a replica of another origin", &live, &foreign, {}, "wait"},
           Case{"replica going while wanted", &live, &dying_replica, {}, "wait"},
           Case{"label removed", &unlabelled, nullptr, {}, "confirm, release"},
           Case{"label removed, with replica", &unlabelled, &replica, {}, "remove"},
           Case{"destination removed, with replica", &nowhere, &replica, {}, "remove"},
           Case{"destination removed", &nowhere, nullptr, {}, "confirm, release"},
           Case{"for another cluster", &elsewhere, nullptr, {}, ""},
           Case{"moved to another cluster", &elsewhere, &replica, {}, "remove"},
           Case{"a copy from elsewhere", &copy, nullptr, {}, ""},
           Case{"a copy by its origin", &copy_by_origin, nullptr, {}, ""},
           Case{"not filled in yet", &unfilled, nullptr, {}, "wait"},
           Case{"its CSR wiped", &wiped, &replica, {}, "wait"},
           Case{"deleting, provider lost", &dying, &replica, lost, "release"},
           Case{"deleting, provider lost and unknown", &dying, nullptr, lost_unknown, "release"},
           Case{"alive, provider lost", &live, &replica, lost, ""},
           Case{"label removed, provider lost", &unlabelled, nullptr, lost, "release"},
       }) {
    CAPTURE(c.title);
    CHECK(summary(plan(c.local, c.remote, c.view)) == c.expected);
  }
}

TEST_CASE("an object for this very cluster is not replicated") {
  const ReplicationPeer self{.local = "milan", .remote = "milan", .local_namespace = "a", .remote_namespace = "b"};
  CHECK_FALSE(is_for_peer(slice(), self));
}

TEST_CASE("the replica has the spec, and labels that say where it comes from") {
  const kube::Object local =
      slice(R"(, "finalizers": ["crdreplicator.liqo.io/resource"], "ownerReferences": [{"uid": "o"}])", accepted);
  const kube::Object replica = forge_replica(kinds::resource_slices, local, peer);
  CHECK(replica.key() == kube::ObjectKey{"liqo-tenant-rome", "pool"});
  CHECK(replica.api_version() == "authentication.liqo.io/v1beta1");
  CHECK(replica.spec() == local.spec());
  CHECK(replica.status().empty());
  CHECK(replica.owner_references().empty());
  CHECK_FALSE(replica.has_finalizer("crdreplicator.liqo.io/resource"));
  CHECK(replica.label("foo") == "bar");
  CHECK(replica.label("liqo.io/replication") == "false");
  CHECK(replica.label("liqo.io/replicated") == "true");
  CHECK(replica.label("liqo.io/originID") == "rome");
  CHECK(replica.label("liqo.io/remoteID") == "milan");
  CHECK(replica.label("liqo.io/remote-cluster-id") == "rome");
  CHECK_FALSE(replica.has_label("liqo.io/ownership"));
  CHECK(replica.annotation("note") == "hello");
}

TEST_CASE("marks of the provider are neither set nor removed") {
  for (const char* mark : {"liqo.io/cordon", "liqo.io/cordon-tenant", "liqo.io/cordoned-resource", "liqo.io/drain"}) {
    CAPTURE(mark);
    kube::Object local = slice();
    kube::Object replica = replica_of(local);
    replica.set_annotation(mark, "true");
    CHECK(summary(plan(&local, &replica)) == "");
    local.set_annotation(mark, "true");
    CHECK_FALSE(forge_replica(kinds::resource_slices, local, peer).has_annotation(mark));
    CHECK(summary(plan(&local, &replica)) == "");
    replica.mutable_metadata()["annotations"].as_object().erase(mark);
    CHECK(summary(plan(&local, &replica)) == "");
  }
}

TEST_CASE("labels and annotations follow, and what the provider added stays") {
  struct Case {
    const char* title;
    void (*at_home)(kube::Object&);
    void (*away)(kube::Object&);
    const char* expected;  ///< "metadata" of the patch without its preconditions
  };
  const auto nothing = [](kube::Object&) {};
  for (const Case& c : {
           Case{"label changed", [](kube::Object& o) { o.set_label("foo", "baz"); }, nothing,
                R"({"labels": {"foo": "baz"}})"},
           Case{"label removed", [](kube::Object& o) { o.mutable_metadata()["labels"].as_object().erase("foo"); },
                nothing, R"({"labels": {"foo": null}})"},
           Case{"annotation changed", [](kube::Object& o) { o.set_annotation("note", "bye"); }, nothing,
                R"({"annotations": {"note": "bye"}})"},
           Case{"annotation removed", [](kube::Object& o) { o.mutable_metadata().erase("annotations"); }, nothing,
                R"({"annotations": {"note": null}})"},
           Case{"label of the provider", nothing, [](kube::Object& o) { o.set_label("rack", "3"); }, "{}"},
           Case{"annotation of the provider", nothing, [](kube::Object& o) { o.set_annotation("rack", "3"); }, "{}"},
           Case{"label damaged there", nothing, [](kube::Object& o) { o.set_label("liqo.io/replicated", "false"); },
                R"({"labels": {"liqo.io/replicated": "true"}})"},
           Case{"made by the Go version: nothing is removed",
                [](kube::Object& o) { o.mutable_metadata()["labels"].as_object().erase("foo"); },
                [](kube::Object& o) {
                  o.mutable_metadata()["annotations"].as_object().erase("offloading.liqo.io/reflected-keys");
                },
                R"({"annotations": {}})"},
       }) {
    CAPTURE(c.title);
    kube::Object local = slice();
    kube::Object replica = replica_of(local);
    c.at_home(local);
    c.away(replica);
    const auto patch = update_replica(local, replica, peer);
    json::object metadata = patch ? kube::object_at(*patch, {"metadata"}) : json::object();
    if (patch) {
      CHECK(kube::string_at(*patch, {"metadata", "uid"}) == "r1");
      CHECK(kube::string_at(*patch, {"metadata", "resourceVersion"}) == "90");
      CHECK_FALSE(patch->contains("spec"));
    }
    metadata.erase("uid");
    metadata.erase("resourceVersion");
    const std::string_view key_list = "offloading.liqo.io/reflected-keys";
    if (metadata.contains("annotations")) {
      metadata["annotations"].as_object().erase(key_list);
      // Only the list of keys changed, together with a label.
      if (metadata["annotations"].as_object().empty() && metadata.contains("labels")) metadata.erase("annotations");
    }
    CHECK(json::value(metadata) == parse_value(c.expected));
  }
}

TEST_CASE("a label that was replicated once can be removed after a second change") {
  kube::Object local = slice();
  kube::Object replica = replica_of(local);
  local.set_label("later", "1");
  auto patch = update_replica(local, replica, peer);
  REQUIRE(patch);
  replica.set_label("later", "1");
  replica.set_annotation("offloading.liqo.io/reflected-keys",
                         kube::string_at(*patch, {"metadata", "annotations", "offloading.liqo.io/reflected-keys"}));
  CHECK_FALSE(update_replica(local, replica, peer));
  local.mutable_metadata()["labels"].as_object().erase("later");
  patch = update_replica(local, replica, peer);
  REQUIRE(patch);
  const json::value* removed = kube::find(*patch, {"metadata", "labels", "later"});
  CHECK((removed && removed->is_null()));
}

TEST_CASE("the spec follows exactly, quantities by their value") {
  struct Case {
    const char *title, *home, *away, *expected;
  };
  for (const Case& c : {
           Case{"equal", R"({"a": 1})", R"({"a": 1})", "{}"},
           Case{"changed", R"({"a": 1})", R"({"a": 2})", R"({"a": 1})"},
           Case{"added", R"({"a": {"b": 1}})", R"({})", R"({"a": {"b": 1}})"},
           Case{"removed", R"({})", R"({"a": {"b": 1}})", R"({"a": null})"},
           Case{"removed inside", R"({"a": {"c": 1}})", R"({"a": {"b": 1, "c": 1}})", R"({"a": {"b": null}})"},
           Case{"another type", R"({"a": "x"})", R"({"a": {"b": 1}})", R"({"a": "x"})"},
           Case{"lists are whole", R"({"a": [1, 2]})", R"({"a": [1]})", R"({"a": [1, 2]})"},
           Case{"same amounts", R"({"resources": {"cpu": "8000m", "memory": "8192Mi"}})",
                R"({"resources": {"cpu": "8", "memory": "8Gi"}})", "{}"},
           Case{"amount as a number", R"({"resources": {"cpu": 8}})", R"({"resources": {"cpu": "8"}})", "{}"},
           Case{"another amount", R"({"resources": {"cpu": "8000m"}})", R"({"resources": {"cpu": "9"}})",
                R"({"resources": {"cpu": "8000m"}})"},
           Case{"an amount that is none", R"({"resources": {"cpu": "many"}})", R"({"resources": {"cpu": "8"}})",
                R"({"resources": {"cpu": "many"}})"},
           Case{"a key less", R"({"resources": {}})", R"({"resources": {"cpu": "8"}})",
                R"({"resources": {"cpu": null}})"},
           Case{"amounts only where they are amounts", R"({"csr": "1000m"})", R"({"csr": "1"})", R"({"csr": "1000m"})"},
           Case{"null is absent", R"({"a": null})", R"({})", "{}"},
           Case{"null is absent there", R"({})", R"({"a": null})", "{}"},
       }) {
    CAPTURE(c.title);
    CHECK(json::value(difference(parse_value(c.away).get_object(), parse_value(c.home).get_object())) ==
          parse_value(c.expected));
  }
  const kube::Object local = slice();
  kube::Object replica = replica_of(local);
  replica.mutable_spec()["class"] = "gold";
  const ReplicationPlan made = plan(&local, &replica);
  REQUIRE(summary(made) == "update");
  CHECK(kube::string_at(*std::get<action::Follow>(made).update, {"spec", "class"}) == "default");
}

TEST_CASE("the status comes back once the provider has looked at the replica") {
  struct Case {
    const char* title;
    const kube::Resource& kind;
    const char *spec, *home, *away, *expected;
  };
  constexpr const char* map = R"({"desiredMapping": {"shop": "shop-rome"}})";
  for (const Case& c : {
           Case{"slice, evaluated", kinds::resource_slices, "{}", "{}", R"({"conditions": [{"type": "Resources"}]})",
                R"({"conditions": [{"type": "Resources"}]})"},
           Case{"slice, key removed", kinds::resource_slices, "{}",
                R"({"conditions": [1], "resources": {"cpu": "1", "gpu": "1"}})",
                R"({"conditions": [1], "resources": {"cpu": "1"}})", R"({"resources": {"gpu": null}})"},
           Case{"slice, no status", kinds::resource_slices, "{}", R"({"conditions": [1]})", "{}", ""},
           Case{"slice, null status", kinds::resource_slices, "{}", R"({"conditions": [1]})", "null", ""},
           Case{"slice, no conditions yet", kinds::resource_slices, "{}", R"({"conditions": [1]})",
                R"({"conditions": [], "resources": {}})", ""},
           Case{"slice, equal", kinds::resource_slices, "{}", R"({"conditions": [1]})", R"({"conditions": [1]})", ""},
           Case{"renew, evaluated", kinds::renews, "{}", "{}", R"({"authParams": {"ca": "QQ=="}})",
                R"({"authParams": {"ca": "QQ=="}})"},
           Case{"renew, not evaluated", kinds::renews, "{}", R"({"authParams": {"ca": "QQ=="}})", "{}", ""},
           Case{"map, evaluated", kinds::namespace_maps, map, "{}", R"({"currentMapping": {"shop": {}}})",
                R"({"currentMapping": {"shop": {}}})"},
           Case{"map, not evaluated", kinds::namespace_maps, map, R"({"currentMapping": {"shop": {}}})", "{}", ""},
           Case{"map that wants nothing", kinds::namespace_maps, "{}", R"({"currentMapping": {"shop": {}}})", "{}",
                R"({"currentMapping": null})"},
       }) {
    CAPTURE(c.title);
    kube::Object local = slice();
    local.mutable_spec() = parse_value(c.spec).get_object();
    local.mutable_status() = parse_value(c.home).get_object();
    if (c.kind == kinds::resource_slices) local.mutable_spec() = slice().spec();
    kube::Object replica = forge_replica(c.kind, local, peer);
    replica.tree()["status"] = parse_value(c.away);
    const ReplicationPlan made = plan_replication(c.kind, {.local = &local, .remote = &replica}, peer);
    REQUIRE(summary(made) == (*c.expected != 0 ? "status" : ""));
    const auto* follow = std::get_if<action::Follow>(&made);
    if (!follow) continue;
    CHECK(json::value(kube::object_at(*follow->status, {"status"})) == parse_value(c.expected));
    CHECK(kube::string_at(*follow->status, {"metadata", "resourceVersion"}) == "7");
  }
}

TEST_CASE("a twin that the provider does not show for a while is in trouble at home, and not gone") {
  kube::Object local = slice();
  local.mutable_spec() = parse_value(R"({"desiredMapping": {"a": "a-rome", "b": "b-rome"}})").get_object();
  local.mutable_status() = parse_value(R"({"currentMapping": {
      "a": {"remoteNamespace": "a-rome", "phase": "Accepted"},
      "b": {"remoteNamespace": "b-rome", "phase": "Accepted"}}})")
                               .get_object();
  kube::Object replica = forge_replica(kinds::namespace_maps, local, peer);
  replica.mutable_spec() = parse_value(R"({"desiredMapping": {"a": "a-rome"}})").get_object();
  replica.mutable_status() =
      parse_value(R"({"currentMapping": {"a": {"remoteNamespace": "a-rome", "phase": "Accepted"}}})").get_object();
  const std::vector<api::WantedNamespace> missing{{.local = "b", .remote = "b-rome"}};
  ReplicationView view{.local = &local, .remote = &replica, .missing = missing};
  const ReplicationPlan made = plan_replication(kinds::namespace_maps, view, peer);
  REQUIRE(summary(made) == "update, status");
  const json::object& status = *std::get<action::Follow>(made).status;
  CHECK_FALSE(kube::find(status, {"status", "currentMapping", "a"}));
  CHECK(kube::string_at(status, {"status", "currentMapping", "b", "phase"}) == "CreationLoopBackOff");
  CHECK_FALSE(kube::string_at(status, {"status", "currentMapping", "b", "message"}).empty());
  // Once it is shown so, nothing is written again; when it counts as gone, it goes.
  local.mutable_status()["currentMapping"].as_object()["b"] =
      json::object{{"remoteNamespace", "b-rome"},
                   {"phase", "CreationLoopBackOff"},
                   {"message", kube::string_at(status, {"status", "currentMapping", "b", "message"})}};
  CHECK(summary(plan_replication(kinds::namespace_maps, view, peer)) == "update");
  view.missing = {};
  CHECK(summary(plan_replication(kinds::namespace_maps, view, peer)) == "update, status");
}

TEST_CASE("twins that hold data stay in a replica that home does not want, or not so") {
  kube::Object local = slice();
  local.mutable_spec() = parse_value(R"({"desiredMapping": {"a": "a-rome"}})").get_object();
  kube::Object replica = forge_replica(kinds::namespace_maps, local, peer);
  replica.mutable_spec() =
      parse_value(R"({"desiredMapping": {"a": "a-rome", "b": "b-rome", "c": "c-rome"}})").get_object();
  replica.mutable_status() =
      parse_value(R"({"currentMapping": {"b": {"remoteNamespace": "b-rome", "phase": "Accepted"}}})").get_object();
  const std::vector<KeptTwin> kept{{.local = "b", .remote = "b-rome", .why = "it holds data"}};
  const auto plan_with = [&](const kube::Object* home) {
    return plan_replication(kinds::namespace_maps, {.local = home, .remote = &replica, .kept = kept}, peer);
  };
  const ReplicationPlan followed = plan_with(&local);
  REQUIRE(summary(followed) == "update, status");
  const auto& update = *std::get<action::Follow>(followed).update;
  CHECK(json::value(kube::object_at(update, {"spec", "desiredMapping"})) == parse_value(R"({"c": null})"));
  const auto& status = *std::get<action::Follow>(followed).status;
  CHECK(kube::string_at(status, {"status", "currentMapping", "b", "message"}) == "it holds data");
  CHECK(kube::string_at(status, {"status", "currentMapping", "b", "phase"}) == "Accepted");

  const ReplicationPlan without = plan_with(nullptr);
  const auto* held = std::get_if<action::Hold>(&without);
  REQUIRE(held);
  CHECK(held->restore);
  CHECK_FALSE(held->release);
  REQUIRE(held->update);
  CHECK(json::value(kube::object_at(*held->update, {"spec", "desiredMapping"})) ==
        parse_value(R"({"a": null, "c": null})"));
  replica.mutable_spec() = parse_value(R"({"desiredMapping": {"b": "b-rome"}})").get_object();
  local.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  const ReplicationPlan ended = plan_with(&local);
  held = std::get_if<action::Hold>(&ended);
  REQUIRE(held);
  CHECK_FALSE(held->restore);
  CHECK(held->release);
  CHECK_FALSE(held->update);
}

TEST_CASE("why twins are kept comes home within the bound of a map's status") {
  std::vector<KeptTwin> kept;
  for (int i = 10'000; i < 15'000; ++i) {
    const std::string local = std::string(50, 'n') + std::to_string(i);
    kept.push_back({.local = local, .remote = local + "-rome", .why = std::string(400, 'w')});
  }
  kube::Object local = slice();
  local.mutable_spec() = json::object{{"desiredMapping", json::object{{"a", "a-rome"}}}};
  kube::Object replica = forge_replica(kinds::namespace_maps, local, peer);
  const auto told = [&](std::size_t message) {
    json::object entry{{"remoteNamespace", "a-rome"}, {"phase", "Accepted"}, {"message", std::string(message, 'm')}};
    replica.mutable_status() = json::object{{"currentMapping", json::object{{"a", std::move(entry)}}}};
    const auto planned =
        plan_replication(kinds::namespace_maps, {.local = &local, .remote = &replica, .kept = kept}, peer);
    const auto* follow = std::get_if<action::Follow>(&planned);
    REQUIRE(follow);
    REQUIRE(follow->status);
    CHECK(json::serialize(kube::object_at(*follow->status, {"status"})).size() <= 512 << 10);
    return kube::object_at(*follow->status, {"status", "currentMapping"}).size();
  };
  CHECK(told(10) == 201);
  // The provider's own words take the room.
  const std::size_t few = told(480 << 10);
  CHECK(few > 30);
  CHECK(few < 100);
}

TEST_CASE("status comes back also while the replica goes, and while the spec is not filled in") {
  kube::Object local = slice();
  kube::Object replica = replica_of(local, accepted);
  local.mutable_spec().erase("csr");
  CHECK(summary(plan(&local, &replica)) == "status");
  replica.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z";
  CHECK(summary(plan(&local, &replica)) == "status");
}

TEST_CASE("an object of nonsense is planned without a throw") {
  for (const char* text : {R"({"metadata": {"name": "x", "labels": 3, "annotations": []}, "spec": [], "status": 1})",
                           R"({"metadata": {"name": "x", "labels": {"liqo.io/replication": true}}})"}) {
    CAPTURE(text);
    const kube::Object odd = parse(text);
    const kube::Object local = slice();
    for (const kube::Resource& kind : replicated_kinds()) {
      CHECK(summary(plan_replication(kind, {.local = &odd, .remote = &odd}, peer)) == "");
      CHECK(summary(plan_replication(kind, {.local = &local, .remote = &odd}, peer)) == "wait");
    }
  }
}

TEST_CASE("a status comes home up to a size, and counts for what follows from it") {
  const auto with_status = [](const kube::Resource& kind, json::object status) {
    kube::Object remote = kube::Object::make(kind, {"liqo-tenant-rome", "x"});
    remote.mutable_status() = std::move(status);
    return remote;
  };
  const auto text = [](std::size_t bytes) { return json::object{{"x", std::string(bytes, 'x')}}; };
  for (const kube::Resource& kind : {kinds::resource_slices, kinds::renews}) {
    CHECK(refuse_status(kind, with_status(kind, text(60 << 10))).empty());
    CHECK(refuse_status(kind, with_status(kind, text(65 << 10))) ==
          "it has 66 KiB there, and at most 64 KiB come home");
    CHECK(writes_caused(kind, {{"status", text(10)}}) == 8);
  }
  // The status of a map of 1,000 twins with long names.
  json::object twins;
  const std::string name(63, 'n');
  for (int i = 1000; i < 2000; ++i) {
    const std::string local = name.substr(4) + std::to_string(i);
    twins[local] =
        json::object{{"phase", "Error"}, {"remoteNamespace", local + "-rome"}, {"message", std::string(200, 'm')}};
  }
  const json::object map{{"currentMapping", std::move(twins)}};
  CHECK(refuse_status(kinds::namespace_maps, with_status(kinds::namespace_maps, map)).empty());
  CHECK(writes_caused(kinds::namespace_maps, {{"status", map}}) == 1001);
  CHECK(refuse_status(kinds::namespace_maps, with_status(kinds::namespace_maps, text(600 << 10))) ==
        "it has 601 KiB there, and at most 512 KiB come home");
}

}  // namespace liqo::core
