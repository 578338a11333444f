// The simulated network: what clients see of its faults, and what the server got.
#include <doctest/doctest.h>

#include <string>

#include "../fake/fixture.hpp"
#include "kube/async/task_group.hpp"
#include "kube/testing/link/sim_link.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

struct World {
  explicit World(std::uint64_t seed = 1) : simulator(seed) { server.serve(widgets); }
  Simulator simulator;
  FakeApiServer server{simulator.clock()};
  SimLink link{simulator, server, "client"};
  SimTransport transport{link};
};

HttpRequest create_widget(std::string_view name) { return request::create(widgets, Object(Fixture::widget(name))); }

/// Sends; `code` becomes the HTTP code, or minus the kind of failure.
asio::awaitable<void> send(World& w, HttpRequest request, Duration limit, int& code, std::string* body = nullptr) {
  auto response = co_await w.transport.send(std::move(request), w.simulator.clock().deadline_in(limit));
  code = response ? response->head.status : -static_cast<int>(response.error().code());
  while (response && body) {
    auto piece = co_await response->body->read();
    if (!piece) code = -static_cast<int>(piece.error().code());
    if (!piece || piece->empty()) break;
    *body += *piece;
  }
}

int minus(Errc code) { return -static_cast<int>(code); }

asio::awaitable<void> read_all(World& w, std::string& text, int& failure) {
  WatchOptions options;
  options.timeout = 300s;
  auto response =
      co_await w.transport.send(request::watch(widgets, "d", options), w.simulator.clock().deadline_in(30s));
  while (response) {
    auto piece = co_await response->body->read();
    if (!piece) failure = minus(piece.error().code());
    if (!piece || piece->empty()) co_return;
    text += *piece;
  }
}

}  // namespace

TEST_CASE("a request and its answer take the time of the link") {
  World w;
  FaultRates slow;
  slow.latency_low = slow.latency_high = 50ms;
  w.link.set_faults(slow);
  const auto start = w.simulator.clock().now();
  int code = 0;
  std::string body;
  w.simulator.run(send(w, create_widget("a"), 30s, code, &body));
  CHECK(code == 201);
  CHECK(string_at(json::parse(body), {"metadata", "name"}) == "a");
  CHECK(w.simulator.clock().now() - start == 100ms);
}

