// Crowds of new virtual nodes, and many namespaces: which are looked at again, how often, and how soon.
#include <doctest/doctest.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "../adds.hpp"
#include "../cluster_fixture.hpp"
#include "controllers/common/crowd_pause.hpp"
#include "controllers/namespaces/namespace_offloading.hpp"
#include "core/offloading/event_source.hpp"
#include "kube/runtime/manager.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

/// Consumer rome, without connections to its providers.
struct Crowded : ClusterFixture {
  Crowded() : ClusterFixture("rome") {}
  ~Crowded() { stop(); }

  void add_node(const std::string& cluster, const std::string& name, std::string_view region) {
    kube::Object node = kube::Object::make(kinds::virtual_nodes, {"liqo-tenant-" + cluster, name});
    node.mutable_spec() =
        json::object{{"clusterID", cluster}, {"createNode", false}, {"labels", json::object{{"region", region}}}};
    apply(kinds::virtual_nodes, node);
  }
  /// To the region, or to another as well, which makes another selector.
  void offload(const std::string& ns, std::string_view region, std::string_view other = "") {
    json::array regions{json::string(region)};
    if (!other.empty()) regions.push_back(json::string(other));
    apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", ns}));
    kube::Object offloading = kube::Object::make(kinds::namespace_offloadings, {ns, "offloading"});
    if (!region.empty())
      offloading.mutable_spec()["clusterSelector"] = json::object{
          {"nodeSelectorTerms",
           json::array{json::object{
               {"matchExpressions",
                json::array{json::object{{"key", "region"}, {"operator", "In"}, {"values", std::move(regions)}}}}}}}};
    apply(kinds::namespace_offloadings, offloading);
  }
  /// Whether the namespace's status says that the cluster is selected.
  bool selects(const std::string& ns, const std::string& cluster) {
    const auto found = find(kinds::namespace_offloadings, {ns, "offloading"});
    for (const json::value& one : kube::array_at(found->status(), {"remoteNamespacesConditions", cluster}))
      if (kube::string_at(one, {"type"}) == "OffloadingRequired") return kube::string_at(one, {"status"}) == "True";
    return false;
  }
  bool asks(const std::string& cluster, const std::string& ns) {
    const auto map = find(kinds::namespace_maps, {"liqo-tenant-" + cluster, cluster});
    return map && kube::object_at(map->spec(), {"desiredMapping"}).contains(ns);
  }
  std::size_t status_writes() const {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      count += write.actor == link.actor() && write.plural == "namespaceoffloadings";
    return count;
  }
};

/// A leadership that the test gives and takes.
struct Reign final : kube::Leadership {
  using Leadership::Leadership;
  using Leadership::set_leading;
};

/// NamespaceOffloadingController alone, in the terms of one replica.
struct Terms : Crowded {
  Terms() {
    settings.cluster_id = "rome";
    controller.emplace(controllers::Context{{simulator.executor(), simulator.clock(), random, seen, &reign},
                                            manager.caches(),
                                            manager.events(),
                                            reign,
                                            settings,
                                            core::secure_random,
                                            accounts});
    manager.add([this] { return kube::run_while_leading(reign, [this] { return controller->run(); }); });
  }
  ~Terms() { simulator.run(group.stop()); }
  double enqueued() const { return adds(seen.text(), "namespaceoffloading"); }
  /// Ends the term as soon as more than that many keys were enqueued.
  asio::awaitable<void> end_term_at(double many) {
    for (int turn = 0; turn < 1000 && enqueued() <= many; ++turn) co_await asio::post(asio::use_awaitable);
    reign.set_leading(false);
  }

  kube::Metrics seen;
  kube::Random random{1};
  controllers::Settings settings;
  kube::testing::SimTransport transport{link};
  Reign reign{simulator.executor()};
  kube::Manager manager{{simulator.executor(), simulator.clock(), random, seen},
                        transport,
                        {.cluster = "rome", .source = core::event_source}};
  controllers::ProviderAccounts accounts{settings.links.provider_cache_mib, seen};
  std::optional<controllers::NamespaceOffloadingController> controller;
  kube::InformerHandle nodes = manager.caches().acquire({.resource = kinds::virtual_nodes});
  kube::async::TaskGroup group{simulator.executor()};
};

}  // namespace

TEST_CASE("the first change of a crowd is followed at once, and later looks come more seldom until there is quiet") {
  controllers::CrowdPause pause;
  kube::TimePoint now{};
  CHECK(pause.left(now) == 0s);
  std::vector<kube::Duration> rests;
  for (int look = 0; look < 7; ++look) {
    pause.begin(now);
    rests.push_back(pause.left(now));
    now += rests.back();
    CHECK(pause.left(now) == 0s);
  }
  CHECK(rests == std::vector<kube::Duration>{200ms, 400ms, 800ms, 1600ms, 3200ms, 4s, 4s});
  now += 5s;
  CHECK(pause.left(now) == 0s);
  pause.begin(now);
  CHECK(pause.left(now) == 200ms);
}

