#include "health.hpp"

#include <doctest/doctest.h>

#include "../kubelet/fakes.hpp"

namespace {

using namespace liqod;
using liqo::test::FakeResponse;

struct World {
  kube::testing::Simulator simulator{1};
  std::string waiting;
  kube::net::HttpHandler handler;

  explicit World(PeerNames names = PeerNames::shown) : handler(serve_health([this] { return waiting; }, names)) {}
  FakeResponse ask(std::string target, std::string method = "GET") {
    FakeResponse response;
    kube::net::ServerRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    simulator.run(handler(request, response));
    return response;
  }
};

}  // namespace

TEST_CASE("probes are told that it lives, and what it waits for") {
  World world;
  CHECK(world.ask("/healthz").status == 200);
  CHECK(world.ask("/readyz?verbose").status == 200);
  world.waiting = "cluster milan has not answered yet";
  CHECK(world.ask("/healthz").status == 200);
  const FakeResponse waiting = world.ask("/readyz");
  CHECK(waiting.status == 503);
  CHECK(waiting.body == "not ready: cluster milan has not answered yet\n");
}

TEST_CASE("nothing else is there, and where peers have numbers none is named") {
  World world(PeerNames::numbered);
  world.waiting = "cluster milan has not answered yet";
  CHECK(world.ask("/readyz").body == "not ready\n");
  CHECK(world.ask("/metrics").status == 404);
  const FakeResponse posted = world.ask("/healthz", "POST");
  CHECK(posted.status == 405);
  CHECK(posted.header("allow") == "GET, HEAD");
}
