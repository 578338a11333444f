// The name and the rights of the user of these credentials, as the API server knows them.
#include "kube/client/self_review.hpp"

#include <doctest/doctest.h>

#include "kube/testing/simulated_cluster.hpp"

using namespace kube;

namespace {

asio::awaitable<void> ask(Api& api, Result<std::string>& name, Result<bool>& may) {
  name = co_await own_username(api);
  may = co_await may_do(api, {{"verb", "list"}, {"resource", "secrets"}});
}

}  // namespace

TEST_CASE("a user learns its name and its rights") {
  testing::SimulatedCluster rome({.name = "rome", .actor = "liqod-of-rome", .random = 1});
  Result<std::string> name;
  Result<bool> may = false;
  rome.simulator.run(ask(rome.api, name, may));
  CHECK(name == "liqod-of-rome");
  CHECK(may == true);
}
