// Informers after an interruption: they go on if the server's history is shown to be the same, and list if not.
// Whatever happened, they show what the server has.
#include "kube/runtime/server_history.hpp"

#include <doctest/doctest.h>

#include "kube/runtime/informer_set.hpp"
#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

/// Three informers of one server, of widgets in two namespaces and of ConfigMaps.
struct World : RuntimeFixture {
  explicit World(std::uint64_t seed = 1)
      : RuntimeFixture(seed),
        informers(simulator.executor(), api, metrics),
        near(informers.acquire({.resource = widgets, .ns = "d"})),
        far(informers.acquire({.resource = widgets, .ns = "e"})),
        maps(informers.acquire({.resource = resources::config_maps})) {
    informers.share_history(widgets.group);
  }
  ~World() {
    near.release();
    far.release();
    maps.release();
    simulator.run(group.stop());
  }
  void start() {
    group.spawn(informers.run());
    REQUIRE(reaches([this] { return informers.has_synced(); }));
    // Everybody has heard something since the last list.
    pass(70s);
  }
  void give_map(const std::string& name) {
    REQUIRE(server.create(resources::config_maps, {{"metadata", json::object{{"name", name}, {"namespace", "d"}}}},
                          "user"));
  }
  bool is_true() {
    return shows(near, server.list(widgets, "d")) && shows(far, server.list(widgets, "e")) &&
           shows(maps, server.list(resources::config_maps));
  }
  static bool shows(const InformerHandle& informer, const std::vector<Tree>& live) {
    if (live.size() != informer->store().size()) return false;
    for (const Tree& tree : live) {
      const Object object(*tree);
      const auto shown = informer->find(object.key());
      if (!shown || shown->uid() != object.uid() || shown->resource_version() != object.resource_version())
        return false;
    }
    return true;
  }
  /// The server is away for so long; `meanwhile` happens in the middle. Returns when everybody reads again.
  void interrupt(Duration length, const std::function<void()>& meanwhile = {}) {
    link.refuse();
    pass(length / 2);
    if (meanwhile) meanwhile();
    pass(length / 2);
    link.heal();
    // Until the last has tried again.
    pass(1min);
  }
  bool metrics_count(std::string_view name, std::string_view label, int count) const {
    return metrics_have(std::string(name) + "{cluster=\"milan\"," + std::string(label) + "} " + std::to_string(count));
  }
  bool found(std::string_view verdict, int count) const {
    return metrics_count("kube_history_checks_total", "verdict=\"" + std::string(verdict) + "\"", count);
  }
  int questions() const {
    int count = 0;
    while (count < 100 && !found("same", count)) ++count;
    return count;
  }
  bool listed(std::string_view plural, int count) const {
    return metrics_count("kube_informer_lists_total", "resource=\"" + std::string(plural) + "\"", count);
  }

  InformerSet informers;
  InformerHandle near, far, maps;
};

/// Two servers behind one address: that of the widgets, with a database of its own, and that of everything else.
class TwoServers final : public net::Transport {
 public:
  TwoServers(SimLink& core, SimLink& other) : core_(core), other_(other) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline deadline) override {
    const bool is_widget = request.target.starts_with("/apis/example.io");
    co_return co_await (is_widget ? other_ : core_).send(std::move(request), deadline);
  }

 private:
  SimTransport core_, other_;
};

/// Counts what comes back.
class CountingTransport final : public net::Transport {
 public:
  explicit CountingTransport(SimLink& link) : transport_(link) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline deadline) override {
    class Counted final : public net::Body {
     public:
      Counted(std::unique_ptr<net::Body> body, std::size_t& bytes) : body_(std::move(body)), bytes_(bytes) {}
      asio::awaitable<Result<std::string>> read() override {
        auto piece = co_await body_->read();
        if (piece) bytes_ += piece->size();
        co_return piece;
      }

     private:
      std::unique_ptr<net::Body> body_;
      std::size_t& bytes_;
    };
    auto response = co_await transport_.send(std::move(request), deadline);
    if (response) response->body = std::make_unique<Counted>(std::move(response->body), bytes);
    co_return response;
  }
  std::size_t bytes = 0;

 private:
  SimTransport transport_;
};

}  // namespace

