// What the API server says of the user of these credentials.
#include "kube/client/self_review.hpp"

#include <doctest/doctest.h>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"

using namespace kube;

namespace {

asio::awaitable<void> ask(Api& api, Result<std::string>& name, Result<bool>& may) {
  name = co_await own_username(api);
  may = co_await may_do(api, {{"verb", "list"}, {"resource", "secrets"}});
}

}  // namespace

TEST_CASE("a user learns its name and its rights") {
  testing::Simulator simulator(1);
  testing::FakeApiServer server(simulator.clock());
  testing::SimLink link(simulator, server, "liqod-of-rome");
  testing::SimTransport transport(link);
  Random random(1);
  Metrics metrics;
  Api api(transport, simulator.clock(), random, metrics, {.cluster = "rome"});
  Result<std::string> name;
  Result<bool> may = false;
  simulator.run(ask(api, name, may));
  CHECK(name == "liqod-of-rome");
  CHECK(may == true);
}
