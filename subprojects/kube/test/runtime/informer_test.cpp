// One informer against servers at their best and at their worst.
#include "kube/runtime/informer.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "kube/runtime/informer_set.hpp"
#include "kube/telemetry/families.hpp"
#include "kube/testing/allocated_bytes.hpp"
#include "kube/testing/tree.hpp"
#include "runtime_fixture.hpp"
#include "support/captured_stderr.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

using Lists = FakeManners::StreamingLists;

/// A running informer of widgets, and what its reader was notified of, by key.
struct World : RuntimeFixture {
  explicit World(InformerScope scope = {.resource = widgets}, std::uint64_t seed = 1)
      : RuntimeFixture(seed), informer(simulator.executor(), api, std::move(scope), metrics) {
    informer.subscribe([this](const ObjectKey& key) { ++told[key.name]; });
  }
  ~World() { simulator.run(group.stop()); }
  void start() { group.spawn(informer.run()); }
  bool syncs() {
    return reaches([this] { return informer.has_synced(); });
  }
  /// Whether it shows what the server has, no more and no less.
  bool is_true() {
    const auto live = server.list(widgets);
    if (live.size() != informer.store().size()) return false;
    for (const Tree& tree : live) {
      const Object object(*tree);
      const auto shown = informer.find(object.key());
      if (!shown || shown->resource_version() != object.resource_version() || shown->spec() != object.spec())
        return false;
    }
    return true;
  }
  bool becomes_true(Duration limit = 2min) {
    return reaches([this] { return is_true(); }, limit);
  }
  bool refreshes() {
    std::optional<Result<void>> done;
    group.spawn([](Informer& informer, std::optional<Result<void>>& done) -> asio::awaitable<void> {
      done = co_await informer.refresh();
    }(informer, done));
    return reaches([&] { return done.has_value(); }) && done->has_value();
  }
  std::uint64_t requests_in(Duration time) {
    const std::uint64_t before = link.requests();
    pass(time);
    return link.requests() - before;
  }
  std::map<std::string, int> told;
  Informer informer;
};

/// Passes the watches of a server on, with each line as `change` makes it.
class ChangedWatches final : public net::Transport {
 public:
  using Change = std::function<void(std::string& line)>;
  ChangedWatches(SimLink& link, Change change) : honest_(link), change_(std::move(change)) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline deadline) override {
    const bool is_watch = request.verb == "watch";
    auto response = co_await honest_.send(std::move(request), deadline);
    if (response && is_watch) response->body = std::make_unique<Lines>(std::move(response->body), change_);
    co_return response;
  }

 private:
  class Lines final : public net::Body {
   public:
    Lines(std::unique_ptr<net::Body> body, const Change& change) : body_(std::move(body)), change_(change) {}
    asio::awaitable<Result<std::string>> read() override {
      while (true) {
        auto piece = co_await body_->read();
        if (!piece || piece->empty()) co_return piece;
        rest_ += *piece;
        std::string whole;
        for (std::size_t end = 0; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
          std::string line = rest_.substr(0, end);
          change_(line);
          whole += line + "\n";
        }
        if (!whole.empty()) co_return whole;
      }
    }

   private:
    std::unique_ptr<net::Body> body_;
    const Change& change_;
    std::string rest_;
  };
  SimTransport honest_;
  Change change_;
};

json::object nested(int levels) {
  json::value inner = "core";
  for (int i = 0; i < levels; ++i) inner = json::object{{"in", std::move(inner)}};
  return {{"deep", std::move(inner)}};
}

}  // namespace

TEST_CASE("an informer is complete with every kind of server, and its objects name their kind") {
  struct Case {
    const char* title;
    Lists lists;
    std::optional<std::size_t> cut_at;
  };
  for (const Case& c : {Case{"streams", Lists::on, {}}, Case{"refuses to stream", Lists::off, {}},
                        Case{"knows of no streamed lists", Lists::ignored, {}}, Case{"breaks off", Lists::on, 3},
                        Case{"breaks off at once", Lists::on, 0}}) {
    CAPTURE(c.title);
    World w;
    w.server.manners() = {.streaming_lists = c.lists, .streams_cut_at = c.cut_at};
    for (int i = 0; i < 7; ++i) w.create("w" + std::to_string(i));
    w.start();
    CHECK(w.syncs());
    CHECK(w.is_true());
    CHECK(w.informer.find({"d", "w3"})->kind() == "Widget");
    CHECK(w.informer.find({"d", "w3"})->api_version() == "example.io/v1");
    w.create("later");
    CHECK(w.becomes_true());
    w.pass(1min);
    CHECK(w.requests_in(10min) <= 10);
  }
}

