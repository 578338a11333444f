#include "kubelet/authorizer.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
namespace asio = boost::asio;

kube::net::ServerRequest request_with_token(std::string token, std::string address = "10.0.0.1") {
  kube::net::ServerRequest request;
  request.peer_address = std::move(address);
  request.headers.emplace_back("authorization", std::move(token));
  return request;
}

/// Knows the token "good", and allows "admin" everything on nodes.
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
      : home(std::move(reply)), authorizer(home.api, kube::Counter(), settings) {}

  std::expected<Caller, Refusal> authenticate(const kube::net::ServerRequest& request) {
    std::expected<Caller, Refusal> out;
    home.simulator.run([](World& w, const kube::net::ServerRequest& r, auto& o) -> asio::awaitable<void> {
      o = co_await w.authorizer.authenticate(r);
    }(*this, request, out));
    return out;
  }
  template <class Access = NodeAccess>
  std::expected<void, Refusal> authorize(const Caller& caller, Access access) {
    std::expected<void, Refusal> out;
    home.simulator.run([](World& w, const Caller& c, Access a, auto& o) -> asio::awaitable<void> {
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
  // Another verb, node or caller needs another review.
  CHECK(world.authorize(admin, {"get", "proxy", "milan"}).has_value());
  CHECK(world.authorize(admin, {"create", "proxy", "turin"}).has_value());
  const auto refused = world.authorize({.name = "eve", .groups = {"a"}}, {"create", "proxy", "milan"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == Refusal{403, "Forbidden (user=eve, verb=create, resource=nodes/proxy of node milan)"});
  CHECK(world.home.transport.requests.size() == 4);
}

TEST_CASE("the narrower right is asked for first, and is enough; then the wider one") {
  std::vector<std::string> asked;
  std::string granted;
  bool down = false;
  World world([&](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    if (down) return kube::fail(kube::Errc::connect, "no way there");
    const auto body = kube::parse_json(request.body).value();
    asked.emplace_back(kube::string_at(body, {"spec", "resourceAttributes", "subresource"}));
    CHECK(kube::string_at(body, {"spec", "resourceAttributes", "name"}) == "milan");
    return FakeAnswer{.status = 201,
                      .pieces = {asked.back() == granted ? R"({"status":{"allowed":true}})" : R"({"status":{}})"}};
  });
  const NodeAccess access{.verb = "get", .subresource = "proxy", .node = "milan", .narrower = "pods"};
  granted = "pods";
  CHECK(world.authorize({.name = "narrow"}, access).has_value());
  CHECK(asked == std::vector<std::string>{"pods"});
  asked.clear();
  granted = "proxy";
  CHECK(world.authorize({.name = "wide"}, access).has_value());
  CHECK(asked == std::vector<std::string>{"pods", "proxy"});
  asked.clear();
  const auto refused = world.authorize({.name = "eve"}, {"get", "metrics", "milan", "pods"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == Refusal{403, "Forbidden (user=eve, verb=get, resource=nodes/metrics of node milan)"});
  down = true;
  CHECK(world.authorize({.name = "other"}, access).error().status == 503);
}

TEST_CASE("who may read a path is asked in its own words, and remembered likewise") {
  World world;
  const Caller admin{.name = "admin", .uid = "7", .groups = {"a"}};
  CHECK(world.authorize(admin, PathAccess{"get", "/metrics"}).has_value());
  CHECK(world.authorize(admin, PathAccess{"get", "/metrics"}).has_value());
  REQUIRE(world.home.transport.requests.size() == 1);
  const auto spec = kube::parse_json(world.home.transport.requests[0].body).value().at("spec");
  CHECK(spec == kube::parse_json(R"({"user":"admin","uid":"7","groups":["a"],
      "nonResourceAttributes":{"verb":"get","path":"/metrics"}})")
                    .value());
  const auto refused = world.authorize({.name = "eve"}, PathAccess{"get", "/metrics"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error() == Refusal{403, "Forbidden (user=eve, verb=get, path=/metrics)"});
}

TEST_CASE("tokens that are refused unseen are counted") {
  FakeHome home(review);
  kube::Counter limited = home.metrics.counter({kube::MetricType::counter, "refused_total", "Refused."});
  Authorizer authorizer(home.api, limited, {.unknown_callers = {.burst = 2}});
  const auto bring = [&](std::string token) {
    home.simulator.run([](Authorizer& a, kube::net::ServerRequest request) -> asio::awaitable<void> {
      static_cast<void>(co_await a.authenticate(request));
    }(authorizer, request_with_token(std::move(token))));
  };
  for (const char* token : {"Bearer a", "Bearer b", "Bearer c", "Bearer d", "Bearer e"}) bring(token);
  CHECK(limited.value() == 3);
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
  World world(review, {.max_entries = 2});
  for (const char* node : {"a", "b", "c"}) CHECK(world.authorize({.name = "admin"}, {"get", "proxy", node}));
  CHECK(world.home.transport.requests.size() == 3);
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "c"}));
  CHECK(world.home.transport.requests.size() == 3);
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "a"}));
  CHECK(world.home.transport.requests.size() == 4);
}