TEST_CASE_FIXTURE(Crowded, "a virtual node has those namespaces looked at that it brings a provider, at once") {
  add_node("milan", "milan-0", "south");
  for (int i = 0; i < 20; ++i) offload("s" + std::to_string(i), "south");
  offload("bank", "north");
  start();
  REQUIRE(reaches([&] { return asks("milan", "s19") && selects("s19", "milan"); }));
  pass(30s);
  const double before = adds(metrics(), "namespaceoffloading");
  for (int i = 1; i < 10; ++i) add_node("milan", "milan-" + std::to_string(i), "south");
  pass(10s);
  CHECK(adds(metrics(), "namespaceoffloading") == before);
  CHECK_FALSE(selects("bank", "milan"));

  add_node("milan", "high", "north");
  CHECK(reaches([&] { return asks("milan", "bank") && selects("bank", "milan"); }, 500ms));
  CHECK(adds(metrics(), "namespaceoffloading") <= before + 10);
  // It is removed again, and no other key is enqueued.
  static_cast<void>(server.remove(kinds::virtual_nodes, {"liqo-tenant-milan", "high"}, {}, "operator"));
  CHECK(reaches([&] { return !asks("milan", "bank") && !selects("bank", "milan"); }, 5min));
  CHECK(adds(metrics(), "namespaceoffloading") <= before + 20);
  CHECK(asks("milan", "s0"));
}

TEST_CASE_FIXTURE(Crowded, "a namespace that changes has those providers looked at that it selects, or did") {
  for (const std::string city : {"milan", "turin", "genoa", "parma", "udine"})
    add_node(city, city, city == "milan" ? "south" : city == "turin" ? "north" : "east");
  offload("other", "");
  start();
  REQUIRE(reaches([&] { return asks("milan", "other") && asks("udine", "other"); }));
  pass(30s);
  const double before = adds(metrics(), "outgoing-namespacemap");
  offload("shop", "south");
  CHECK(reaches([&] { return asks("milan", "shop"); }, 500ms));
  pass(10s);
  offload("shop", "north");
  CHECK(reaches([&] { return asks("turin", "shop") && !asks("milan", "shop"); }));
  pass(10s);
  static_cast<void>(server.remove(kinds::namespace_offloadings, {"shop", "offloading"}, {}, "operator"));
  CHECK(reaches([&] { return !asks("turin", "shop"); }));
  pass(10s);
  // Five changes of it (with the finalizer's), each with the maps of at most two providers and their writes.
  CHECK(adds(metrics(), "outgoing-namespacemap") <= before + 30);
  CHECK(asks("turin", "other"));
}

TEST_CASE_FIXTURE(Crowded, "many providers that come together are followed a few times by many namespaces") {
  constexpr int namespaces = 300, providers = 10;
  const auto name = [](int number) { return "n" + std::to_string(number); };
  for (int i = 0; i < namespaces; ++i) offload(name(i), "");
  add_node("rimini", "rimini", "east");
  start();
  REQUIRE(reaches([&] { return selects(name(namespaces - 1), "rimini"); }));
  pass(30s);

  SUBCASE("one alone at once") {
    add_node("turin", "turin", "east");
    CHECK(reaches([&] { return selects(name(0), "turin") && selects(name(namespaces - 1), "turin"); }, 500ms));
  }
  SUBCASE("a crowd in a few passes") {
    const std::size_t before = status_writes();
    for (int i = 0; i < providers; ++i) {
      add_node("p" + std::to_string(i), "p" + std::to_string(i), "east");
      pass(50ms);
    }
    const auto all_select = [&] {
      for (int i = 0; i < providers; ++i)
        if (!selects(name(0), "p" + std::to_string(i)) || !selects(name(namespaces - 1), "p" + std::to_string(i)))
          return false;
      return true;
    };
    CHECK(reaches(all_select, 10s));
    pass(10s);
    CHECK(all_select());
    CHECK(asks("p9", name(0)));
    // A few passes, each with at most a write for each namespace.
    CHECK(status_writes() - before <= 6 * namespaces);
  }
}

TEST_CASE_FIXTURE(Crowded, "a crowd is one also where each selector is that of few namespaces") {
  constexpr int selectors = 6, of_each = 50, providers = 10;
  const auto name = [](int selector, int number) {
    return "n" + std::to_string(selector) + "-" + std::to_string(number);
  };
  for (int s = 0; s < selectors; ++s)
    for (int i = 0; i < of_each; ++i) offload(name(s, i), "east", "other-" + std::to_string(s));
  add_node("rimini", "rimini", "east");
  start();
  REQUIRE(reaches([&] { return selects(name(selectors - 1, of_each - 1), "rimini"); }));
  pass(30s);
  const std::size_t before = status_writes();
  for (int i = 0; i < providers; ++i) {
    add_node("p" + std::to_string(i), "p" + std::to_string(i), "east");
    pass(50ms);
  }
  CHECK(reaches([&] { return selects(name(0, 0), "p9") && selects(name(selectors - 1, of_each - 1), "p9"); }, 10s));
  pass(10s);
  CHECK(status_writes() - before <= 6 * selectors * of_each);
}

TEST_CASE_FIXTURE(Terms, "a crowd that a term of leadership leaves half enqueued is enqueued in the next one") {
  constexpr int namespaces = 2000;
  const auto name = [](int number) { return "n" + std::to_string(number); };
  const auto all_select = [&](const std::string& cluster) {
    for (int i = 0; i < namespaces; ++i)
      if (!selects(name(i), cluster)) return false;
    return true;
  };
  for (int i = 0; i < namespaces; ++i) offload(name(i), "");
  add_node("rimini", "rimini", "east");
  reign.set_leading(true);
  group.spawn(manager.run());
  pass(1min);
  REQUIRE(all_select("rimini"));
  const double before = enqueued();
  nodes.subscribe([this, before](const kube::ObjectKey&) { group.spawn(end_term_at(before + 256)); });
  add_node("milan", "milan", "east");
  pass(5s);
  REQUIRE(!reign.is_leader());
  REQUIRE(enqueued() - before > 256);
  REQUIRE(enqueued() - before < namespaces);
  CHECK(!all_select("milan"));
  reign.set_leading(true);
  pass(20s);
  CHECK(all_select("milan"));
}

}  // namespace liqo::testing
