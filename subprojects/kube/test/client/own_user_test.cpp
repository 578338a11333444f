#include "kube/client/own_user.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "kube/testing/simulated_cluster.hpp"

namespace kube::test {
namespace {

/// Cluster rome, which knows this process by `name`.
struct Cluster : testing::SimulatedCluster {
  explicit Cluster(const std::string& name) : testing::SimulatedCluster({.name = "rome", .actor = name, .random = 2}) {}

  Result<std::string> ask() {
    std::optional<Result<std::string>> answer;
    simulator.run(ask_for(answer));
    return std::move(*answer);
  }

  OwnUser user{api};

 private:
  asio::awaitable<void> ask_for(std::optional<Result<std::string>>& answer) { answer = co_await user.name(); }
};

}  // namespace

TEST_CASE("our own name is asked for once") {
  Cluster world("system:serviceaccount:liqo:liqo");
  CHECK(world.ask() == "system:serviceaccount:liqo:liqo");
  CHECK(world.ask() == "system:serviceaccount:liqo:liqo");
  CHECK(world.link.requests() == 1);
}

TEST_CASE("our own name is asked for again where nobody has answered") {
  Cluster world("system:serviceaccount:liqo:liqo");
  world.link.refuse();
  const auto unknown = world.ask();
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().text().starts_with("asking the cluster who we are"));
  world.link.heal();
  CHECK(world.ask() == "system:serviceaccount:liqo:liqo");
}

TEST_CASE("our own name is asked for again where the answer has none") {
  Cluster world("");
  for (const std::uint64_t times : {1U, 2U}) {
    const auto unknown = world.ask();
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().text() == "the cluster does not say who we are");
    CHECK(world.link.requests() == times);
  }
}

}  // namespace kube::test