TEST_CASE("unknown tokens of one address are looked at only so often, and harm nobody who is known") {
  World world;
  CHECK(world.authenticate(request_with_token("Bearer good")).has_value());
  const auto asked = [&world] { return world.home.transport.requests.size(); };
  for (int i = 0; i < 1000; ++i) {
    const auto refused = world.authenticate(request_with_token("Bearer bad-" + std::to_string(i)));
    CHECK(refused.error().status == (i < 10 ? 401 : 429));
  }
  CHECK(asked() == 11);
  // A caller who was admitted before stays admitted, at once and after the cached answer has expired, even from the
  // same address.
  CHECK(world.authenticate(request_with_token("Bearer good")).has_value());
  CHECK(asked() == 11);
  world.wait(11s);
  CHECK(world.authenticate(request_with_token("Bearer good")).has_value());
  CHECK(asked() == 12);
  // Other addresses are not affected, and after a minute neither is this one.
  CHECK(world.authenticate(request_with_token("Bearer bad", "10.0.0.2")).error().status == 401);
  world.wait(1min);
  CHECK(world.authenticate(request_with_token("Bearer bad-again")).error().status == 401);
}

TEST_CASE("a token that was good, and is so no more, is a stranger's") {
  bool good = true;
  World world([&good](const kube::HttpRequest&) {
    const char* status = good ? R"({"authenticated":true,"user":{"username":"x"}})" : R"({"authenticated":false})";
    return FakeAnswer{.status = 201, .pieces = {R"({"status":)" + std::string(status) + "}"}};
  });
  CHECK(world.authenticate(request_with_token("Bearer t")).has_value());
  good = false;
  world.wait(11s);
  // The first look finds it out; from then on it counts like any other.
  CHECK(world.authenticate(request_with_token("Bearer t")).error().status == 401);
  for (int i = 0; i < 10; ++i) world.authenticate(request_with_token("Bearer other-" + std::to_string(i)));
  world.wait(5s);
  CHECK(world.authenticate(request_with_token("Bearer t")).error().status == 429);
}

TEST_CASE("good tokens, and reviews that cannot be had, do not count as strangers") {
  bool down = true;
  World world([&down](const kube::HttpRequest&) -> kube::Result<FakeAnswer> {
    if (down) return kube::fail(kube::Errc::connect, "no way there");
    return FakeAnswer{.status = 201, .pieces = {R"({"status":{"authenticated":true,"user":{"username":"x"}}})"}};
  });
  for (int i = 0; i < 30; ++i)
    CHECK(world.authenticate(request_with_token("Bearer t" + std::to_string(i))).error().status == 503);
  down = false;
  for (int i = 0; i < 30; ++i) CHECK(world.authenticate(request_with_token("Bearer t" + std::to_string(i))));
}

TEST_CASE("those who are refused push nobody out who was let in") {
  World world(review, {.max_entries = 4, .unknown_callers = {.burst = 100}});
  CHECK(world.authenticate(request_with_token("Bearer good")).has_value());
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "milan"}).has_value());
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(world.authenticate(request_with_token("Bearer bad-" + std::to_string(i))).has_value());
    CHECK_FALSE(world.authorize({.name = "eve"}, {"get", "proxy", std::to_string(i)}).has_value());
  }
  const std::size_t asked = world.home.transport.requests.size();
  CHECK(world.authenticate(request_with_token("Bearer good")).has_value());
  CHECK(world.authorize({.name = "admin"}, {"get", "proxy", "milan"}).has_value());
  CHECK(world.home.transport.requests.size() == asked);
}

asio::awaitable<void> ask_about(Authorizer& authorizer, std::string token, std::vector<int>& answers) {
  const auto caller = co_await authorizer.authenticate(request_with_token("Bearer " + token));
  answers.push_back(caller ? 200 : caller.error().status);
}