TEST_CASE("objects of built-in kinds name their kind, whichever way they were listed") {
  for (const Lists lists : {Lists::on, Lists::off}) {
    RuntimeFixture f;
    f.server.manners().streaming_lists = lists;
    REQUIRE(f.server.create(resources::config_maps, {{"metadata", json::object{{"name", "a"}, {"namespace", "d"}}}},
                            "user"));
    Informer informer(f.simulator.executor(), f.api, {.resource = resources::config_maps}, f.metrics);
    f.group.spawn(informer.run());
    REQUIRE(f.reaches([&] { return informer.has_synced(); }));
    CHECK(informer.find({"d", "a"})->kind() == "ConfigMap");
    CHECK(informer.find({"d", "a"})->api_version() == "v1");
    f.simulator.run(f.group.stop());
  }
}

TEST_CASE("an informer of metadata holds no content, whichever way it was listed") {
  for (const Lists lists : {Lists::on, Lists::off}) {
    World w({.resource = widgets, .metadata_only = true});
    w.server.manners().streaming_lists = lists;
    w.create("first", {{"size", 1}});
    w.start();
    REQUIRE(w.syncs());
    w.create("second", {{"size", 2}});
    w.set("first", 3);
    REQUIRE(w.reaches([&] { return w.told["second"] > 0 && w.told["first"] > 1; }));
    for (const Tree& tree : w.server.list(widgets)) {
      const Object live(*tree);
      const auto shown = w.informer.find(live.key());
      REQUIRE(shown.has_value());
      CHECK(shown->kind() == "Widget");
      CHECK(shown->resource_version() == live.resource_version());
      CHECK(shown->spec().empty());
    }
    w.remove("first");
    CHECK(w.reaches([&] { return w.informer.store().size() == 1; }));
  }
}

TEST_CASE("a kind that is not installed is known not to be, also while its server cannot be asked") {
  World w({.resource = {"example.io", "v1", "gadgets", "Gadget"}});
  w.start();
  CHECK_FALSE(w.informer.is_known());
  REQUIRE(w.reaches([&] { return w.informer.is_known(); }));
  w.link.refuse();
  w.pass(2min);
  REQUIRE(w.informer.trouble());
  CHECK_FALSE(w.informer.trouble()->is_not_found());
  CHECK(w.informer.is_known());
  CHECK_FALSE(w.informer.has_synced());
  w.link.heal();
  w.server.serve(Resource{"example.io", "v1", "gadgets", "Gadget"});
  CHECK(w.syncs());
}

TEST_CASE("a failure that stays the same is told once, and so is its end; one that comes once is told to nobody") {
  World w;
  const test::CapturedStderr log;
  w.link.refuse();
  w.start();
  w.pass(5min);
  CHECK(log.lines_with("informer: cannot read") == 1);
  w.link.heal();
  REQUIRE(w.syncs());
  CHECK(log.lines_with("informer: reads again") == 1);
  w.pass(10s);
  w.server.manners().watch_error = 500;
  w.link.cut_watches();
  REQUIRE(w.reaches([&] { return w.informer.trouble().has_value(); }));
  w.server.manners().watch_error = 0;
  REQUIRE(w.reaches([&] { return !w.informer.trouble().has_value(); }));
  CHECK(log.lines_with("informer: ") == 2);
}

TEST_CASE("an informer that only hears of errors pauses longer and longer") {
  for (const int code : {500, 410}) {
    CAPTURE(code);
    World w;
    w.start();
    REQUIRE(w.syncs());
    w.server.manners().watch_error = code;
    w.link.cut_watches();
    CHECK(w.requests_in(1min) <= 30);
    CHECK(w.requests_in(10min) <= 60);
    w.server.manners().watch_error = 0;
    w.create("a");
    CHECK(w.becomes_true());
  }
}

