// A kind that is defined at run time, and the statuses of its copies that come home.
#include "core/reflection/custom_resource.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {
namespace {

const core::reflection::ReflectedKind& widgets() {
  return core::reflection::custom_kind({.plural = "widgets", .group = "example.org", .brings_status = true}, "v1",
                                       "Widget");
}

struct Widgets : World {
  Widgets() : World(widgets()) {}

  void make(std::string_view name, int size, std::string_view ns = "shop") {
    REQUIRE(rome.create(
        widgets().resource,
        {{"metadata", json::object{{"name", name}, {"namespace", ns}}}, {"spec", json::object{{"size", size}}}},
        actor));
  }
  void resize(std::string_view name, int size) {
    REQUIRE(rome.update(
        {widgets().resource, {"shop", std::string(name)}},
        [size](json::object& tree) { tree["spec"] = json::object{{"size", size}}; }, actor));
  }
  /// As the operator of either cluster does.
  static void report(kube::testing::FakeApiServer& server, const std::string& ns, const std::string& name,
                     json::object status) {
    REQUIRE(server.update(
        {widgets().resource, {ns, name}, "status"},
        [&status](json::object& tree) { tree["status"] = std::move(status); }, "operator"));
  }
  kube::testing::Tree here(const std::string& name) { return rome.get(widgets().resource, {"shop", name}); }
  kube::testing::Tree there(const std::string& name) { return milan.get(widgets().resource, {"shop-rome", name}); }
  bool has_copy(const std::string& name, std::int64_t size) {
    return reaches([&] { return there(name) && kube::int_at(*there(name), {"spec", "size"}) == size; });
  }
  bool is_phase(const std::string& name, std::string_view phase) {
    return here(name) && kube::string_at(*here(name), {"status", "phase"}) == phase;
  }
  std::size_t home_writes() {
    return std::size_t(std::ranges::count_if(rome.writes(), [](const kube::testing::FakeWrite& write) {
      return write.plural == "widgets" && write.actor != actor && write.actor != "operator";
    }));
  }
};

}  // namespace

TEST_CASE("a kind that is added at run time is reflected, and the status of copies comes home") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Ready"}, {"observedGeneration", 1}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Ready"); }, 10s));
  CHECK(kube::int_at(*w.here("one"), {"status", "observedGeneration"}) == 1);
  CHECK(w.home_writes() == 1);
  // The status of home is no part of the copy.
  w.pass(2min);
  CHECK(w.writes() == 1);
  CHECK(w.home_writes() == 1);

  w.resize("one", 2);
  REQUIRE(w.has_copy("one", 2));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Resized"}, {"observedGeneration", 2}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Resized"); }, 10s));
  CHECK(kube::int_at(*w.here("one"), {"status", "observedGeneration"}) == 2);

  REQUIRE(w.rome.remove(widgets().resource, {"shop", "one"}, {}, actor));
  REQUIRE(w.reaches([&] { return !w.there("one"); }, 30s));
  CHECK(w.events("FailedReflection") == 0);
}

TEST_CASE("after a quiet time a status is home within 30 s") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.pass(5min);
  w.report(w.milan, "shop-rome", "one", {{"phase", "Late"}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Late"); }, 30s));
  // What happens next does not take as long.
  w.report(w.milan, "shop-rome", "one", {{"phase", "Later"}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Later"); }, 6s));
}

TEST_CASE("a status that somebody at home writes over is that of the copy again, and not without end") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Ready"}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Ready"); }, 10s));
  const std::size_t before = w.home_writes();
  for (int second = 0; second < 60; ++second) {
    w.report(w.rome, "shop", "one", {{"phase", "Mine" + std::to_string(second)}});
    w.pass(1s);
  }
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Ready"); }, 30s));
  CHECK(w.home_writes() - before >= 4);
  CHECK(w.home_writes() - before <= 8);
}

TEST_CASE("after a restart nothing is written that is there") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Ready"}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Ready"); }, 10s));
  w.stop();
  // Nothing at home was notified of it.
  w.report(w.milan, "shop-rome", "one", {{"phase", "Old"}});
  const std::size_t there = w.writes(), here = w.home_writes();
  w.start();
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Old"); }, 10s));
  w.pass(2min);
  CHECK(w.writes() == there);
  CHECK(w.home_writes() == here + 1);
}

