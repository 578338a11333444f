// When a namespace is read, and its copies are compared.
#include "controllers/reflection/namespace_look.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "reflector_fixture.hpp"

namespace liqo::controllers {

TEST_CASE("nothing is watched at the provider, and at rest little is asked") {
  World w;
  for (int i = 0; i < 20; ++i) w.create("c" + std::to_string(i), "x");
  REQUIRE(w.reaches([&] { return w.milan.list(kind).size() == 20; }));
  w.pass(1min);
  const std::uint64_t before = w.to_milan.requests();
  w.pass(10min);
  CHECK(w.to_milan.requests() - before <= 36);
  CHECK_FALSE(w.metrics.text().contains("verb=\"watch\",resource=\"configmaps\",cluster=\"milan\""));
  for (const auto& [name, from, to] : {std::tuple{"empty", "bank", "bank-rome"}}) w.reflector.start_namespace(from, to);
  w.pass(1min);
  const std::uint64_t with_two = w.to_milan.requests();
  w.pass(10min);
  // A twin without copies is not looked at.
  CHECK(w.to_milan.requests() - with_two <= 36);
}

TEST_CASE("a provider whose database is restored gets its copies back") {
  World w;
  w.create("old", "x");
  REQUIRE(w.reaches([&] { return w.at_milan("old") == "x"; }));
  const std::uint64_t backup = w.milan.store().version();
  w.create("new", "y");
  w.set("old", "z");
  REQUIRE(w.reaches([&] { return w.at_milan("new") == "y" && w.at_milan("old") == "z"; }));
  for (const int others : {0, 40}) {
    CAPTURE(others);
    w.milan.store().rewind(backup);
    for (int i = 0; i < others; ++i)
      REQUIRE(w.milan.create(kind, World::config_map("kube-system", "o" + std::to_string(i), "x"), actor));
    CHECK(w.reaches([&] { return w.at_milan("new") == "y" && w.at_milan("old") == "z"; }, 30s));
  }
}

TEST_CASE("a namespace that its provider does not show costs nothing at home") {
  World w("Secret");
  w.to_milan.refuse();
  w.reflector.set_references("shop", {"words"});
  w.pass(30s);
  const std::uint64_t before = w.to_rome.requests();
  w.pass(10min);
  CHECK(w.to_rome.requests() == before);
}

TEST_CASE("what an earlier process has sent, and is carried out late, is found though there is no other copy") {
  World w;
  w.create("words", "ciao");
  REQUIRE(w.reaches([&] { return w.at_milan("words") == "ciao"; }));
  w.stop();
  json::object late = *w.milan.get(kind, {"shop-rome", "words"});
  REQUIRE(w.milan.remove(kind, {"shop-rome", "words"}, {}, actor));
  REQUIRE(w.rome.remove(kind, {"shop", "words"}, {}, actor));
  w.start();
  w.pass(30s);
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp"}) late["metadata"].as_object().erase(field);
  REQUIRE(w.milan.create(kind, late, actor));
  CHECK(w.reaches([&] { return w.at_milan("words") == "(none)"; }, 1min));
}

TEST_CASE("where there is nothing at home it is not read, and what is left of it goes") {
  World w;
  for (const char* ns : {"empty", "full", "left"}) {
    REQUIRE(w.milan.create(kube::resources::namespaces,
                           {{"metadata", json::object{{"name", std::string(ns) + "-rome"}}}}, actor));
    w.reflector.start_namespace(ns, std::string(ns) + "-rome");
  }
  w.create("words", "ciao", "full");
  w.create("words", "ciao", "left");
  const auto copied = [&](const std::string& ns) { return w.milan.get(kind, {ns + "-rome", "words"}) != nullptr; };
  REQUIRE(w.reaches([&] { return copied("full") && copied("left"); }));
  w.stop();
  REQUIRE(w.rome.remove(kind, {"left", "words"}, {}, actor));
  w.pass(1s);
  std::set<std::string> read;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    for (const char* ns : {"shop", "empty", "full", "left"})
      if (request.target.contains("/namespaces/" + std::string(ns) + "/")) read.insert(ns);
  });
  w.start();
  CHECK(w.reaches([&] { return !copied("left"); }));
  w.pass(1min);
  CHECK(copied("full"));
  CHECK(read == std::set<std::string>{"full"});
}

