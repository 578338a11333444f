#include "kube/client/port_forward.hpp"

#include <doctest/doctest.h>

#include <map>

#include "kube/testing/sim/simulator.hpp"
#include "kube/wire/websocket_codec.hpp"
#include "support/byte_pipe.hpp"

namespace {

using namespace kube;
using namespace std::chrono_literals;
using kube::testing::Simulator;
using Stream = std::unique_ptr<net::ByteStream>;

std::string header(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

/// An API server that answers upgrades as a test has set.
class FakeServer final : public net::Upgrader {
 public:
  explicit FakeServer(Simulator& simulator) : simulator_(simulator) {}

  asio::awaitable<Result<net::Upgraded>> upgrade(HttpRequest request, Deadline) override {
    requests.push_back(request);
    net::Upgraded answer;
    const int status = refusals.contains(request.method) ? refusals.at(request.method) : 101;
    answer.head.status = status;
    if (status != 101) {
      answer.refusal = R"({"kind":"Status","status":"Failure","code":)" + std::to_string(status) +
                       R"(,"message":"no )" + request.method + R"("})";
      co_return answer;
    }
    pipes = test::make_pipes(simulator_.executor());
    answer.stream = std::move(pipes.near);
    if (header(request, "upgrade") == "websocket") {
      const std::string key = header(request, "sec-websocket-key");
      answer.head.headers.emplace_back("sec-websocket-protocol", "SPDY/3.1+" + chosen);
      answer.head.headers.emplace_back("sec-websocket-accept",
                                       is_answer ? wire::websocket_accept(key) : "something else");
    } else {
      answer.head.headers.emplace_back("x-stream-protocol-version", chosen);
    }
    co_return answer;
  }

  std::map<std::string, int> refusals;  // by method
  std::string chosen = "portforward.k8s.io";
  bool is_answer = true;  // to the key
  std::vector<HttpRequest> requests;
  test::PipePair pipes;

 private:
  Simulator& simulator_;
};

struct World {
  Simulator simulator{1};
  FakeServer server{simulator};

  Result<Stream> connect() {
    Result<Stream> stream;
    simulator.run([](World& w, Result<Stream>& out) -> asio::awaitable<void> {
      out = co_await connect_port_forward(w.server, w.simulator.clock(), {.ns = "rome-milan", .pod = "web"});
    }(*this, stream));
    return stream;
  }
  std::string methods() const {
    std::string all;
    for (const HttpRequest& request : server.requests) all += request.method + " ";
    return all;
  }
};

}  // namespace

TEST_CASE("port-forward is asked for in a WebSocket, and without one where that is refused") {
  for (const bool refused : {false, true}) {
    CAPTURE(refused);
    World world;
    if (refused) world.server.refusals = {{"GET", 400}};
    const auto stream = world.connect();
    REQUIRE(stream);
    CHECK(world.methods() == (refused ? "GET POST " : "GET "));
    for (const HttpRequest& request : world.server.requests) {
      CHECK(request.target == "/api/v1/namespaces/rome-milan/pods/web/portforward");
    }
    CHECK(header(world.server.requests[0], "sec-websocket-protocol") == "SPDY/3.1+portforward.k8s.io");
    if (refused) {
      CHECK(header(world.server.requests[1], "upgrade") == "SPDY/3.1");
      CHECK(header(world.server.requests[1], "x-stream-protocol-version") == "portforward.k8s.io");
    }
    // Bytes go as they are, or in a frame of a client.
    world.simulator.run([](net::ByteStream& s) -> asio::awaitable<void> { CHECK(co_await s.write("x")); }(**stream));
    CHECK(world.server.pipes.to_far->total == (refused ? 1 : 7));
  }
}

TEST_CASE("a forbidden GET is remembered for an hour, for the commands of the same server, too") {
  World world;
  world.server.refusals = {{"GET", 403}};
  CHECK(world.connect());
  CHECK(world.methods() == "GET POST ");
  CHECK(world.server.manners().no_get_until == world.simulator.clock().now() + 1h);
  world.server.requests.clear();
  CHECK(world.connect());
  CHECK(world.methods() == "POST ");
}

TEST_CASE("refusals are told in the server's words, and answers that do not fit are not taken") {
  struct Case {
    const char* title;
    std::map<std::string, int> refusals;
    const char* chosen;
    bool is_answer;
    const char* words;
  };
  const Case cases[] = {
      {"both refused", {{"GET", 400}, {"POST", 403}}, "portforward.k8s.io", true, "no POST"},
      {"no such pod", {{"GET", 404}}, "portforward.k8s.io", true, "no GET"},
      {"another key", {}, "portforward.k8s.io", false, "the server's WebSocket handshake does not answer ours"},
      {"another protocol in the tunnel",
       {},
       "v4.channel.k8s.io",
       true,
       "the server chose a protocol of port-forward that was not offered"},
      {"another protocol",
       {{"GET", 400}},
       "v4.channel.k8s.io",
       true,
       "the server chose a protocol of port-forward that was not offered"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    world.server.refusals = c.refusals;
    world.server.chosen = c.chosen;
    world.server.is_answer = c.is_answer;
    const auto stream = world.connect();
    REQUIRE_FALSE(stream);
    CHECK(stream.error().text() == c.words);
    if (world.server.pipes.to_far) CHECK(world.server.pipes.to_far->closed);
  }
}