TEST_CASE("a server that was away costs a question and no list, and what happened meanwhile is told") {
  World w;
  w.create("a");
  w.create("b");
  w.give_map("m");
  w.start();
  w.set("a", 1);
  w.pass(1s);
  w.interrupt(20s, [&] {
    w.set("b", 2);
    w.create("c", {}, "e");
    w.give_map("n");
  });
  CHECK(w.is_true());
  // Those that ask within a second are answered by one.
  CHECK(w.questions() >= 1);
  CHECK(w.questions() <= 2);
  CHECK(w.found("unknown", 0));
  CHECK(w.listed("widgets", 2));
  CHECK(w.listed("configmaps", 1));
}

TEST_CASE("where the witness itself was changed or deleted, everything is listed") {
  for (const bool deletes : {false, true}) {
    World w;
    w.create("a");
    w.start();
    w.set("a", 1);
    w.pass(1s);
    w.interrupt(20s, [&] {
      if (deletes) {
        w.remove("a");
      } else {
        w.set("a", 2);
      }
    });
    CHECK(w.is_true());
    CHECK(w.found("same", 0));
    CHECK(w.listed("widgets", 4));
    CHECK(w.listed("configmaps", 2));
  }
}

TEST_CASE("one who knows of a later deletion lists, and the others go on") {
  World w;
  w.create("a");
  w.create("b");
  w.start();
  w.set("a", 1);
  w.pass(1s);
  w.remove("b");
  w.pass(1s);
  w.interrupt(20s);
  CHECK(w.is_true());
  CHECK(w.found("unknown", 0));
  CHECK(w.listed("widgets", 3));
  CHECK(w.listed("configmaps", 1));
}

TEST_CASE("what one informer finds to have gone back all believe, also where the new history has passed the old one") {
  World w;
  w.create("a");
  w.create("b", {}, "e");
  w.give_map("m");
  w.start();
  const std::uint64_t snapshot = w.server.store().version();
  w.create("lost", {}, "e");
  w.give_map("lost");
  w.set("a", 1);
  w.pass(1s);
  w.interrupt(20s, [&] {
    w.server.store().rewind(snapshot);
    for (int i = 0; i < 20; ++i) w.give_map("new-" + std::to_string(i));
  });
  CHECK(w.is_true());
  CHECK(w.found("gone_back", 1));
  CHECK(w.listed("widgets", 4));
  CHECK(w.listed("configmaps", 2));
}