TEST_CASE(
    "streams that end at once are not opened in a tight loop, and one that lived is not held against the server") {
  World w;
  w.start();
  REQUIRE(w.syncs());
  FaultRates faults;
  faults.watch_life = 50ms;
  w.link.set_faults(faults);
  w.link.cut_watches();
  CHECK(w.requests_in(1min) <= 30);
  CHECK(w.requests_in(10min) <= 60);
  w.link.set_faults({});
  w.pass(1min);
  w.link.cut_watches();
  w.create("a");
  CHECK(w.becomes_true(2s));
}

TEST_CASE("an informer waits for as long as the server asks it to") {
  World w;
  w.link.set_faults({.throttled = 1, .retry_after = 60s});
  w.start();
  CHECK(w.requests_in(59s) == 1);
  CHECK(w.requests_in(9min) == 9);
  w.link.set_faults({});
  CHECK(w.syncs());
}

TEST_CASE("a kind that changes all the time is soon complete at a server that knows of no streamed lists") {
  for (const bool creates : {false, true}) {
    CAPTURE(creates);
    World w;
    w.server.manners().streaming_lists = Lists::ignored;
    w.create("w");
    w.start();
    int changes = 0;
    while (!w.informer.has_synced() && changes < 400) {
      w.pass(3s);
      ++changes;
      if (creates)
        w.create("w" + std::to_string(changes));
      else
        w.set("w", changes);
    }
    // New objects may be what there was: the first list is theirs until its watch has its usual end.
    CHECK(changes <= (creates ? 150 : 12));
    CHECK(w.becomes_true());
  }
}

TEST_CASE("lists are streamed again an hour after streams broke, or once a watch has lived, but not where refused") {
  struct Case {
    const char* title;
    bool refuses;      ///< streams, instead of breaking them off
    Duration life;     ///< of each watch, which a list follows
    int watches;       ///< that are cut before streams are counted
    int streams;       ///< that were tried by then
    int more_streams;  ///< that two more such watches add
  };
  for (const Case& c : {Case{"within the hour", false, 250s, 14, 2, 2}, Case{"a watch has lived", false, 8min, 1, 3, 2},
                        Case{"refused", true, 8min, 14, 1, 0}}) {
    CAPTURE(c.title);
    World w;
    int streams = 0;
    w.link.on_send([&](const HttpRequest& request) { streams += request.target.contains("sendInitialEvents=true"); });
    const auto cut = [&](int watches) {
      for (int i = 0; i < watches; ++i) {
        // The last bookmark is so long ago then that a list is next.
        w.pass(c.life);
        w.link.cut_watches();
      }
      w.pass(10s);
    };
    if (c.refuses) {
      w.server.manners().streaming_lists = Lists::off;
    } else {
      w.server.manners().streams_cut_at = 0;
    }
    w.start();
    REQUIRE(w.syncs());
    w.server.manners().streams_cut_at.reset();
    cut(c.watches);
    CHECK(streams == c.streams);
    cut(2);
    CHECK(streams == c.streams + c.more_streams);
  }
}

TEST_CASE("an event that is too long is read past: what was known of its object stays, and the rest comes") {
  World w;
  const auto skipped = w.metrics.counter(families::skipped_objects, {{"cluster", "milan"}, {"resource", "widgets"}});
  w.create("long");
  w.start();
  REQUIRE(w.syncs());
  const std::string known(w.informer.find({"d", "long"})->resource_version());
  const auto fill = [](json::object& tree) {
    ensure_object(tree, "spec")["text"] = std::string(max_object_bytes, 'x');
  };
  REQUIRE(w.server.update({widgets, {"d", "long"}}, fill, "user"));
  w.create("later");
  CHECK(w.reaches([&] { return w.informer.store().contains({"d", "later"}); }, 10s));
  CHECK(w.informer.find({"d", "long"})->resource_version() == known);
  CHECK(skipped.value() == 1);
  // The watch goes on after it.
  w.link.cut_watches();
  w.create("last");
  CHECK(w.reaches([&] { return w.informer.store().contains({"d", "last"}); }, 10s));
  CHECK(skipped.value() == 1);
  CHECK(w.metrics.counter(families::lists, {{"cluster", "milan"}, {"resource", "widgets"}}).value() == 1);
  w.remove("long");
  CHECK(w.becomes_true());
}

