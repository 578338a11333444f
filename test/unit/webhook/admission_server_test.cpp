#include "webhook/admission_server.hpp"

#include <doctest/doctest.h>

#include "../kubelet/fakes.hpp"
#include "kube/net/tls/x509.hpp"
#include "kube/testing/sim/simulator.hpp"

using namespace liqo::webhook;
using namespace std::chrono_literals;
using liqo::core::admission::Answer;
using liqo::core::admission::Request;
using liqo::test::FakeResponse;
namespace asio = boost::asio;

namespace {

kube::net::TlsContext make_tls() {
  kube::net::CertificateSubject subject;
  subject.common_name = "webhook";
  static const auto pair = kube::net::make_self_signed(subject, kube::WallTime(1767225600s), 1h).value();
  return kube::net::TlsContext::server(
             {.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem, .client_ca_pem = {}})
      .value();
}

struct World {
  kube::testing::Simulator simulator{1};
  kube::testing::VirtualClock& clock = simulator.clock();
  kube::Metrics metrics;
  AdmissionServer server{
      {simulator.executor(), clock, simulator.random(), metrics}, make_tls(), {.address = "127.0.0.1", .port = 0}};
  FakeResponse response;

  World() {
    server.route("/yes", [](const Request&, const Hold&) -> asio::awaitable<Answer> { co_return Answer::allow(); });
    server.route("/no", [](const Request& request, const Hold&) -> asio::awaitable<Answer> {
      co_return Answer::deny("not " + request.name);
    });
    server.route("/throws", [](const Request&, const Hold&) -> asio::awaitable<Answer> {
      throw std::runtime_error("a bug");
      co_return Answer::allow();
    });
    server.route("/hangs", [this](const Request&, const Hold&) -> asio::awaitable<Answer> {
      co_await clock.sleep(1h);
      co_return Answer::allow();
    });
  }

  void handle(std::string method, std::string target, std::string body) {
    kube::net::ServerRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    simulator.run(server.handle(request, response));
  }
  kube::json::object answer() {
    CHECK(response.status == 200);
    const auto review = kube::parse_json(response.body);
    REQUIRE(review);
    return kube::object_at(*review, {"response"});
  }
};

const std::string review = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":
    {"uid":"7f","operation":"CREATE","name":"web","object":{"metadata":{"name":"web"}}}})";

}  // namespace

TEST_CASE("a review is answered by the rule of its path") {
  World world;
  world.handle("POST", "/yes?timeout=10s", review);
  CHECK(kube::string_at(world.answer(), {"uid"}) == "7f");
  CHECK(kube::bool_at(world.answer(), {"allowed"}));
  world.handle("POST", "/no", review);
  CHECK(kube::string_at(world.answer(), {"status", "message"}) == "not web");
}

TEST_CASE("what is no review is refused in words") {
  const struct {
    std::string method, target, body;
    int status;
    std::string_view word;
  } cases[] = {
      {"GET", "/yes", "", 405, "POST"},
      {"POST", "/elsewhere", review, 404, "path"},
      {"POST", "/yes", "", 400, "cannot be read"},
      {"POST", "/yes", review.substr(0, 90), 400, "cannot be read"},
      {"POST", "/yes", R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})", 400, "v1beta1"},
      {"POST", "/yes", std::string(1'000'000, '['), 400, "more than 200000 values"},
      {"POST", "/yes", "[" + std::string(100'000, '[') + "]", 400, "too deep"},
  };
  for (const auto& each : cases) {
    World world;
    world.handle(each.method, each.target, each.body);
    CHECK(world.response.status == each.status);
    CHECK(world.response.body.find(each.word) != std::string::npos);
  }
}

TEST_CASE("a review of millions of values is not parsed, and one for which there is no memory is put off") {
  World world;
  std::string huge = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[1)";
  for (int i = 0; i < 3'000'000; ++i) huge += ",1";
  world.handle("POST", "/yes", huge + "]}");
  CHECK(world.response.status == 400);
  CHECK(world.response.held == 0);
  world.handle("POST", "/yes", review);
  CHECK(kube::bool_at(world.answer(), {"allowed"}));
  CHECK(world.response.held > review.size());
  CHECK(world.response.held < review.size() + 2'000);
  world.response.may_hold = 1;
  world.handle("POST", "/yes", review);
  CHECK(world.response.status == 503);
  // Text in strings is not counted: a long list of words in one field is one value.
  std::string words = review;
  words.insert(words.rfind("\"web\"") + 1, std::string(1'000'000, ','));
  world.response.may_hold = 10'000'000;
  world.handle("POST", "/yes", words);
  CHECK(kube::bool_at(world.answer(), {"allowed"}));
}

TEST_CASE("what a rule reads is held for its review") {
  World world;
  std::vector<bool> had_room;
  world.server.route("/reads", [&](const Request&, const Hold& hold) -> asio::awaitable<Answer> {
    had_room.push_back(hold(100'000));
    co_return Answer::allow();
  });
  world.handle("POST", "/reads", review);
  CHECK(world.response.held > 100'000);
  world.response.may_hold = world.response.held + 50'000;
  world.handle("POST", "/reads", review);
  CHECK(had_room == std::vector<bool>{true, false});
}

TEST_CASE("a rule that fails or hangs is answered for, inside of the review") {
  World world;
  world.handle("POST", "/throws", review);
  CHECK(kube::int_at(world.answer(), {"status", "code"}) == 500);
  world.handle("POST", "/hangs", review);
  CHECK(kube::int_at(world.answer(), {"status", "code"}) == 503);
  CHECK(kube::int_at(world.answer(), {"status", "details", "retryAfterSeconds"}) == 1);
  world.handle("POST", "/yes", review);
  CHECK(kube::bool_at(world.answer(), {"allowed"}));
}

TEST_CASE("a server that is about to stop answers, and asks its callers to come back elsewhere") {
  World world;
  world.handle("POST", "/yes", review);
  CHECK(world.response.header("connection").empty());
  world.server.send_away();
  world.handle("POST", "/yes", review);
  CHECK(kube::bool_at(world.answer(), {"allowed"}));
  CHECK(world.response.header("connection") == "close");
}