TEST_CASE("a status that is too large stays where it is, and an Event says so") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.report(w.milan, "shop-rome", "one", {{"text", std::string(300 << 10, 'x')}});
  REQUIRE(w.reaches([&] { return w.events("FailedReflection") == 1; }, 30s));
  CHECK(w.home_writes() == 0);
  w.report(w.milan, "shop-rome", "one", {{"phase", "Short"}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Short"); }, 30s));
}

TEST_CASE("a status that waits for its turn is held nowhere, and comes home as it is then") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  int taken = 0;
  w.home_write = [&taken] {
    ++taken;
    return kube::Duration(1min);
  };
  w.report(w.milan, "shop-rome", "one", {{"phase", "Early"}, {"numbers", json::array(10'000, 0)}});
  REQUIRE(w.reaches([&] { return taken == 1; }, 10s));
  w.pass(2s);
  CHECK(w.account->held() == 0);
  CHECK(!w.here("one")->contains("status"));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Late"}});
  CHECK(w.reaches([&] { return w.is_phase("one", "Late"); }, 1min));
  CHECK(w.home_writes() == 1);
  CHECK(taken == 1);
}

TEST_CASE("one worker is enough for many statuses that wait") {
  Widgets w;
  w.reflector.set_policy({.workers = 1});
  for (const char* name : {"one", "two"}) {
    w.make(name, 1);
    REQUIRE(w.has_copy(name, 1));
  }
  int taken = 0;
  w.home_write = [&taken] { return kube::Duration(++taken == 1 ? 1h : 0h); };
  for (const char* name : {"one", "two"}) w.report(w.milan, "shop-rome", name, {{"phase", "Ready"}});
  const auto is_home = [&w](const char* name) { return w.is_phase(name, "Ready"); };
  CHECK(w.reaches([&] { return is_home("one") || is_home("two"); }));
  w.make("three", 1);
  CHECK(w.has_copy("three", 1));
  CHECK(is_home("one") != is_home("two"));
}

TEST_CASE("an object of somebody else tells nothing at home") {
  Widgets w;
  REQUIRE(w.milan.create(widgets().resource, {{"metadata", json::object{{"name", "one"}, {"namespace", "shop-rome"}}}},
                         "operator"));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Foreign"}});
  w.make("one", 1);
  REQUIRE(w.reaches([&] { return w.events("FailedReflection") == 1; }, 30s));
  w.pass(1min);
  CHECK(!w.is_phase("one", "Foreign"));
  CHECK(w.home_writes() == 0);
}

TEST_CASE("a spec that goes there and back has been seen, whatever the provider said of it") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Ready"}, {"observedGeneration", 1}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Ready"); }, 10s));
  w.milan_transport.rewrite = [](kube::HttpRequest& request) {
    // A request that the API server refuses.
    if (request.method == "PATCH") request.body = "nonsense";
  };
  w.resize("one", 2);
  w.pass(5s);
  w.milan_transport.rewrite = nullptr;
  w.resize("one", 1);
  const std::int64_t now = kube::int_at(*w.here("one"), {"metadata", "generation"});
  REQUIRE(now == 3);
  CHECK(w.reaches([&] { return kube::int_at(*w.here("one"), {"status", "observedGeneration"}) == now; }, 60s));
}

TEST_CASE("a copy that is made again has no status, and neither has the object until somebody says so") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.report(w.milan, "shop-rome", "one", {{"phase", "Ready"}});
  REQUIRE(w.reaches([&] { return w.is_phase("one", "Ready"); }, 10s));
  REQUIRE(w.milan.remove(widgets().resource, {"shop-rome", "one"}, {}, "operator"));
  REQUIRE(w.reaches([&] { return !w.is_phase("one", "Ready"); }, 30s));
  CHECK(w.has_copy("one", 1));
  CHECK(!w.here("one")->contains("status"));
}

TEST_CASE("what an operator changes again and again is not put right at each change") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.pass(1min);
  const std::size_t before = w.writes();
  for (int second = 0; second < 120; ++second) {
    REQUIRE(w.milan.update(
        {widgets().resource, {"shop-rome", "one"}},
        [](json::object& tree) { tree["spec"] = json::object{{"size", 7}}; }, "operator"));
    w.pass(1s);
  }
  CHECK(w.writes() - before >= 4);
  CHECK(w.writes() - before <= 9);
}

TEST_CASE("statuses that are refused in ever other words are told once") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  for (int kib = 300; kib < 320; ++kib) {
    w.report(w.milan, "shop-rome", "one", {{"text", std::string(std::size_t(kib) << 10, 'x')}});
    w.pass(25s);
  }
  CHECK(w.events("FailedReflection") == 1);
}

TEST_CASE("what an operator makes with the labels of a copy is none") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  const json::object labels = kube::object_at(*w.there("one"), {"metadata", "labels"});
  const json::object owner{
      {"apiVersion", "example.org/v1"}, {"kind", "Widget"}, {"name", "one"}, {"uid", "1"}, {"controller", true}};
  REQUIRE(w.milan.create(widgets().resource,
                         {{"metadata", json::object{{"name", "child"},
                                                    {"namespace", "shop-rome"},
                                                    {"labels", labels},
                                                    {"ownerReferences", json::array{owner}}}}},
                         "operator"));
  w.pass(3min);
  REQUIRE(w.there("child"));
  const FoundCopy found =
      w.reflector.find_copy("shop", "child", kube::string_at(*w.there("child"), {"metadata", "uid"}));
  CHECK(found.is_known);
  CHECK(found.name == "");
}

TEST_CASE("a status comes from one provider of several") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.brings_home = false;
  w.report(w.milan, "shop-rome", "one", {{"phase", "Ready"}});
  w.pass(2min);
  CHECK(w.home_writes() == 0);
  w.brings_home = true;
  w.reflector.gather_anew("shop");
  CHECK(w.reaches([&] { return w.is_phase("one", "Ready"); }, 10s));
}

TEST_CASE("a policy that changes while a status is written holds") {
  Widgets w;
  w.make("one", 1);
  REQUIRE(w.has_copy("one", 1));
  w.home_write = [] { return kube::Duration(10s); };
  w.report(w.milan, "shop-rome", "one", {{"phase", "Ready"}});
  w.pass(5s);
  w.reflector.set_policy({.selection = core::reflection::SelectionPolicy::allow_list, .workers = 4});
  CHECK(w.reaches([&] { return !w.there("one"); }, 60s));
}

}  // namespace liqo::controllers
