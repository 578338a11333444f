// A twin stays as long as data of volumes is in it, whatever ends the offloading of its namespace.
#include "../storage/volumes_fixture.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

const kube::ObjectKey map_key{tenant, "milan"}, offloading_key{shop, "offloading"};

struct Held : Volumes {
  /// The twin that is requested of milan, "" = none.
  std::string asked() {
    const auto map = find(kinds::namespace_maps, map_key);
    return map ? std::string(api::NamespaceMap(*map).desired_twin(shop)) : "";
  }
  bool stays() {
    pass(1min);
    return asked() == twin;
  }
  void select_nothing() {
    change(kinds::namespace_offloadings, offloading_key, "", [](json::object& next) {
      kube::ensure_object(next, "spec")["clusterSelector"] = json::parse(
          R"({"nodeSelectorTerms": [{"matchExpressions": [{"key": "region", "operator": "In", "values": ["mars"]}]}]})");
    });
  }
  void end_offloading() { (void)server.remove(kinds::namespace_offloadings, offloading_key, {}, "operator"); }
  void offload(json::object spec) {
    kube::Object made = kube::Object::make(kinds::namespace_offloadings, offloading_key);
    made.mutable_spec() = std::move(spec);
    apply(kinds::namespace_offloadings, made);
  }
  /// "Reason: message" of the condition Ready for milan.
  std::string ready() {
    const auto found = find(kinds::namespace_offloadings, offloading_key);
    if (found)
      for (const json::value& one : kube::array_at(found->status(), {"remoteNamespacesConditions", "milan"}))
        if (kube::string_at(one, {"type"}) == "Ready")
          return std::string(kube::string_at(one, {"reason"})) + ": " + std::string(kube::string_at(one, {"message"}));
    return "";
  }
  void retain(const kube::Object& claim) {
    change(kinds::volumes, {"", core::storage::volume_name(claim)}, "",
           [](json::object& next) { kube::ensure_object(next, "spec")["persistentVolumeReclaimPolicy"] = "Retain"; });
  }
  void remove_volume(const kube::Object& claim) {
    (void)server.remove(kinds::volumes, {"", core::storage::volume_name(claim)}, {}, "operator");
  }
  void remove_virtual_node() {
    (void)server.remove(kinds::virtual_nodes, {tenant, "milan"}, {}, "operator");
    REQUIRE(reaches([&] { return !has(kinds::virtual_nodes, {tenant, "milan"}); }, 5min));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Held, "another selector") {
  SUBCASE("ends a twin without data") {
    select_nothing();
    CHECK(reaches([&] { return asked().empty(); }));
  }
  SUBCASE("leaves one with data, says so, and takes it when the data is gone") {
    const kube::Object made = offloaded("data");
    select_nothing();
    REQUIRE(reaches([&] { return ready().starts_with("TwinHoldsData: "); }));
    CHECK(ready().find("shop/data in milan") != std::string::npos);
    CHECK(stays());
    // The condition has reported it.
    CHECK(events(api::reasons::twin_holds_data).empty());
    release(made);
    CHECK(reaches([&] { return !volume(made) && asked().empty(); }));
  }
}

TEST_CASE_FIXTURE(Held, "the end of a NamespaceOffloading waits for no volume, and leaves its data") {
  const kube::Object made = offloaded("data");
  end_offloading();
  REQUIRE(reaches([&] { return !has(kinds::namespace_offloadings, offloading_key); }));
  CHECK(stays());
  REQUIRE_FALSE(events(api::reasons::twin_holds_data).empty());
  CHECK(events(api::reasons::twin_holds_data).front().find("liqoctl unoffload namespace shop") != std::string::npos);
  CHECK(volume(made).has_value());
  CHECK(remote("data").has_value());
  SUBCASE("it can be offloaded again") {
    offload({});
    CHECK(reaches([&] { return ready().starts_with("NamespaceCreated"); }));
    CHECK(asked() == twin);
  }
  SUBCASE("with another name when the data is gone") {
    offload({{"namespaceMappingStrategy", "SelectedName"}, {"remoteNamespaceName", "store"}});
    REQUIRE(reaches([&] { return ready().find("it still has the name shop-rome") != std::string::npos; }));
    CHECK(stays());
    release(made);
    CHECK(reaches([&] { return asked() == "store"; }));
  }
  SUBCASE("the twin goes with the data") {
    release(made);
    CHECK(reaches([&] { return !volume(made) && asked().empty(); }));
    CHECK_FALSE(remote("data").has_value());
  }
}

TEST_CASE_FIXTURE(Held, "a namespace that is gone leaves what is to be retained, and nothing else") {
  const kube::Object kept = offloaded("kept"), made = offloaded("data");
  retain(kept);
  end_offloading();
  (void)server.remove(resources::namespaces, {"", shop}, {}, "operator");
  release(kept);
  release(made);
  CHECK(reaches([&] { return !volume(made) && !remote("data"); }));
  CHECK(stays());
  CHECK(remote("kept").has_value());
  remove_volume(kept);
  CHECK(reaches([&] { return asked().empty(); }));
}

TEST_CASE_FIXTURE(Held, "the last virtual node of a provider leaves the map that asks for data") {
  const kube::Object made = offloaded("data");
  remove_virtual_node();
  CHECK(stays());
  CHECK(ready().starts_with("TwinHoldsData: "));
  SUBCASE("until that is gone") {
    remove_volume(made);
    (void)server.remove(kinds::claims, made.key(), {}, "operator");
    CHECK(reaches([&] { return !has(kinds::namespace_maps, map_key); }));
  }
  SUBCASE("as other twins do not") {
    change(kinds::namespace_maps, map_key, "", [](json::object& next) {
      kube::testing::ensure_path(next, {"spec", "desiredMapping"})["mail"] = "mail-rome";
    });
    CHECK(
        reaches([&] { return api::NamespaceMap(*find(kinds::namespace_maps, map_key)).desired_twin("mail").empty(); }));
    CHECK(asked() == twin);
  }
  SUBCASE("and another one finds it there") {
    virtual_node("milan");
    CHECK(reaches([&] { return ready().starts_with("NamespaceCreated"); }));
    CHECK(volume(made).has_value());
  }
}

TEST_CASE_FIXTURE(Held, "a claim that was begun holds the twin while it is there") {
  const kube::Object made = claim("data", "milan");
  REQUIRE(reaches([&] { return remote("data").has_value(); }));
  // It waits for no pod, and is not bound yet.
  (void)milan.update(
      {kinds::claims, {twin, "data"}},
      [](json::object& next) { kube::testing::set_annotation(next, annotations::volume_provisioner, "csi"); }, "milan");
  end_offloading();
  CHECK(stays());
  CHECK_FALSE(volume(made).has_value());
  CHECK_FALSE(events(api::reasons::twin_holds_data).empty());
  (void)server.remove(kinds::claims, made.key(), {}, "operator");
  CHECK(reaches([&] { return !at_home("data") && asked().empty(); }));
  CHECK_FALSE(remote("data").has_value());
}

TEST_CASE_FIXTURE(Held, "a volume of the Go version holds the twin that its namespace has") {
  kube::Object theirs = kube::Object::make(kinds::volumes, {"", "pvc-c9"});
  theirs.set_annotation(annotations::provisioned_by, api::storage_provisioner);
  theirs.mutable_spec() = json::parse(R"({"persistentVolumeReclaimPolicy": "Delete",
    "claimRef": {"namespace": "shop", "name": "data", "uid": "c9"},
    "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
      {"key": "liqo.io/remote-cluster-id", "operator": "In", "values": ["milan"]}]}]}}})")
                              .as_object();
  apply(kinds::volumes, theirs);
  pass(1s);
  select_nothing();
  CHECK(stays());
  CHECK(ready().find("shop/data in milan") != std::string::npos);
  SUBCASE("until that is removed") { (void)server.remove(kinds::volumes, theirs.key(), {}, "operator"); }
  SUBCASE("until its data is meant to go") {
    change(kinds::volumes, theirs.key(), "status",
           [](json::object& next) { next["status"] = json::object{{"phase", "Released"}}; });
  }
  CHECK(reaches([&] { return asked().empty(); }));
}

}  // namespace liqo::testing
