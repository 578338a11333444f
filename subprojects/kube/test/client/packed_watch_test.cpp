// Watches that bring a list, and are asked for as gzip.
#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/client/api.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/gzip.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

class Pieces final : public net::Body {
 public:
  Pieces(VirtualClock& clock, std::vector<std::string> pieces) : clock_(clock), pieces_(pieces.begin(), pieces.end()) {}
  asio::awaitable<Result<std::string>> read() override {
    co_await clock_.sleep(1ms);
    if (pieces_.empty()) co_return std::string();
    std::string next = std::move(pieces_.front());
    pieces_.pop_front();
    co_return next;
  }

 private:
  VirtualClock& clock_;
  std::deque<std::string> pieces_;
};

/// Answers every watch with these pieces, said to be gzip or not.
class WatchedServer final : public net::Transport {
 public:
  WatchedServer(VirtualClock& clock, std::vector<std::string> pieces, bool packs)
      : clock_(clock), pieces_(std::move(pieces)), packs_(packs) {}
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline) override {
    for (const auto& [name, value] : request.headers)
      if (name == "accept-encoding") accepted = value;
    net::Response response{.head = {.status = 200, .headers = {}}, .body = std::make_unique<Pieces>(clock_, pieces_)};
    if (packs_) response.head.headers.emplace_back("content-encoding", "gzip");
    co_return response;
  }
  std::string accepted;

 private:
  VirtualClock& clock_;
  std::vector<std::string> pieces_;
  bool packs_;
};

std::string event(const std::string& name, std::size_t note = 0) {
  return R"({"type":"ADDED","object":{"metadata":{"name":")" + name + R"("},"note":")" + std::string(note, 'x') +
         "\"}}\n";
}

struct Watched {
  std::string accepted;            ///< what was asked for
  std::vector<std::string> names;  ///< of the objects that were read
  std::string end;                 ///< "" = that of every watch, otherwise the failure's words
};

struct Asked {
  bool packed_lists = true, initial = true;
};

Watched watch(std::vector<std::string> pieces, bool packs = true, Asked asked = {}) {
  Simulator simulator(1);
  WatchedServer server(simulator.clock(), std::move(pieces), packs);
  Random random(1);
  Metrics metrics;
  Api api(server, simulator.clock(), random, metrics, {.cluster = "milan", .packed_lists = asked.packed_lists});
  Watched seen;
  const auto read = [&]() -> asio::awaitable<void> {
    auto stream = co_await api.watch(resources::pods, "", {.send_initial_events = asked.initial});
    REQUIRE(stream);
    while (true) {
      auto next = co_await stream->next();
      if (!next) seen.end = next.error().text();
      if (!next || !*next) co_return;
      seen.names.emplace_back(string_at((*next)->object, {"metadata", "name"}));
    }
  };
  simulator.run(read());
  seen.accepted = server.accepted;
  return seen;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a streamed list that comes packed is read, and what follows it as it comes") {
  const std::string later = gzip(event("c"));
  const Watched seen = watch({gzip(event("a") + event("b")), later.substr(0, 9), later.substr(9), gzip(event("d"))});
  CHECK(seen.accepted == "gzip");
  CHECK(seen.names == Names{"a", "b", "c", "d"});
  CHECK(seen.end == "");
}

TEST_CASE("servers that pack no watch are read all the same") {
  const Watched seen = watch({event("a"), event("b")}, false);
  CHECK(seen.accepted == "gzip");
  CHECK(seen.names == Names{"a", "b"});
}

TEST_CASE("only lists are asked for as gzip, and only of servers that are far") {
  CHECK(watch({event("a")}, false, {.initial = false}).accepted == "");
  CHECK(watch({event("a")}, false, {.packed_lists = false}).accepted == "");
}

TEST_CASE("a packed watch that is cut short, or is no gzip, has failed") {
  const std::string packed = gzip(event("a"));
  CHECK(watch({packed, packed.substr(0, 12)}).end.find("the gzip stream of the body is cut short") !=
        std::string::npos);
  CHECK(watch({packed, "no gzip"}).end.find("a body that is said to be gzip is not") != std::string::npos);
  // The beginning of an event that is too long is read, however small it was packed.
  const Watched bomb = watch({gzip(event("a", 20'000'000) + event("b"))});
  CHECK(bomb.names == Names{"a", "b"});
}