TEST_CASE("of many namespaces only some are held at a time, and all are read") {
  World w;
  w.stop();
  constexpr int count = 40;
  const std::string large(200'000, 'x');
  for (int i = 0; i < count; ++i) {
    const std::string ns = "ns" + std::to_string(i);
    w.create("words", large, ns);
    w.reflector.start_namespace(ns, ns + "-rome");
  }
  // Reads that were not worked on yet: all their content is held.
  int read = 0, ahead = 0;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    if (!request.target.starts_with("/api/v1/namespaces/ns")) return;
    ++read;
    ahead = std::max(ahead, read - int(w.milan.list(kind).size()));
  });
  w.start();
  REQUIRE(w.reaches([&] { return w.milan.list(kind).size() == count; }, 20s));
  CHECK(read == count);
  CHECK(ahead < count);
  // A namespace that keeps its content does not delay the others for ever.
  w.stop();
  w.to_milan.partition();
  w.start();
  w.pass(1min);
  w.to_milan.heal();
  w.create("words", "small", "late");
  w.reflector.start_namespace("late", "late-rome");
  CHECK(w.reaches([&] { return w.milan.get(kind, {"late-rome", "words"}) != nullptr; }, 2min));
}

TEST_CASE("a namespace that ends while its provider does not answer is not read at home afterwards") {
  World w;
  w.create("words", "here", "late");
  int listed = 0;
  w.to_rome.on_send([&](const kube::HttpRequest& request) {
    listed += request.target.starts_with("/api/v1/namespaces/late/configmaps");
  });
  w.to_milan.partition();
  w.reflector.start_namespace("late", "late-rome");
  w.pass(5s);
  w.reflector.stop_namespace("late");
  w.to_milan.heal();
  w.pass(2min);
  CHECK(listed == 0);
}

TEST_CASE("while many namespaces get their first copies, others are compared less often, and right within 30 s") {
  World w;
  w.create("words", "here");
  REQUIRE(w.reaches([&] { return w.milan.get(kind, {"shop-rome", "words"}) != nullptr; }));
  constexpr int count = 200;
  const std::string large(200'000, 'x');
  for (int i = 0; i < count; ++i) w.create("words", large, "ns" + std::to_string(i));
  int compared = 0;
  w.to_milan.on_send([&](const kube::HttpRequest& request) {
    if (request.method == "GET" && request.target.starts_with("/api/v1/namespaces/shop-rome/configmaps?")) ++compared;
  });
  w.to_milan.set_faults({.latency_low = 1s, .latency_high = 1s});
  for (int i = 0; i < count; ++i)
    w.reflector.start_namespace("ns" + std::to_string(i), "ns" + std::to_string(i) + "-rome");
  w.pass(10s);
  const kube::TimePoint begin = w.simulator.clock().now();
  for (int turn = 0; turn < 4; ++turn) {
    REQUIRE(w.milan.remove(kind, {"shop-rome", "words"}, {}, actor));
    CHECK(w.reaches([&] { return w.at_milan("words") == "here"; }, 30s));
    w.pass(1s);
    REQUIRE(w.milan.update(
        {kind, {"shop-rome", "words"}}, [](json::object& tree) { tree["data"] = json::object{{"key", "theirs"}}; },
        actor));
    CHECK(w.reaches([&] { return w.at_milan("words") == "here"; }, 30s));
    if (w.milan.list(kind).size() >= count) break;
  }
  CHECK(compared > 0);
  CHECK(compared <= 1 + (w.simulator.clock().now() - begin) / 25s);
  w.to_milan.set_faults({});
  REQUIRE(w.reaches([&] { return w.milan.list(kind).size() == count + 1; }));
  const int before = compared;
  w.pass(90s);
  CHECK(compared >= before + 3);
}

}  // namespace liqo::controllers