/// That many concurrent requests, which all wait for the API server.
asio::awaitable<void> ask_at_once(World& world, std::string token, int count, std::vector<int>& answers) {
  const auto executor = co_await asio::this_coro::executor;
  const auto held = world.home.transport.held = std::make_shared<kube::async::Event>(executor);
  kube::async::TaskGroup group(executor);
  for (int i = 0; i < count; ++i) group.spawn(ask_about(world.authorizer, token, answers));
  co_await world.home.clock.sleep(1s);
  held->set();
  co_await group.join();
}

TEST_CASE("requests that bring one token at once are one question, and one stranger") {
  World world;
  std::vector<int> answers;
  world.home.simulator.run(ask_at_once(world, "good", 30, answers));
  CHECK(answers == std::vector<int>(30, 200));
  CHECK(world.home.transport.requests.size() == 1);
  answers.clear();
  world.home.simulator.run(ask_at_once(world, "bad", 30, answers));
  CHECK(answers == std::vector<int>(30, 401));
  CHECK(world.home.transport.requests.size() == 2);
  // A failure is returned to all; no caller repeats the review for another one.
  world.home.transport.answer = [](const kube::HttpRequest&) {
    return kube::fail(kube::Errc::connect, "no way there");
  };
  answers.clear();
  world.home.simulator.run(ask_at_once(world, "other", 30, answers));
  CHECK(answers == std::vector<int>(30, 503));
  CHECK(world.home.transport.requests.size() == 3);
}

asio::awaitable<void> ask_and_be_cancelled(World& world, std::vector<int>& answers) {
  const auto executor = co_await asio::this_coro::executor;
  const auto held = world.home.transport.held = std::make_shared<kube::async::Event>(executor);
  kube::async::TaskGroup gone(executor), stays(executor);
  gone.spawn(ask_about(world.authorizer, "good", answers));
  co_await world.home.clock.sleep(1s);
  stays.spawn(ask_about(world.authorizer, "good", answers));
  co_await world.home.clock.sleep(1s);
  co_await gone.stop();
  co_await world.home.clock.sleep(1s);
  held->set();
  co_await stays.join();
}

TEST_CASE("where whoever asks about a token goes away, the next one asks") {
  World world;
  std::vector<int> answers;
  world.home.simulator.run(ask_and_be_cancelled(world, answers));
  CHECK(answers == std::vector<int>{200});
  CHECK(world.home.transport.requests.size() == 2);
}

TEST_CASE("strangers elsewhere take nothing from an address that somebody known came from") {
  World world;
  CHECK(world.authenticate(request_with_token("Bearer good", "10.0.0.9")).has_value());
  for (int i = 0; i < 1000; ++i)
    world.authenticate(request_with_token("Bearer bad-" + std::to_string(i), "10.1.0." + std::to_string(i)));
  // All unknown callers wait by now; a new token of the known one is reviewed.
  CHECK(world.authenticate(request_with_token("Bearer new", "10.0.0.8")).error().status == 429);
  CHECK(world.authenticate(request_with_token("Bearer new", "10.0.0.9")).error().status == 401);
  // Its tokens are bounded, too, and it is trusted only for a time.
  for (int i = 0; i < 9; ++i)
    CHECK(world.authenticate(request_with_token("Bearer x-" + std::to_string(i), "10.0.0.9")).error().status == 401);
  CHECK(world.authenticate(request_with_token("Bearer x-9", "10.0.0.9")).error().status == 429);
}

TEST_CASE("an address that is believed in is so for a time, and is not forgotten for strangers") {
  UnknownCallerLimit limit({.burst = 1, .refill = 1h, .all = 2, .max_addresses = 3, .trust = 10min});
  kube::TimePoint now{};
  limit.trust("friend", now);
  for (int i = 0; i < 100; ++i) limit.take("stranger-" + std::to_string(i), now);
  CHECK_FALSE(limit.take("another", now));
  CHECK(limit.take("friend", now));
  CHECK_FALSE(limit.take("friend", now));
  now += 10min;
  UnknownCallerLimit later({.burst = 1, .refill = 1h, .all = 1, .max_addresses = 3, .trust = 10min});
  later.trust("friend", {});
  CHECK(later.take("stranger", now));
  CHECK_FALSE(later.take("friend", now));
}

TEST_CASE("an address out of many is forgotten, and all together are bounded") {
  UnknownCallerLimit limit({.burst = 2, .refill = 1s, .all = 3, .max_addresses = 2});
  kube::TimePoint now{};
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += limit.take(std::to_string(i), now);
  CHECK(taken == 6);
  now += 1s;
  taken = 0;
  for (int i = 0; i < 100; ++i) taken += limit.take(std::to_string(i), now);
  CHECK(taken == 3);
}
