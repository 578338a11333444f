// The controller of examples/slice-class-cpp over a network that loses answers.
#include <doctest/doctest.h>

#include <sstream>

#include "../../../examples/slice-class-cpp/pool_controller.hpp"
#include "kube/testing/simulated_cluster.hpp"

namespace {

namespace json = kube::json;
namespace testing = kube::testing;
using liqo::api::kinds::resource_slices;

/// A connection over which one slice cannot be answered.
class Refusing final : public kube::net::Transport {
 public:
  explicit Refusing(testing::SimLink& link) : through_(link) {}
  boost::asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request,
                                                                 kube::Deadline deadline) override {
    if (request.method == "PATCH" && !refused.empty() && request.target.contains("/" + refused + "/"))
      co_return kube::fail(kube::Errc::closed, "refused");
    co_return co_await through_.send(std::move(request), deadline);
  }

  std::string refused;

 private:
  testing::SimTransport through_;
};

/// A provider with cpu 8, whose consumer rome sends slices.
struct World : testing::BasicSimulatedCluster<Refusing> {
  explicit World(std::uint64_t seed) : BasicSimulatedCluster({.name = "fake", .actor = "pool", .seed = seed}) {
    server.serve(resource_slices);
    json::object rome{{"metadata", json::object{{"name", "rome"}}}};
    REQUIRE(server.create(kube::resources::namespaces, std::move(rome), "test").has_value());
    group.spawn(manager.run());
  }
  ~World() { stop(); }

  void ask(const char* name, const char* cpu, const char* slice_class = "pool") {
    json::object slice{{"metadata", json::object{{"name", name},
                                                 {"namespace", "rome"},
                                                 {"labels", json::object{{liqo::api::labels::replicated, "true"}}}}},
                       {"spec", json::object{{"class", slice_class}, {"resources", json::object{{"cpu", cpu}}}}}};
    REQUIRE(server.create(resource_slices, std::move(slice), "rome").has_value());
  }
  void change(const char* name, const char* cpu) {
    const kube::ObjectKey key{"rome", name};
    const auto edit = [cpu](json::object& slice) { slice["spec"].as_object()["resources"].as_object()["cpu"] = cpu; };
    REQUIRE(server.update({resource_slices, key}, edit, "rome").has_value());
  }
  void remove(const char* name) { REQUIRE(server.remove(resource_slices, {"rome", name}, {}, "rome").has_value()); }
  /// The answer to the slice: "Accepted", "Denied", or "" before that.
  std::string answered(const char* name) {
    const auto slice = server.get(resource_slices, {"rome", name});
    if (!slice) return "";
    const auto* said = kube::find_condition(kube::object_at(*slice, {"status"}), "Resources");
    return said ? std::string(kube::string_at(*said, {"status"})) : "";
  }
  bool has(const char* name, std::string_view cpu) {
    const auto slice = server.get(resource_slices, {"rome", name});
    return slice && answered(name) == "Accepted" && kube::string_at(*slice, {"status", "resources", "cpu"}) == cpu;
  }
  kube::Quantity granted() {
    kube::Quantity sum;
    for (const auto& slice : server.list(resource_slices))
      if (const json::value* cpu = kube::find(*slice, {"status", "resources", "cpu"}))
        sum += kube::Quantity::from_json(*cpu).value_or(kube::Quantity());
    return sum;
  }
  /// Whether that becomes true, while at no time more is granted than there is.
  bool reaches(const std::function<bool()>& holds) {
    const auto looked = [&] {
      REQUIRE(granted() <= kube::Quantity(8));
      return holds();
    };
    return BasicSimulatedCluster::reaches(looked, std::chrono::minutes(10));
  }

  kube::Manager manager{
      {simulator.executor(), simulator.clock(), random, metrics}, transport, {.cluster = "fake", .source = {}}};
  std::ostringstream told;
  pool::PoolController controller{manager, "pool", *pool::read_pool("cpu=8"), told};
};

}  // namespace

TEST_CASE("slices of a class share a pool, and never get more, whatever answers are lost") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    World world(seed);
    world.link.set_faults({.lost_answer = 0.2, .failing = 0.2, .conflict = 0.1, .watch_life = std::chrono::seconds(3)});
    world.ask("gold", "5");
    CHECK(world.reaches([&] { return world.has("gold", "5"); }));
    world.ask("silver", "4");
    world.ask("bronze", "2");
    world.ask("other", "1", "default");
    CHECK(world.reaches([&] { return world.answered("silver") == "Denied" && world.has("bronze", "2"); }));
    // One slice gets what another gives back.
    world.change("gold", "2");
    CHECK(world.reaches([&] { return world.has("gold", "2") && world.has("silver", "4"); }));
    // A denied edit changes nothing.
    world.change("gold", "7");
    CHECK(world.reaches([&] { return world.answered("gold") == "Denied"; }));
    CHECK(world.granted() == kube::Quantity(8));
    world.remove("bronze");
    world.remove("silver");
    CHECK(world.reaches([&] { return world.has("gold", "7"); }));
    CHECK(world.answered("other").empty());
  }
}

TEST_CASE("a slice that cannot be answered holds up no other, and each answer is told") {
  World world(1);
  world.transport.refused = "gold";
  world.ask("gold", "5");
  world.ask("silver", "4");
  CHECK(world.reaches([&] { return world.has("silver", "4"); }));
  CHECK(world.answered("gold").empty());
  world.transport.refused.clear();
  // The line is written once the answer has come back.
  CHECK(world.reaches([&] {
    return world.told.str() ==
           "rome/silver: accepted: it fits into the pool\n"
           "rome/gold: denied: 5 of cpu is more than the 4 that is left\n";
  }));
  CHECK(world.answered("gold") == "Denied");
}
