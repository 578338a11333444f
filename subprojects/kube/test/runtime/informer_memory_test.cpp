// Informers of a server that shows more than there is memory for.
#include <doctest/doctest.h>

#include "kube/runtime/informer_set.hpp"
#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

struct World : RuntimeFixture {
  /// Creates an object with a list of `numbers` numbers.
  void create_dense(const std::string& name, std::size_t numbers) {
    json::array list;
    list.resize(numbers, 0);
    create(name, {{"list", std::move(list)}});
  }

  std::shared_ptr<MemoryAccount> account = std::make_shared<MemoryAccount>("cluster dense", 1 << 20, nullptr);
  Api bounded{transport, simulator.clock(), random, metrics, {.cluster = "dense", .account = account}};
};

}  // namespace

TEST_CASE("an object that is too dense is read again at growing pauses, and all is well once it is smaller") {
  for (const bool in_pages : {false, true}) {
    CAPTURE(in_pages);
    World w;
    w.create("small");
    w.create_dense("dense", 60'000);
    InformerSet set(w.simulator.executor(), w.bounded, w.metrics);
    InformerHandle watched = set.acquire({.resource = widgets, .in_pages = in_pages});
    w.group.spawn(set.run());
    REQUIRE(w.reaches([&] { return watched->trouble().has_value(); }));
    CHECK(watched->trouble()->code() == Errc::too_large);
    CHECK(set.trouble(Errc::too_large));
    CHECK_FALSE(set.trouble(Errc::timeout));
    CHECK_FALSE(watched->has_synced());
    const auto count = [&w] {
      const std::string text = w.metrics.text();
      const auto line = text.find("rest_client_requests_total{", text.find("# TYPE rest_client_requests_total"));
      return line == std::string::npos ? 0 : std::stoi(text.substr(text.find("} ", line) + 2));
    };
    CHECK(count() >= 1);
    w.pass(60s);
    // After 5, 10, 20 and 40 s, each up to a quarter less.
    CHECK(count() <= 6);
    w.pass(20min);
    CHECK(count() <= 16);
    CHECK(w.account->held() < 1 << 16);
    REQUIRE(
        w.server.update({widgets, {"d", "dense"}}, [](json::object& tree) { tree["spec"] = json::object(); }, "user"));
    CHECK(w.reaches([&] { return watched->has_synced() && !watched->trouble(); }, 6min));
    CHECK(watched->store().size() == 2);
    w.simulator.run(w.group.stop());
    watched.release();
  }
}

TEST_CASE("a dense object of one server harms no other") {
  World w;
  w.create_dense("dense", 60'000);
  Informer other(w.simulator.executor(), w.api, {.resource = widgets}, w.metrics);
  Informer bounded(w.simulator.executor(), w.bounded, {.resource = widgets}, w.metrics);
  w.group.spawn(other.run());
  w.group.spawn(bounded.run());
  CHECK(w.reaches([&] { return other.has_synced() && bounded.trouble().has_value(); }));
  w.simulator.run(w.group.stop());
}
