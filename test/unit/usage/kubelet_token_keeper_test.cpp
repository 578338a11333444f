#include "usage/kubelet_token_keeper.hpp"

#include <doctest/doctest.h>

#include "../kubelet/fakes.hpp"
#include "kube/async/task_group.hpp"

namespace {

using namespace std::chrono_literals;
using liqo::test::FakeAnswer;

/// An API server that gives a token an hour, token-1 first, unless the test sets another answer.
struct World {
  int issued = 0;
  std::optional<FakeAnswer> refusal;
  std::optional<kube::Failure> failure;
  liqo::test::FakeHome home{[this](const kube::HttpRequest&) -> kube::Result<FakeAnswer> {
    if (failure) return std::unexpected(*failure);
    if (refusal) return *refusal;
    return FakeAnswer{.status = 201,
                      .pieces = {R"({"spec":{"expirationSeconds":3600},"status":{"token":"token-)" +
                                 std::to_string(++issued) + "\"}}"}};
  }};
  liqo::usage::KubeletTokenKeeper keeper{home.environment, home.api, "liqo"};
  kube::async::TaskGroup group{home.simulator.executor()};

  World() { group.spawn(keeper.run()); }
  ~World() { home.simulator.run(group.stop()); }

  std::string after(kube::Duration time) {
    home.simulator.run_for(time);
    return keeper.token();
  }
};

FakeAnswer refused(int code) {
  return {.status = code, .pieces = {R"({"kind":"Status","code":)" + std::to_string(code) + R"(,"message":"no"})"}};
}

}  // namespace

TEST_CASE("the token of kubelets is that of an account of its own, and is renewed after two thirds of its time") {
  World world;
  CHECK(world.after(1s) == "token-1");
  CHECK(world.home.transport.requests.at(0).target ==
        "/api/v1/namespaces/liqo/serviceaccounts/liqo-metric-agent/token");
  CHECK(world.after(39min) == "token-1");
  CHECK(world.after(1min) == "token-2");
  CHECK(world.home.transport.requests.size() == 2);
}

TEST_CASE("where a token for kubelets is refused there is none, until it is given") {
  for (const int code : {403, 404}) {
    CAPTURE(code);
    World world;
    CHECK(world.after(1s) == "token-1");
    world.refusal = refused(code);
    CHECK(world.after(41min).empty());
    const std::size_t asked = world.home.transport.requests.size();
    CHECK(world.after(10min).empty());
    CHECK(world.home.transport.requests.size() - asked == 10);
    world.refusal.reset();
    CHECK(world.after(1min) == "token-2");
  }
}

TEST_CASE("a token that is refused right after an installation is there in seconds") {
  World world;
  world.refusal = refused(403);
  CHECK(world.after(3s).empty());
  world.refusal.reset();
  CHECK(world.after(5s) == "token-1");
}

TEST_CASE("while the API server is away the token of kubelets holds as long as it was given for") {
  World world;
  CHECK(world.after(1s) == "token-1");
  world.failure = kube::Failure(kube::Errc::connect, "no route");
  CHECK(world.after(59min) == "token-1");
  CHECK(world.after(2min).empty());
  world.failure.reset();
  CHECK(world.after(1min) == "token-2");
}

TEST_CASE("a token that a kubelet does not know is replaced, however often kubelets say so") {
  World world;
  CHECK(world.after(2min) == "token-1");
  world.keeper.doubt("of another time");
  CHECK(world.after(1s) == "token-1");
  world.keeper.doubt("token-1");
  CHECK(world.after(1s) == "token-2");
  for (int i = 0; i < 120; ++i) {
    world.keeper.doubt(world.keeper.token());
    world.after(1s);
  }
  CHECK(world.issued >= 3);
  CHECK(world.issued <= 4);
}