TEST_CASE("a watch that breaks three times at an event that cannot be read is given up for a list") {
  const std::string nameless = R"({"type":"DELETED","object":{"kind":"Widget","metadata":{"annotations":{"a":")" +
                               std::string(max_object_bytes, 'x') + R"("},"name":"odd"}}})";
  for (const char* type : {"MODIFIED", "DELETED"}) {
    CAPTURE(type);
    RuntimeFixture f;
    ChangedWatches watches(f.link, [&](std::string& line) {
      if (!line.contains("\"odd\"") || !line.contains(type)) return;
      // An event of a type that is not known, and one whose object cannot be.
      line = line.contains("DELETED") ? nameless : line.replace(line.find(type), 8, "RENAMED");
    });
    Api api(watches, f.simulator.clock(), f.random, f.metrics, {.cluster = "milan"});
    InformerSet informers(f.simulator.executor(), api, f.metrics);
    InformerHandle shown = informers.acquire({.resource = widgets});
    f.create("odd");
    f.group.spawn(informers.run());
    REQUIRE(f.reaches([&] { return shown->has_synced(); }));
    // The witness of a history that stays the same.
    f.create("other");
    f.pass(70s);
    const std::uint64_t before = f.link.requests();
    if (std::string_view(type) == "DELETED") {
      f.remove("odd");
    } else {
      f.set("odd", 1);
    }
    f.create("later");
    CHECK(f.reaches([&] { return shown->version() == f.server.store().version(); }));
    CHECK(shown->lists() == 2);
    CHECK(shown->store().contains({"d", "later"}));
    CHECK(shown->store().contains({"d", "odd"}) == (std::string_view(type) == "MODIFIED"));
    // Two more watches, the list, and what asks for the witness.
    CHECK(f.link.requests() - before <= 6);
    shown.release();
    f.simulator.run(f.group.stop());
  }
}

TEST_CASE("a slow watcher that the server closes catches up") {
  World w;
  w.start();
  REQUIRE(w.syncs());
  FaultRates faults;
  faults.stalled = 1;
  faults.stalled_by = 5s;
  faults.max_watch_buffer = 3;
  w.link.set_faults(faults);
  for (int i = 0; i < 20; ++i) w.create("w" + std::to_string(i));
  w.pass(10s);
  w.link.set_faults({});
  CHECK(w.becomes_true());
}

TEST_CASE("after a short drop a watch goes on, after a long silence everything is listed") {
  World w;
  w.start();
  REQUIRE(w.syncs());
  const auto lists = [&] {
    return w.metrics.counter(families::lists, {{"cluster", "milan"}, {"resource", "widgets"}}).value();
  };
  w.create("a");
  REQUIRE(w.becomes_true());
  w.pass(400ms);
  w.link.cut_watches();
  w.create("b");
  CHECK(w.becomes_true());
  CHECK(lists() == 1);
  w.link.refuse();
  w.pass(10s);
  w.link.heal();
  w.create("c");
  CHECK(w.becomes_true());
  CHECK(lists() == 2);
  // What comes in one go with the end does not show how long the server lived.
  w.create("d");
  REQUIRE(w.becomes_true());
  w.link.cut_watches();
  w.pass(10s);
  w.create("e");
  CHECK(w.becomes_true());
  CHECK(lists() == 3);
}