TEST_CASE("whatever is cut, changed and restored, informers show what the server has in the end") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    World w(seed);
    Random random(seed * 31 + 7);
    const auto change = [&](bool is_up) {
      const bool is_widget = random.chance(0.7);
      const Resource& kind = is_widget ? widgets : resources::config_maps;
      const ObjectKey key{is_widget && random.chance(0.5) ? "e" : "d", "o-" + std::to_string(random.between(0, 4))};
      InformerHandle& informer = !is_widget ? w.maps : key.ns == "e" ? w.far : w.near;
      const Tree now = w.server.get(kind, key);
      // The answer to a write of ours overtakes the watch.
      const bool is_ours = is_up && random.chance(0.3);
      if (!now) {
        auto made =
            w.server.create(kind, {{"metadata", json::object{{"name", key.name}, {"namespace", key.ns}}}}, "user");
        if (is_ours) informer->observe(Object(**made));
      } else if (random.chance(0.4)) {
        REQUIRE(w.server.remove(kind, key, {}, "user"));
        if (is_ours) informer->observe_gone(key, string_at(*now, {"metadata", "uid"}));
      } else {
        auto changed = w.server.update(
            {kind, key}, [&](json::object& tree) { ensure_object(tree, "data")["n"] = std::to_string(random.next()); },
            "user");
        if (is_ours) informer->observe(Object(**changed));
      }
    };
    const auto live = [&](std::int64_t changes, bool is_up) {
      for (std::int64_t i = random.between(0, changes); i > 0; --i) {
        change(is_up);
        if (random.chance(0.7)) w.pass(std::chrono::milliseconds(random.between(0, is_up ? 20'000 : 500)));
      }
    };
    live(5, false);
    w.start();
    for (int outage = 0; outage < 8; ++outage) {
      live(6, true);
      const std::uint64_t now = w.server.store().version();
      if (random.chance(0.6)) {
        w.link.refuse();
      } else {
        w.link.partition();
      }
      live(2, false);
      // No database is restored in less.
      w.pass(std::chrono::milliseconds(random.between(2500, 40'000)));
      if (random.chance(0.5)) {
        const auto lost = random.between(0, 6);
        w.server.store().rewind(now - std::min<std::uint64_t>(now - 1000, static_cast<std::uint64_t>(lost)));
        live(8, false);
      }
      w.link.heal();
      if (random.chance(0.5)) w.pass(std::chrono::milliseconds(random.between(0, 90'000)));
    }
    CHECK(w.reaches([&] { return w.is_true(); }, 5min));
    w.pass(1min);
    CHECK(w.is_true());
  }
}

TEST_CASE("an object of another database does not vouch for the history of this one") {
  RuntimeFixture f;
  FakeApiServer aggregated(f.simulator.clock(), 2);
  aggregated.serve(widgets);
  SimLink other_link(f.simulator, aggregated, "client");
  TwoServers servers(f.link, other_link);
  Api api(servers, f.simulator.clock(), f.random, f.metrics, {.cluster = "milan"});
  InformerSet informers(f.simulator.executor(), api, f.metrics);
  InformerHandle maps = informers.acquire({.resource = resources::config_maps});
  InformerHandle others = informers.acquire({.resource = widgets});
  const auto change = [](FakeApiServer& server, const Resource& kind, int size) {
    REQUIRE(server.update(
        {kind, {"d", "kept"}}, [&](json::object& tree) { ensure_object(tree, "data")["n"] = size; }, "user"));
  };
  const auto create = [](FakeApiServer& server, const Resource& kind, const char* name) {
    REQUIRE(server.create(kind, {{"metadata", json::object{{"name", name}, {"namespace", "d"}}}}, "user"));
  };
  create(f.server, resources::config_maps, "kept");
  create(aggregated, widgets, "kept");
  // Its versions are far ahead.
  for (int i = 0; i < 100; ++i) change(aggregated, widgets, i);
  f.group.spawn(informers.run());
  REQUIRE(f.reaches([&] { return informers.has_synced(); }));
  f.pass(70s);
  const std::uint64_t snapshot = f.server.store().version();
  create(f.server, resources::config_maps, "lost");
  change(f.server, resources::config_maps, 1);
  change(aggregated, widgets, 1000);
  f.pass(5s);
  f.link.refuse();
  other_link.refuse();
  f.pass(15s);
  f.server.store().rewind(snapshot);
  for (int i = 0; i < 20; ++i) change(f.server, resources::config_maps, i);
  f.pass(15s);
  f.link.heal();
  other_link.heal();
  CHECK(f.reaches([&] { return World::shows(maps, f.server.list(resources::config_maps)); }));
  CHECK_FALSE(maps->find({"d", "lost"}));
  f.pass(1min);
  // The other one has its own witness.
  CHECK(World::shows(others, aggregated.list(widgets)));
  CHECK(f.metrics_have("kube_history_checks_total{cluster=\"milan\",verdict=\"same\"} 1"));
  maps.release();
  others.release();
  f.simulator.run(f.group.stop());
}

TEST_CASE("witnesses vouch for their own resource, and for those that are stored beside it") {
  constexpr Resource new_widgets{"example.io", "v2", "widgets", "Widget"},
      gadgets{"example.io", "v1", "gadgets", "Gadget"}, pod_metrics{"metrics.k8s.io", "v1beta1", "pods", "PodMetrics"},
      new_events{"events.k8s.io", "v1", "events", "Event"};
  struct Case {
    const Resource &witness, &of;
    bool speaks, speaks_if_shared;
  };
  for (const Case& c :
       {Case{widgets, widgets, true, true}, Case{widgets, new_widgets, true, true}, Case{widgets, gadgets, false, true},
        Case{widgets, resources::pods, false, true}, Case{resources::pods, resources::leases, true, true},
        Case{resources::pods, gadgets, false, true}, Case{resources::pods, resources::events, false, false},
        Case{resources::events, resources::pods, false, false}, Case{resources::events, resources::events, true, true},
        Case{resources::pods, new_events, false, false}, Case{resources::pods, pod_metrics, false, false},
        Case{pod_metrics, resources::nodes, false, false}}) {
    CAPTURE(c.witness.plural);
    CAPTURE(c.of.plural);
    for (const bool shares : {false, true}) {
      RuntimeFixture f;
      const HistoryWitness witness{&c.witness, {"d", "a"}, "uid", 7, {}};
      ServerHistory history(f.simulator.executor(), f.api, f.metrics);
      if (shares) history.share(widgets.group);
      history.add(witness);
      f.simulator.run([](ServerHistory& asked, const Resource& of) -> asio::awaitable<void> {
        static_cast<void>(co_await asked.ask(of, {}, 7));
      }(history, c.of));
      CHECK((f.link.requests() == 1) == (shares ? c.speaks_if_shared : c.speaks));
    }
  }
}

TEST_CASE("a watch goes on from a version of its own resource, also where another one has vouched") {
  World w;
  w.create("a");
  w.start();
  w.give_map("m");
  w.set("a", 1);
  REQUIRE(w.server.create(resources::secrets, {{"metadata", json::object{{"name", "s"}, {"namespace", "d"}}}}, "user"));
  // Bookmarks show the Secret's version.
  w.pass(70s);
  std::vector<std::string> from;
  w.link.on_send([&](const HttpRequest& request) {
    if (request.verb != "watch" || !request.target.contains("/configmaps?")) return;
    const std::size_t at = request.target.find("resourceVersion=") + 16;
    from.push_back(request.target.substr(at, request.target.find('&', at) - at));
  });
  w.interrupt(20s);
  CHECK(w.is_true());
  CHECK(w.found("unknown", 0));
  CHECK(w.listed("configmaps", 1));
  REQUIRE_FALSE(from.empty());
  CHECK(from.back() == w.maps->find({"d", "m"})->resource_version());
}

TEST_CASE("a watch that began after somebody's last sign of life does not speak for him") {
  RuntimeFixture f;
  f.create("a");
  const std::uint64_t snapshot = f.server.store().version();
  f.set("a", 1);
  const Object shown(*f.server.get(widgets, {"d", "a"}));
  const TimePoint began = f.simulator.clock().now();
  const HistoryWitness witness{&widgets, shown.key(), std::string(shown.uid()), f.server.store().version(), began};
  ServerHistory history(f.simulator.executor(), f.api, f.metrics);
  history.add(witness);
  const auto ask = [&](TimePoint alive, std::uint64_t version) {
    auto verdict = ServerHistory::Verdict::unknown;
    f.simulator.run([](ServerHistory& asked, TimePoint at, std::uint64_t known, auto& out) -> asio::awaitable<void> {
      out = (co_await asked.ask(widgets, at, known)).value().verdict;
    }(history, alive, version, verdict));
    return verdict;
  };
  CHECK(ask(began - 1s, witness.version) == ServerHistory::Verdict::unknown);
  CHECK(ask(began, witness.version + 1) == ServerHistory::Verdict::unknown);
  CHECK(f.link.requests() == 0);
  CHECK(ask(began, witness.version) == ServerHistory::Verdict::same);
  CHECK(ask(began + 1h, snapshot) == ServerHistory::Verdict::same);
  CHECK(f.link.requests() == 1);
  f.pass(5s);
  f.server.store().rewind(snapshot);
  CHECK(ask(began, snapshot) == ServerHistory::Verdict::gone_back);
  CHECK(f.link.requests() == 2);
  history.remove(witness);
  CHECK(ask(began, 0) == ServerHistory::Verdict::unknown);
}

TEST_CASE("of 10,000 objects an interruption costs one, not all") {
  RuntimeFixture f;
  for (int i = 0; i < 10'000; ++i) f.create("o-" + std::to_string(i), {{"text", std::string(1500, 'x')}});
  CountingTransport counted(f.link);
  Api api(counted, f.simulator.clock(), f.random, f.metrics, {.cluster = "milan"});
  InformerSet informers(f.simulator.executor(), api, f.metrics);
  InformerHandle shown = informers.acquire({.resource = widgets});
  f.group.spawn(informers.run());
  REQUIRE(f.reaches([&] { return informers.has_synced(); }));
  CHECK(counted.bytes > 15'000'000);
  f.set("o-1", 1);
  f.pass(1s);
  counted.bytes = 0;
  f.link.refuse();
  f.pass(10s);
  f.link.heal();
  f.pass(1min);
  CHECK(f.metrics_have("kube_informer_lists_total{cluster=\"milan\",resource=\"widgets\"} 1"));
  CHECK(counted.bytes < 5'000);
  f.set("o-2", 1);
  CHECK(f.reaches([&] { return shown->version() == f.server.store().version(); }));
  shown.release();
  f.simulator.run(f.group.stop());
}
