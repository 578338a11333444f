// Names of home at a provider whose name server comes to know them, and what a consumer is told of them.
#include "core/common/home_names.hpp"

#include <doctest/doctest.h>

#include <boost/asio/this_coro.hpp>

#include "../slices/slices_fixture.hpp"
#include "core/namespaces/home_names_judge.hpp"
#include "kube/async/event.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
using core::NameLook;
namespace kinds = api::kinds;
namespace labels = api::labels;
namespace resources = kube::resources;

/// A name server of which the test says what it answers.
struct NameServer {
  NameLook probe = NameLook::absent, absence = NameLook::absent;
  bool is_away = false;  ///< it never answers
  int asked = 0;

  asio::awaitable<NameLook> answer(std::string name) {
    ++asked;
    if (is_away) {
      kube::async::Event never(co_await asio::this_coro::executor);
      co_await never.wait();
    }
    co_return name == core::home_probe ? probe : absence;
  }
};

/// Provider milan with twins of rome: shop-rome, and "same" of a namespace of that name.
struct Provider : SliceProvider {
  Provider() {
    stop();
    settings.offloading.enforce_resources = false;
    settings.namespaces.look_up_name = [this](std::string name) { return names.answer(std::move(name)); };
    ledger.reset();
    add_twin("shop", "shop-rome");
    add_twin("same", "same");
  }
  ~Provider() { stop(); }
  void begin() { start(settings); }
  void add_twin(const std::string& local, const std::string& twin) {
    kube::Object made = kube::Object::make(resources::namespaces, {"", twin});
    made.set_label(labels::remote_cluster_id, "rome");
    made.set_annotation(api::annotations::managed_by_namespace_map, ns + "/milan");
    made.set_annotation(api::annotations::original_name, local);
    apply(resources::namespaces, made);
    wanted[local] = twin;
    kube::Object map = kube::Object::make(kinds::namespace_maps, {ns, "milan"});
    map.set_label(labels::replicated, "true");
    map.set_label(labels::replication_origin, "rome");
    map.mutable_spec()["desiredMapping"] = wanted;
    apply(kinds::namespace_maps, map);
  }
  void order(const std::string& twin, const std::string& name, json::object spec = {}) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {twin, name});
    shadow.set_label(labels::reflection_origin, "rome");
    spec["containers"] = json::array{json::object{{"name", "main"}, {"image", "shop:1"}}};
    shadow.mutable_spec()["pod"] = std::move(spec);
    apply(kinds::shadow_pods, shadow);
  }
  bool makes(const std::string& twin, const std::string& name, kube::Duration limit = 10s) {
    return reaches([&] { return has(resources::pods, {twin, name}); }, limit);
  }
  json::array searches(const std::string& twin, const std::string& name) {
    return kube::array_at(find(resources::pods, {twin, name})->spec(), {"dnsConfig", "searches"});
  }
  std::string label() {
    const auto slice = find(kinds::resource_slices, {ns, "pool"});
    return slice ? std::string(kube::string_at(slice->status(), {"nodeLabels", labels::home_names})) : "";
  }
  std::string words() {
    const auto map = find(kinds::namespace_maps, {ns, "milan"});
    return std::string(kube::string_at(map->status(), {"currentMapping", "shop", "message"}));
  }

  std::size_t writes_of_state() const {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      count += write.actor == link.actor() && (write.plural == "resourceslices" || write.plural == "namespacemaps");
    return count;
  }

  NameServer names;
  json::object wanted;
};

}  // namespace