TEST_CASE("each fault shows as its failure, and the write was carried out or not") {
  struct Case {
    const char* title;
    double FaultRates::* rate;
    int code;
    int carried_out;  ///< 1 yes, 0 no, -1 either
  };
  const Case cases[] = {
      {"refused", &FaultRates::refused, minus(Errc::connect), 0},
      {"answer lost", &FaultRates::lost_answer, minus(Errc::closed), 1},
      {"throttled", &FaultRates::throttled, 429, 0},
      {"unavailable", &FaultRates::unavailable, 503, 0},
      {"failing", &FaultRates::failing, 500, -1},
      {"body cut", &FaultRates::cut_body, minus(Errc::closed), 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World w;
    FaultRates faults;
    faults.*(c.rate) = 1.0;
    w.link.set_faults(faults);
    int code = 0;
    std::string body;
    w.simulator.run(send(w, create_widget("a"), 30s, code, &body));
    CHECK(code == c.code);
    if (c.carried_out >= 0) CHECK(w.server.list(widgets).size() == static_cast<std::size_t>(c.carried_out));
  }
}

TEST_CASE("a repeatable request whose answer is lost is carried out twice") {
  World w;
  FaultRates faults;
  faults.lost_answer = 1.0;
  int code = 0;
  w.simulator.run(send(w, create_widget("a"), 30s, code));
  const Tree made = w.server.get(widgets, {"d", "a"});
  w.link.set_faults(faults);
  json::object next = *made;
  next["spec"].as_object()["size"] = 2;
  w.simulator.run(send(w, request::replace(widgets, Object(next)), 30s, code));
  CHECK(code == 409);
  CHECK(int_at(*w.server.get(widgets, {"d", "a"}), {"spec", "size"}) == 2);
}

TEST_CASE("behind a partition nothing arrives, and nobody is told before the keep-alive") {
  World w;
  int code = 0, failure = 0;
  std::string text;
  async::TaskGroup group(w.simulator.executor());
  group.spawn(read_all(w, text, failure));
  w.simulator.run_for(1s);
  w.link.partition();
  CHECK(w.server.create(widgets, Fixture::widget("missed"), "other").has_value());
  group.spawn(send(w, create_widget("a"), 60s, code));
  w.simulator.run_for(9s);
  CHECK(code == 0);
  CHECK(text.empty());
  w.simulator.run_for(2s);
  CHECK(code == minus(Errc::connect));
  w.simulator.run_for(20s);
  CHECK(failure == minus(Errc::closed));
  CHECK_FALSE(w.server.get(widgets, {"d", "a"}));
  w.simulator.run(group.stop());
}

TEST_CASE("a short partition only delays") {
  World w;
  int code = 0, failure = 0;
  std::string text;
  async::TaskGroup group(w.simulator.executor());
  group.spawn(read_all(w, text, failure));
  w.simulator.run_for(1s);
  w.link.partition();
  CHECK(w.server.create(widgets, Fixture::widget("late"), "other").has_value());
  group.spawn(send(w, create_widget("a"), 60s, code));
  w.simulator.run_for(5s);
  w.link.heal();
  w.simulator.run_for(1s);
  CHECK(code == 201);
  CHECK(failure == 0);
  CHECK(text.find("late") != std::string::npos);
  w.simulator.run(group.stop());
}

TEST_CASE("what a client gave up, or died over, may still be carried out") {
  int carried_out = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    World w(seed);
    FaultRates faults;
    faults.latency_low = faults.latency_high = 5s;
    w.link.set_faults(faults);
    int code = 0;
    async::TaskGroup group(w.simulator.executor());
    if (seed % 2 == 0) {
      w.simulator.run(send(w, create_widget("a"), 1s, code));
      CHECK(code == minus(Errc::timeout));
    } else {
      group.spawn(send(w, create_widget("a"), 30s, code));
      w.simulator.run_for(1s);
      w.simulator.run(group.stop());
      CHECK(code == 0);
    }
    w.simulator.run_for(10s);
    carried_out += static_cast<int>(w.server.list(widgets).size());
  }
  CHECK(carried_out > 5);
  CHECK(carried_out < 35);
}

TEST_CASE("a refusing server closes watches and refuses connections until it is back") {
  World w;
  int code = 0, failure = 0;
  std::string text;
  async::TaskGroup group(w.simulator.executor());
  group.spawn(read_all(w, text, failure));
  w.simulator.run_for(1s);
  w.link.refuse();
  w.simulator.run(send(w, create_widget("a"), 30s, code));
  CHECK(code == minus(Errc::connect));
  CHECK(failure == minus(Errc::closed));
  w.link.heal();
  w.simulator.run(send(w, create_widget("a"), 30s, code));
  CHECK(code == 201);
  w.simulator.run(group.stop());
}

TEST_CASE("the same seed gives the same run, another one another") {
  const auto history = [](std::uint64_t seed) {
    World w(seed);
    FaultRates faults;
    faults.refused = faults.lost_answer = faults.throttled = faults.failing = 0.2;
    w.link.set_faults(faults);
    std::string log;
    for (int i = 0; i < 30; ++i) {
      int code = 0;
      w.simulator.run(send(w, create_widget("w" + std::to_string(i)), 30s, code));
      log += std::to_string(code) + "@" + std::to_string(w.simulator.clock().now().time_since_epoch().count()) + " ";
    }
    return log;
  };
  CHECK(history(7) == history(7));
  CHECK(history(7) != history(8));
}