TEST_CASE("a refresh shows what the server has, however late the watch is, and what that tells of before is left out") {
  for (const int many : {0, 40}) {
    CAPTURE(many);
    World w;
    for (const char* name : {"stays", "changes", "goes", "returns"}) w.create(name);
    for (int i = 0; i < many; ++i) w.create("w" + std::to_string(i));
    REQUIRE_FALSE(w.refreshes());
    w.start();
    REQUIRE(w.syncs());
    w.told.clear();
    w.link.set_faults({.stalled = 1, .stalled_by = 30s});
    w.set("goes", 1);
    w.remove("goes");
    w.set("changes", 2);
    w.set("changes", 3);
    w.remove("returns");
    w.create("returns", {{"size", 4}});
    w.create("new");
    for (int i = 0; i < many; ++i) w.set("w" + std::to_string(i), i);
    w.create("short");
    w.remove("short");
    const std::uint64_t version = w.informer.version();
    REQUIRE(w.refreshes());
    CHECK(w.is_true());
    CHECK(w.informer.version() > version);
    CHECK(w.told.contains("goes"));
    CHECK_FALSE(w.told.contains("stays"));
    // The watch shows all of it once more, in its time.
    w.told.clear();
    bool was_true = true;
    CHECK_FALSE(w.reaches([&] { return !(was_true = was_true && w.is_true()); }, 2min));
    CHECK(w.told.empty());
    w.set("changes", 5);
    CHECK(w.becomes_true());
    CHECK(w.metrics.counter(families::lists, {{"cluster", "milan"}, {"resource", "widgets"}}).value() == 1);
  }
}

TEST_CASE("a refresh bears a watch that tells of changes while its list is being read") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    CAPTURE(seed);
    World w({.resource = widgets}, seed);
    for (int i = 0; i <= 500; ++i) w.create("w" + std::to_string(i));
    w.start();
    REQUIRE(w.syncs());
    w.informer.on_rewind([](bool) { FAIL("the history has not gone back"); });
    w.link.on_send([&](const HttpRequest& request) {
      if (request.target.contains("continue=")) w.set("w0", 7);
    });
    CHECK(w.refreshes());
    CHECK(w.becomes_true());
  }
}

TEST_CASE("a refresh that is under way when the informer is to read anew fails, and tells of no restored database") {
  World w;
  w.create("a");
  const std::uint64_t snapshot = w.server.store().version();
  w.start();
  REQUIRE(w.syncs());
  w.set("a", 1);
  REQUIRE(w.becomes_true());
  w.informer.on_rewind([](bool) { FAIL("the set knows already"); });
  bool is_restored = false;
  w.link.on_send([&](const HttpRequest&) {
    if (std::exchange(is_restored, true)) return;
    w.server.store().rewind(snapshot);
    // As a set does when another of its informers has found it.
    w.informer.forget();
  });
  CHECK_FALSE(w.refreshes());
}

TEST_CASE("a server whose database was restored is believed, before and after the new history has passed the old one") {
  for (const Lists lists : {Lists::on, Lists::off}) {
    for (const int writes : {0, 1, 3, 10, 500}) {
      for (const bool rewrites_all : {false, true}) {
        CAPTURE(writes);
        CAPTURE(rewrites_all);
        World w;
        w.server.manners().streaming_lists = lists;
        for (const char* name : {"kept", "changed", "removed"}) w.create(name);
        const std::uint64_t snapshot = w.server.store().version();
        w.start();
        REQUIRE(w.syncs());
        w.set("changed", 7);
        w.remove("removed");
        for (const char* name : {"lost-1", "lost-2", "again"}) w.create(name);
        REQUIRE(w.becomes_true());
        w.told.clear();

        w.link.refuse();
        w.server.store().rewind(snapshot);
        w.pass(8s);
        w.create("again");
        for (int i = 0; i < writes; ++i) w.set("changed", 100 + i);
        if (rewrites_all)
          for (const char* name : {"kept", "removed", "again"}) w.set(name, 1000 + writes);
        w.link.heal();
        CHECK(w.becomes_true());
        // Nobody goes on believing what was.
        for (const char* name : {"changed", "removed", "lost-1", "lost-2", "again"}) {
          CAPTURE(name);
          CHECK(w.told[name] > 0);
        }
        w.set("changed", 42);
        CHECK(w.becomes_true());
      }
    }
  }
}

TEST_CASE("a list that shows an object older than it was tells of a rewind, and then every key") {
  World w;
  w.create("kept");
  w.create("changed");
  const std::uint64_t snapshot = w.server.store().version();
  w.set("changed", 1);
  w.start();
  REQUIRE(w.syncs());
  int rewinds = 0;
  w.informer.on_rewind([&](bool) { ++rewinds; });
  w.told.clear();
  w.link.refuse();
  w.server.store().rewind(snapshot);
  for (int i = 0; i < 50; ++i) w.create("new-" + std::to_string(i));
  w.pass(8s);
  w.link.heal();
  CHECK(w.becomes_true());
  CHECK(rewinds == 1);
  CHECK(w.told["kept"] > 0);
  CHECK(w.told["changed"] > 0);
  CHECK(w.metrics_have("kube_informer_rewinds_total{cluster=\"milan\",resource=\"widgets\"} 1"));
}