TEST_CASE_FIXTURE(Provider,
                  "once the probe resolves, new pods look up the names of their home, and consumers know it") {
  begin();
  add_slice(R"({"cpu": "1"})");
  order("shop-rome", "before");
  REQUIRE(makes("shop-rome", "before"));
  CHECK(searches("shop-rome", "before").empty());
  CHECK(label().empty());
  CHECK(metrics().contains("liqo_home_names_resolve 0"));

  names.probe = NameLook::found;
  REQUIRE(reaches([&] { return label() == "true"; }));
  CHECK(metrics().contains("liqo_home_names_resolve 1"));
  order("shop-rome", "after");
  order("same", "after");
  order("shop-rome", "own", {{"dnsPolicy", "Default"}});
  REQUIRE((makes("shop-rome", "after") && makes("same", "after") && makes("shop-rome", "own")));
  CHECK(searches("shop-rome", "after") == json::array{"svc.rome.home.liqo.internal", "rome.home.liqo.internal"});
  CHECK(searches("same", "after").empty());
  CHECK(searches("shop-rome", "own").empty());

  // What does not fit is told to home.
  json::array many;
  for (int i = 0; i < 30; ++i) many.emplace_back("zone-" + std::to_string(i));
  order("shop-rome", "many", {{"dnsConfig", json::object{{"searches", many}}}});
  REQUIRE(makes("shop-rome", "many"));
  CHECK(searches("shop-rome", "many") == many);
  CHECK(find(resources::pods, {"shop-rome", "many"})
            ->annotation(api::annotations::left_out)
            .contains("names of its home"));

  SUBCASE("a name server that is away changes nothing, and one that says no does") {
    names.is_away = true;
    pass(10min);
    CHECK(label() == "true");
    names.is_away = false;
    names.probe = NameLook::absent;
    REQUIRE(reaches([&] { return label().empty(); }, 1min));
    order("shop-rome", "late");
    REQUIRE(makes("shop-rome", "late"));
    CHECK(searches("shop-rome", "late").empty());
  }
  SUBCASE("a consumer whose twins may be called as those of this one ends it, for its pods alone") {
    kube::Object other = core::forge_tenant_namespace("prod-rome");
    apply(resources::namespaces, other);
    REQUIRE(reaches([&] { return label().empty(); }));
    order("shop-rome", "late");
    REQUIRE(makes("shop-rome", "late"));
    CHECK(searches("shop-rome", "late").empty());
  }
  SUBCASE("a twin of another consumer to which its names would lead ends it, too") {
    kube::Object other = kube::Object::make(resources::namespaces, {"", "db-rome"});
    other.set_label(labels::remote_cluster_id, "naples");
    apply(resources::namespaces, other);
    REQUIRE(reaches([&] { return label().empty(); }));
    order("shop-rome", "late");
    REQUIRE(makes("shop-rome", "late"));
    CHECK(searches("shop-rome", "late").empty());
    static_cast<void>(server.remove(resources::namespaces, {"", "db-rome"}, {}, "operator"));
    CHECK(reaches([&] { return label() == "true"; }));
  }
  SUBCASE("looks are few, and nothing is written by them") {
    pass(1min);
    const std::size_t before = writes_of_state();
    const int asked = names.asked;
    pass(10min);
    CHECK(names.asked - asked <= 2 * 61);
    CHECK(writes_of_state() == before);
  }
}

TEST_CASE_FIXTURE(Provider,
                  "a name server that never answers holds pods up for half a minute, and the slice keeps its label") {
  names.is_away = true;
  begin();
  add_slice(R"({"cpu": "1"})");
  change(kinds::resource_slices, {ns, "pool"}, "status", [](json::object& next) {
    kube::ensure_object(kube::ensure_object(next, "status"), "nodeLabels")[labels::home_names] = "true";
  });
  order("shop-rome", "web");
  CHECK_FALSE(makes("shop-rome", "web", 20s));
  CHECK(makes("shop-rome", "web", 20s));
  CHECK(searches("shop-rome", "web").empty());
  // A change of the slice is answered meanwhile.
  change(kinds::resource_slices, {ns, "pool"}, "",
         [](json::object& next) { kube::ensure_object(kube::ensure_object(next, "spec"), "resources")["cpu"] = "2"; });
  pass(10min);
  CHECK(label() == "true");
}

TEST_CASE_FIXTURE(Provider,
                  "where no consumer was told of names, a name server that never answers costs pods seconds") {
  names.is_away = true;
  begin();
  add_slice(R"({"cpu": "1"})");
  order("shop-rome", "web");
  CHECK(makes("shop-rome", "web", 5s));
  CHECK(searches("shop-rome", "web").empty());
}

TEST_CASE_FIXTURE(Provider, "a name server with an address for every name knows no home") {
  names.probe = names.absence = NameLook::found;
  begin();
  order("shop-rome", "web");
  REQUIRE(makes("shop-rome", "web"));
  CHECK(searches("shop-rome", "web").empty());
}

