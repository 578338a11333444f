// Lists that take their time.
#include <doctest/doctest.h>

#include <memory>
#include <optional>

#include "kube/client/api.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/gzip.hpp"

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

namespace {

/// Answers every list with these bytes, said to be gzip.
class PackingServer final : public net::Transport {
 public:
  PackingServer(VirtualClock& clock, std::string bytes) : clock_(clock), bytes_(std::move(bytes)) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline) override {
    for (const auto& [name, value] : request.headers)
      if (name == "accept-encoding") accepted = value;
    net::Response response{.head = {.status = 200, .headers = {{"content-encoding", "gzip"}}}, .body = nullptr};
    response.body = std::make_unique<SlowList>(clock_, bytes_, 100, 1ms);
    co_return response;
  }
  std::string accepted;

 private:
  VirtualClock& clock_;
  std::string bytes_;
};

Result<wire::ListPage> list_packed(std::string bytes, std::size_t max_bytes = 1 << 20) {
  Simulator simulator(1);
  PackingServer server(simulator.clock(), std::move(bytes));
  Random random(1);
  Metrics metrics;
  Api api(server, simulator.clock(), random, metrics, {.cluster = "milan", .packed_lists = true});
  std::optional<Result<wire::ListPage>> answer;
  const auto ask = [&]() -> asio::awaitable<void> {
    answer.emplace(co_await api.list(resources::pods, "", {}, max_bytes));
  };
  simulator.run(ask());
  CHECK(server.accepted == "gzip");
  return std::move(*answer);
}

}  // namespace

TEST_CASE("a list that comes packed is read, within the same bounds") {
  const auto text = [](std::size_t note) {
    return R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","note":")" + std::string(note, 'x') +
           "\"}}]}";
  };
  const auto page = list_packed(gzip(text(200'000)));
  REQUIRE(page);
  CHECK(page->items.size() == 1);
  const auto bomb = list_packed(gzip(text(20'000'000)));
  REQUIRE_FALSE(bomb);
  CHECK(bomb.error().code() == Errc::too_large);
  const std::string packed = gzip(text(1000));
  const auto cut = list_packed(packed.substr(0, packed.size() - 4));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().text().find("the gzip stream of the list is cut short") != std::string::npos);
  CHECK_FALSE(list_packed("no gzip"));
}
