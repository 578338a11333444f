#include "liqo/kubelet/authorizer.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
namespace asio = boost::asio;

kube::net::ServerRequest request_with_token(std::string token) {
  kube::net::ServerRequest request;
  request.headers.emplace_back("authorization", std::move(token));
  return request;
}

/// Knows the token "good" and lets "admin" do everything to nodes.
kube::Result<FakeAnswer> review(const kube::HttpRequest& request) {
  const auto body = kube::parse_json(request.body).value();
  std::string status;
  if (request.target.ends_with("/tokenreviews")) {
    CHECK(request.target == "/apis/authentication.k8s.io/v1/tokenreviews");
    status =
        kube::string_at(body, {"spec", "token"}) == "good"
            ? R"({"authenticated":true,"user":{"username":"admin","uid":"7","groups":["a","b"],"extra":{"k":["v"]}}})"
            : R"({"authenticated":false,"error":"no"})";
  } else {
    CHECK(request.target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    status = kube::string_at(body, {"spec", "user"}) == "admin" ? R"({"allowed":true})" : R"({"allowed":false})";
  }
  return FakeAnswer{.status = 201, .pieces = {R"({"status":)" + status + "}"}};
}

struct World {
  FakeHome home;
  Authorizer authorizer;
  explicit World(liqo::test::FakeTransport::Answer reply = review, AuthorizerSettings settings = {})
      : home(std::move(reply)), authorizer(home.api, settings) {}

  std::expected<Caller, Refusal> authenticate(const kube::net::ServerRequest& request) {
    std::expected<Caller, Refusal> out;
    home.simulator.run([](World& w, const kube::net::ServerRequest& r, auto& o) -> asio::awaitable<void> {
      o = co_await w.authorizer.authenticate(r);
    }(*this, request, out));
    return out;
  }
  std::expected<void, Refusal> authorize(const Caller& caller, NodeAccess access) {
    std::expected<void, Refusal> out;
    home.simulator.run([](World& w, const Caller& c, NodeAccess a, auto& o) -> asio::awaitable<void> {
      o = co_await w.authorizer.authorize(c, std::move(a));
    }(*this, caller, std::move(access), out));
    return out;
  }
  void wait(kube::Duration time) { home.simulator.run(home.clock.sleep(time), time); }
};

}  // namespace

TEST_CASE("a verified client certificate says who calls, without asking anybody") {
  World world;
  kube::net::ServerRequest request;
  request.peer = kube::net::PeerIdentity{"kube-apiserver", {"system:masters"}};
  const auto caller = world.authenticate(request);
  REQUIRE(caller);
  CHECK(caller->name == "kube-apiserver");
  CHECK(caller->groups == std::vector<std::string>{"system:masters", "system:authenticated"});
  CHECK(world.home.transport.requests.empty());
}

TEST_CASE("a token is reviewed, and the answer is believed for a short time") {
  World world;
  const auto caller = world.authenticate(request_with_token("Bearer good"));
  REQUIRE(caller);
  CHECK(caller->name == "admin");
  CHECK(caller->uid == "7");
  CHECK(caller->groups == std::vector<std::string>{"a", "b"});
  CHECK(world.authenticate(request_with_token("bearer  good")).has_value());
  CHECK(world.home.transport.requests.size() == 1);
  world.wait(11s);
  CHECK(world.authenticate(request_with_token("Bearer good")).has_value());
  CHECK(world.home.transport.requests.size() == 2);
}

TEST_CASE("whoever is nobody is refused with 401") {
  World world;
  CHECK(world.authenticate({}).error().status == 401);
  for (const char* header : {"", "Bearer", "Bearer ", "Basic good", "good", "Bearer bad"}) {
    CAPTURE(header);
    CHECK(world.authenticate(request_with_token(header)).error().status == 401);
  }
  CHECK(world.home.transport.requests.size() == 1);  // only the last is a token
  CHECK(world.authenticate(request_with_token("Bearer bad")).error().status == 401);
  CHECK(world.home.transport.requests.size() == 1);
  world.wait(6s);
  CHECK(world.authenticate(request_with_token("Bearer bad")).error().status == 401);
  CHECK(world.home.transport.requests.size() == 2);
  // A certificate without a name is none.
  kube::net::ServerRequest nameless;
  nameless.peer = kube::net::PeerIdentity{};
  CHECK(world.authenticate(nameless).error().status == 401);
}

TEST_CASE("a caller is let in by the review of what he wants with which node") {
  World world;
  const Caller admin{.name = "admin", .uid = "7", .groups = {"a"}, .extra = {{"k", kube::json::array{"v"}}}};
  CHECK(world.authorize(admin, {"create", "proxy", "milan"}).has_value());
  REQUIRE(world.home.transport.requests.size() == 1);
  const auto spec = kube::parse_json(world.home.transport.requests[0].body).value().at("spec");
  CHECK(spec == kube::parse_json(R"({"user":"admin","uid":"7","groups":["a"],"extra":{"k":["v"]},
      "resourceAttributes":{"verb":"create","version":"v1","resource":"nodes","subresource":"proxy","name":"milan"}})")
                    .value());
  CHECK(world.authorize(admin, {"create", "proxy", "milan"}).has_value());
  CHECK(world.home.transport.requests.size() == 1);
  // Another verb, node, or caller is another question.
  CHECK(world.authorize(admin, {"get", "proxy", "milan"}).has_value());
  CHECK(world.authorize(admin, {"create", "proxy", "turin"}).has_value());
  const auto refused = world.authorize({.name = "eve", .groups = {"a"}}, {"create", "proxy", "milan"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == Refusal{403, "Forbidden (user=eve, verb=create, resource=nodes/proxy of node milan)"});
  CHECK(world.home.transport.requests.size() == 4);
}

TEST_CASE("while the API server cannot be asked nobody is let in, and that is not remembered") {
  bool down = true;
  World world([&down](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    if (down) return kube::fail(kube::Errc::connect, "no way there");
    return review(request);
  });
  CHECK(world.authenticate(request_with_token("Bearer good")).error().status == 503);
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "milan"}).error().status == 503);
  down = false;
  CHECK(world.authenticate(request_with_token("Bearer good")).has_value());
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "milan"}).has_value());
}

TEST_CASE("answers that are no review let nobody in") {
  for (const char* text : {"{}", R"({"status":{"allowed":"yes","authenticated":"yes"}})", R"({"status":[]})",
                           R"({"status":{"allowed":true,"denied":true,"authenticated":true}})"}) {
    CAPTURE(text);
    World world([text](const kube::HttpRequest&) { return FakeAnswer{.status = 201, .pieces = {text}}; });
    CHECK_FALSE(world.authenticate(request_with_token("Bearer good")).has_value());
    CHECK_FALSE(world.authorize({.name = "admin"}, {"get", "proxy", "milan"}).has_value());
  }
}

TEST_CASE("no more answers are kept than the limit") {
  World world(review, {.entries = 2});
  for (const char* node : {"a", "b", "c"}) CHECK(world.authorize({.name = "admin"}, {"get", "proxy", node}));
  CHECK(world.home.transport.requests.size() == 3);
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "c"}));
  CHECK(world.home.transport.requests.size() == 3);
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "a"}));
  CHECK(world.home.transport.requests.size() == 4);
}