TEST_CASE_FIXTURE(Provider, "a namespace of the provider that answers first is told to the consumer") {
  begin();
  apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "shop"}));
  pass(30s);
  CHECK(words().empty());
  names.probe = NameLook::found;
  REQUIRE(reaches([&] { return !words().empty(); }));
  CHECK(words() == core::names_found_first("shop", "milan"));
  static_cast<void>(server.remove(resources::namespaces, {"", "shop"}, {}, "operator"));
  CHECK(reaches([&] { return words().empty(); }));
}

namespace {

const kube::ObjectKey map_key{"liqo-tenant-milan", "milan"}, node_key{"liqo-tenant-milan", "milan"},
    offloading_key{"shop", "offloading"};

/// Consumer rome with a virtual node of milan, without a connection to it, and an offloaded namespace.
struct Consumer : ClusterFixture {
  Consumer() : ClusterFixture("rome") {
    kube::Object node = kube::Object::make(kinds::virtual_nodes, node_key);
    node.mutable_spec() = json::object{{"clusterID", "milan"}, {"createNode", false}};
    apply(kinds::virtual_nodes, node);
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "shop"}));
    start();
  }
  ~Consumer() { stop(); }

  void offload(json::object spec = {}) {
    kube::Object made = kube::Object::make(kinds::namespace_offloadings, offloading_key);
    made.mutable_spec() = std::move(spec);
    apply(kinds::namespace_offloadings, made);
    REQUIRE(reaches([&] {
      const auto map = find(kinds::namespace_maps, map_key);
      return map && !kube::object_at(map->spec(), {"desiredMapping"}).empty();
    }));
  }
  /// Acts as the provider.
  void accept(std::string_view message = "") {
    change(kinds::namespace_maps, map_key, "status", [&](json::object& next) {
      json::object entry{{"remoteNamespace", "shop-rome"}, {"phase", "Accepted"}};
      if (!message.empty()) entry["message"] = message;
      next["status"] = json::object{{"currentMapping", json::object{{"shop", std::move(entry)}}}};
    });
  }
  void set_label(bool knows) {
    change(kinds::virtual_nodes, node_key, "", [&](json::object& next) {
      json::object& node_labels = kube::ensure_object(kube::ensure_object(next, "spec"), "labels");
      if (knows)
        node_labels[labels::home_names] = "true";
      else
        node_labels.erase(labels::home_names);
    });
  }
  std::string ready() {
    const auto found = find(kinds::namespace_offloadings, offloading_key);
    for (const json::value& one : kube::array_at(found->status(), {"remoteNamespacesConditions", "milan"}))
      if (kube::string_at(one, {"type"}) == "Ready") return std::string(kube::string_at(one, {"message"}));
    return "";
  }
  std::int64_t told() { return times_reported(api::reasons::names_not_resolved); }
};

}  // namespace

TEST_CASE_FIXTURE(Consumer, "where names with a namespace do not resolve, one Event and the condition tell it") {
  offload();
  accept();
  REQUIRE(reaches([&] { return told() == 1; }));
  CHECK(ready().starts_with("the twin namespace is there; pods in cluster milan do not resolve names"));
  pass(10min);
  CHECK(told() == 1);
  // A new process finds that it is told.
  stop();
  start();
  pass(5min);
  CHECK(told() == 1);
  set_label(true);
  REQUIRE(reaches([&] { return ready() == "the twin namespace is there"; }));
  REQUIRE(reaches([&] { return times_reported(api::reasons::names_resolved) == 1; }));
  CHECK(told() == 1);
  accept("cluster milan has a namespace shop of its own");
  REQUIRE(reaches([&] { return told() == 2; }));
  CHECK(ready().contains("pods in cluster milan find another Service by names such as db.shop"));
  CHECK(events(api::reasons::names_not_resolved).size() == 2);
  CHECK(times_reported(api::reasons::names_resolved) == 1);
}

TEST_CASE_FIXTURE(Consumer, "where the twin has the same name, or pods stay at home, nothing is told") {
  json::object spec;
  SUBCASE("of the same name") { spec["namespaceMappingStrategy"] = "EnforceSameName"; }
  SUBCASE("at home") { spec["podOffloadingStrategy"] = "Local"; }
  offload(std::move(spec));
  accept();
  REQUIRE(reaches([&] { return ready() == "the twin namespace is there"; }));
  pass(1min);
  CHECK(told() == 0);
}

}  // namespace liqo::testing
