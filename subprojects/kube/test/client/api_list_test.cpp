// Lists that take their time.
#include <doctest/doctest.h>

#include <memory>
#include <optional>

#include "kube/client/api.hpp"
#include "kube/testing/simulator.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

/// A list that comes in pieces, one every `pause`.
class SlowList final : public net::Body {
 public:
  SlowList(VirtualClock& clock, std::string text, std::size_t piece, Duration pause)
      : clock_(clock), text_(std::move(text)), piece_(piece), pause_(pause) {}
  asio::awaitable<Result<std::string>> read() override {
    co_await clock_.sleep(pause_);
    std::string next = text_.substr(0, piece_);
    text_.erase(0, piece_);
    co_return next;
  }

 private:
  VirtualClock& clock_;
  std::string text_;
  std::size_t piece_;
  Duration pause_;
};

class SlowServer final : public net::Transport {
 public:
  SlowServer(VirtualClock& clock, std::size_t piece, Duration pause) : clock_(clock), piece_(piece), pause_(pause) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest, Deadline) override {
    net::Response response;
    response.head.status = 200;
    response.body =
        std::make_unique<SlowList>(clock_,
                                   R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","note":")" +
                                       std::string(1'000'000, 'x') + "\"}}]}",
                                   piece_, pause_);
    co_return response;
  }

 private:
  VirtualClock& clock_;
  std::size_t piece_;
  Duration pause_;
};

Result<wire::ListPage> list(std::size_t piece, Duration pause) {
  Simulator simulator(1);
  SlowServer server(simulator.clock(), piece, pause);
  Random random(1);
  Metrics metrics;
  Api api(server, simulator.clock(), random, metrics, {.cluster = "milan"});
  std::optional<Result<wire::ListPage>> answer;
  const auto ask = [&]() -> asio::awaitable<void> { answer.emplace(co_await api.list(resources::pods, "", {})); };
  simulator.run(ask());
  return std::move(*answer);
}

}  // namespace

TEST_CASE("a list over a slow link has as long as it keeps coming, and no longer") {
  // A megabyte in 50 s: longer than any other answer may take.
  const auto slow = list(20'000, 1s);
  REQUIRE(slow);
  CHECK(slow->items.size() == 1);
  // In half an hour.
  const auto trickle = list(500, 1s);
  REQUIRE_FALSE(trickle);
  CHECK(trickle.error().code() == Errc::timeout);
}