TEST_CASE("where the server forgets faster than pages are read, everything is listed at once") {
  World w;
  w.server.manners() = {.streaming_lists = Lists::off, .pages_expire = true};
  for (int i = 0; i < 620; ++i) w.create("w" + std::to_string(i));
  w.start();
  CHECK(w.syncs());
  CHECK(w.informer.store().size() == 620);
}

TEST_CASE("an object that is nested too deep is skipped, and blinds nobody to the others") {
  for (const Lists lists : {Lists::on, Lists::off}) {
    World w;
    w.server.manners().streaming_lists = lists;
    w.create("deep-in-the-list", nested(1000));
    w.create("deep-enough", nested(100));
    w.create("before");
    w.start();
    CHECK(w.syncs());
    w.create("deep-in-the-watch", nested(1000));
    w.create("after");
    CHECK(w.reaches([&] { return w.informer.find({"d", "after"}).has_value(); }));
    CHECK(w.informer.store().size() == 3);
    CHECK(w.informer.find({"d", "deep-enough"}).has_value());
    // Its watch goes on after it, and does not come back to it.
    const auto skipped = w.metrics.counter(families::skipped_objects, {{"cluster", "milan"}, {"resource", "widgets"}});
    const double before = skipped.value();
    w.pass(1min);
    w.link.cut_watches();
    w.create("last");
    CHECK(w.reaches([&] { return w.informer.find({"d", "last"}).has_value(); }));
    if (lists == Lists::on) CHECK(skipped.value() <= before + 2);
    REQUIRE(w.reaches([&] { return w.informer.version() > 0; }));
    w.link.set_faults({.stalled = 1, .stalled_by = 1h});
    w.create("behind");
    CHECK(w.refreshes());
    CHECK(w.informer.find({"d", "behind"}).has_value());
  }
}

TEST_CASE("objects that are nested too deep leave nothing behind while they are listed, however many they are") {
  World w;
  w.server.manners().streaming_lists = Lists::off;
  const std::string long_name(240, 'x');
  // Three pages of them: what the second one adds is seen when the third is asked for.
  for (int i = 0; i < 1100; ++i) w.create(long_name + std::to_string(i), nested(int(max_object_depth) + 1));
  std::vector<std::size_t> allocated;
  w.link.on_send([&](const HttpRequest& request) {
    if (request.target.contains("limit=") && w.informer.store().size() == 0) allocated.push_back(allocated_bytes());
  });
  w.start();
  CHECK(w.syncs());
  REQUIRE(allocated.size() >= 3);
  // Five hundred names of 240 characters would be 120 KB.
  CHECK(allocated[2] < allocated[1] + 60'000);
}

TEST_CASE("a handler that throws no std::exception leaves the informer able to tell what comes later") {
  struct Odd {};
  World w;
  const auto widget = [](std::string_view name, std::string_view version) {
    return Object({{"metadata", json::object{{"name", name}, {"namespace", "d"}, {"resourceVersion", version}}}});
  };
  bool is_odd = true;
  std::vector<std::string> later;
  const auto first = w.informer.subscribe([&](const ObjectKey& key) {
    if (key.name == "a") w.informer.observe(widget("b", "2"));
    if (is_odd) throw Odd{};
  });
  w.informer.subscribe([&](const ObjectKey& key) { later.push_back(key.name); });
  CHECK_THROWS_AS(w.informer.observe(widget("a", "1")), Odd);
  is_odd = false;
  w.informer.unsubscribe(first);
  w.informer.observe(widget("c", "3"));
  CHECK(later == std::vector<std::string>{"b", "c"});
}

TEST_CASE("handlers and prunes that throw harm nobody else") {
  World w({.resource = widgets, .prune = [](json::object& tree) {
             if (string_at(tree, {"metadata", "name"}) == "bad") throw std::runtime_error("a bug");
           }});
  int calls = 0;
  w.informer.subscribe([](const ObjectKey&) { throw std::runtime_error("another bug"); });
  w.informer.subscribe([&](const ObjectKey&) { ++calls; });
  w.create("bad");
  w.create("good");
  w.start();
  CHECK(w.syncs());
  w.create("later");
  CHECK(w.reaches([&] { return calls == 2; }));
  CHECK(w.told["later"] == 1);
  CHECK_FALSE(w.informer.find({"d", "bad"}).has_value());
}

TEST_CASE("a handler may end its own subscription, and another's") {
  World w;
  int first = 0, second = 0;
  Informer::Subscription a, b;
  a = w.informer.subscribe([&](const ObjectKey&) {
    ++first;
    w.informer.unsubscribe(a);
    w.informer.unsubscribe(b);
  });
  b = w.informer.subscribe([&](const ObjectKey&) { ++second; });
  w.start();
  REQUIRE(w.syncs());
  w.create("one");
  w.create("two");
  CHECK(w.becomes_true());
  CHECK(first == 1);
  CHECK(second == 0);
  CHECK(w.told["two"] == 1);
}

TEST_CASE("the answer to a write is taken only where the informer selects it") {
  World w({.resource = widgets, .ns = "d", .selection = {.label_selector = "color in (red, blue),!hidden"}});
  w.start();
  REQUIRE(w.syncs());
  const auto widget = [](const char* name, const char* ns, const char* color, const char* version) {
    Object object = Object::make(widgets, {ns, name});
    object.set_label("color", color);
    object.mutable_metadata()["resourceVersion"] = version;
    return object;
  };
  w.informer.observe(widget("a", "d", "red", "5000"));
  w.informer.observe(widget("b", "other", "red", "5001"));
  w.informer.observe(widget("c", "d", "green", "5002"));
  CHECK(w.informer.store().keys() == std::vector<ObjectKey>{{"d", "a"}});
  w.informer.observe(widget("a", "d", "green", "5003"));
  CHECK(w.informer.store().size() == 0);
  CHECK(w.told["a"] == 2);
}

TEST_CASE(
    "the answer to a write of which only the server knows whether it is selected takes nothing out of the cache") {
  World w({.resource = resources::pods, .selection = {.field_selector = "status.phase=Pending"}});
  w.start();
  REQUIRE(w.syncs());
  const auto pod = [](const char* phase, const char* version) {
    Object object = Object::make(resources::pods, {"d", "a"});
    object.mutable_metadata()["resourceVersion"] = version;
    if (phase) object.tree()["status"] = json::object{{"phase", phase}};
    return object;
  };
  w.informer.observe(pod("Pending", "5000"));
  w.informer.observe(pod(nullptr, "5001"));
  CHECK(w.informer.store().version({"d", "a"}) == 5000);
  w.informer.observe(pod("Running", "5002"));
  CHECK(w.informer.store().size() == 0);
}

TEST_CASE("what a server tells outside of the namespace and the selection is skipped, counted, and logged once") {
  /// A server that answers as if it were asked for everything.
  struct Liar final : net::Transport {
    explicit Liar(SimLink& link) : honest(link) {}
    asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline deadline) override {
      const auto cut = [&target = request.target](std::string_view from, std::string_view to) {
        const std::size_t at = target.find(from);
        if (at != std::string::npos) target.erase(at, target.find_first_of(to, at + from.size()) - at);
      };
      cut("namespaces/d", "w");
      cut("labelSelector=", "&");
      return honest.send(std::move(request), deadline);
    }
    SimTransport honest;
  };
  for (const Lists lists : {Lists::on, Lists::off}) {
    RuntimeFixture f;
    f.server.manners().streaming_lists = lists;
    Liar liar(f.link);
    Api api(liar, f.simulator.clock(), f.random, f.metrics, {.cluster = "milan"});
    Informer informer(f.simulator.executor(), api,
                      {.resource = widgets, .ns = "d", .selection = {.label_selector = "color=red"}}, f.metrics);
    const test::CapturedStderr log;
    const auto skipped = f.metrics.counter(families::skipped_objects, {{"cluster", "milan"}, {"resource", "widgets"}});
    f.create("mine", {}, "d", {{"color", "red"}});
    f.create("other", {}, "d", {{"color", "blue"}});
    f.create("elsewhere", {}, "e", {{"color", "red"}});
    f.group.spawn(informer.run());
    REQUIRE(f.reaches([&] { return informer.has_synced(); }));
    CHECK(informer.store().keys() == std::vector<ObjectKey>{{"d", "mine"}});
    CHECK(skipped.value() == 2);
    f.create("later", {}, "e", {{"color", "red"}});
    f.create("mine-too", {}, "d", {{"color", "red"}});
    REQUIRE(f.reaches([&] { return informer.store().contains({"d", "mine-too"}); }));
    CHECK(informer.store().size() == 2);
    CHECK(skipped.value() == 3);
    // It leaves the selection, and this server does not call that an end.
    REQUIRE(f.server.update(
        {widgets, {"d", "mine"}}, [](json::object& tree) { set_label(tree, "color", "blue"); }, "user"));
    CHECK(f.reaches([&] { return !informer.store().contains({"d", "mine"}); }));
    f.simulator.run(f.group.stop());
    CHECK(log.lines_with("outside of what was asked for") == 1);
  }
}

TEST_CASE("informers of several namespaces count together") {
  RuntimeFixture f;
  auto a = std::make_unique<Informer>(f.simulator.executor(), f.api, InformerScope{.resource = widgets, .ns = "a"},
                                      f.metrics);
  Informer b(f.simulator.executor(), f.api, {.resource = widgets, .ns = "b"}, f.metrics);
  f.create("x", {}, "a");
  f.create("y", {}, "a");
  f.create("z", {}, "b");
  f.group.spawn(a->run());
  f.group.spawn(b.run());
  REQUIRE(f.reaches([&] { return a->has_synced() && b.has_synced(); }));
  CHECK(f.metrics_have("kube_informer_objects{cluster=\"milan\",resource=\"widgets\"} 3"));
  f.simulator.run(f.group.stop());
  a.reset();
  CHECK(f.metrics_have("kube_informer_objects{cluster=\"milan\",resource=\"widgets\"} 1"));
}

TEST_CASE("a handler is told what is there now, and what was there before") {
  World w;
  const auto size_of = [](const Object& object) { return json::serialize(object.spec()); };
  const auto name_of = [](const Object& object) { return std::string(object.name()); };
  std::vector<std::string> seen;
  w.informer.subscribe([&](const Change& change) {
    const auto told = [&](const Object* object) { return object ? size_of(*object) : std::string("none"); };
    seen.push_back(told(change.previous()) + " -> " + told(change.now));
    CHECK(change.changes(size_of));
    CHECK(change.changes(name_of) == (!change.now || !change.previous()));
  });
  w.start();
  REQUIRE(w.syncs());
  w.create("one", {{"size", 0}});
  REQUIRE(w.becomes_true());
  w.set("one", 1);
  REQUIRE(w.becomes_true());
  w.remove("one");
  REQUIRE(w.becomes_true());
  CHECK(seen.size() == 3);
  CHECK(seen.front() == "none -> {\"size\":0}");
  CHECK(seen.back().ends_with(" -> none"));
  CHECK(seen.at(1) == "{\"size\":0} -> " + seen.at(2).substr(0, seen.at(2).find(" -> ")));
}

TEST_CASE("what a handler observes is told every reader behind the change that the handler was told of") {
  World w;
  const auto by = [](const Object* object) { return object ? std::string(string_at(object->spec(), {"by"})) : "none"; };
  w.informer.subscribe([&](const Change& change) {
    if (!change.now || by(change.now) == "handler") return;
    Object newer = *change.now;
    newer.mutable_metadata()["resourceVersion"] = "999999999";
    newer.mutable_spec()["by"] = "handler";
    w.informer.observe(std::move(newer));
  });
  std::vector<std::string> seen;
  w.informer.subscribe([&](const Change& change) { seen.push_back(by(change.previous()) + " -> " + by(change.now)); });
  w.start();
  REQUIRE(w.syncs());
  w.create("one", {{"by", "user"}});
  CHECK(w.reaches([&] { return seen.size() == 2; }));
  CHECK(seen == std::vector<std::string>{"none -> user", "user -> handler"});
}
