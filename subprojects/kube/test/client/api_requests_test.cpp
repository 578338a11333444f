// The requests that an Api sends, and when: arguments, pauses, the fence.
#include <doctest/doctest.h>

#include <deque>
#include <utility>

#include "kube/client/api.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace {

using namespace kube;
using namespace std::chrono_literals;

/// A body that is there at once.
class ReadyBody final : public net::Body {
 public:
  explicit ReadyBody(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::string>> read() override { co_return std::exchange(text_, {}); }

 private:
  std::string text_;
};

/// Gives the answers that a test has set, and records the requests and their times.
class Recorder final : public net::Transport {
 public:
  struct Answer {
    int status = 200;
    std::string retry_after, body = {};
  };

  explicit Recorder(async::Clock& clock) : clock_(clock) {}

  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline) override {
    requests.push_back(std::move(request));
    times.push_back(clock_.now());
    Answer answer;
    if (!answers.empty()) {
      answer = answers.front();
      answers.pop_front();
    }
    net::Response response;
    response.head.status = answer.status;
    if (!answer.retry_after.empty()) response.head.headers.emplace_back("retry-after", answer.retry_after);
    response.body = std::make_unique<ReadyBody>(std::move(answer.body));
    co_return response;
  }

  std::deque<Answer> answers;
  std::vector<HttpRequest> requests;
  std::vector<TimePoint> times;

 private:
  async::Clock& clock_;
};

struct World {
  testing::Simulator simulator{1};
  Random random{1};
  Metrics metrics;
  Recorder transport{simulator.clock()};
  bool may_write = true;
  Api api{
      transport, simulator.clock(), random, metrics, {.cluster = "rome", .may_write = [this] { return may_write; }}};

  /// Awaits a call, whatever it answers; true if it went well.
  template <class T>
  std::optional<Failure> run(asio::awaitable<Result<T>> call) {
    std::optional<Failure> failure;
    simulator.run([](asio::awaitable<Result<T>> pending, std::optional<Failure>& out) -> asio::awaitable<void> {
      auto answer = co_await std::move(pending);
      if (!answer) out = std::move(answer.error());
    }(std::move(call), failure));
    return failure;
  }
};

}  // namespace

TEST_CASE("what the arguments of a call refer to is read at the call, not when it is awaited") {
  World world;
  std::string ns = "shop", subresource = "status", manager = "liqod-of-rome";
  auto kind = resources::pods;
  Object object(json::object{{"metadata", {{"name", "web"}, {"namespace", ns}}}});
  auto got = world.api.get(kind, {ns, "web"}, subresource);
  auto removed = world.api.remove(kind, {ns, "web"}, {.uid = "u1"});
  auto listed = world.api.list(kind, ns, {.limit = 7});
  auto watched = world.api.watch(kind, ns, {.resource_version = "9"});
  auto applied = world.api.apply(kind, object, manager, subresource);
  auto replaced = world.api.replace(kind, object, {.subresource = subresource});
  auto collected = world.api.remove_collection(kind, ns, {.label_selector = "a=b"});
  auto posted = world.api.post(kind, {ns, "web"}, subresource, {});
  // None of it is there any more.
  for (std::string* each : {&ns, &subresource, &manager}) std::ranges::fill(*each, 'x');
  kind = resources::nodes;
  object = Object();
  static_cast<void>(world.run(std::move(got)));
  static_cast<void>(world.run(std::move(removed)));
  static_cast<void>(world.run(std::move(listed)));
  static_cast<void>(world.run(std::move(watched)));
  static_cast<void>(world.run(std::move(applied)));
  static_cast<void>(world.run(std::move(replaced)));
  static_cast<void>(world.run(std::move(collected)));
  static_cast<void>(world.run(std::move(posted)));
  const std::string pods = "/api/v1/namespaces/shop/pods";
  std::vector<std::string> targets;
  for (const HttpRequest& each : world.transport.requests) targets.push_back(each.target);
  CHECK(targets ==
        std::vector<std::string>{pods + "/web/status", pods + "/web", pods + "?limit=7",
                                 pods + "?watch=true&allowWatchBookmarks=true&resourceVersion=9&timeoutSeconds=300",
                                 pods + "/web/status?fieldManager=liqod-of-rome&force=true", pods + "/web/status",
                                 pods + "?labelSelector=a%3Db", pods + "/web/status"});
}

TEST_CASE("a request that is put off waits for the longer of its own pause and the server's") {
  struct Case {
    std::string title;
    std::vector<std::string> retry_after;
    std::vector<std::chrono::seconds> at_least;  ///< between one sending and the next; a fifth of it may come on top
  };
  const Case cases[] = {
      {"the server asks for nothing", {"", "", ""}, {1s, 2s, 4s}},
      {"the server asks for less", {"0", "1", "0"}, {1s, 2s, 4s}},
      {"the server asks for more", {"5", "0", "6"}, {5s, 2s, 6s}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.title);
    World world;
    for (const std::string& text : each.retry_after) world.transport.answers.push_back({429, text});
    CHECK_FALSE(world.run(world.api.raw("/version", 60s)).has_value());
    REQUIRE(world.transport.times.size() == each.at_least.size() + 1);
    for (std::size_t i = 0; i < each.at_least.size(); ++i) {
      const Duration pause = world.transport.times[i + 1] - world.transport.times[i];
      CHECK(pause >= each.at_least[i]);
      CHECK(pause <= each.at_least[i] * 1.2);
    }
  }
}

TEST_CASE("a pause beyond the deadline fails at once, and the failure says for how long to wait") {
  for (const std::string text : {"31", "1000000000000000000"}) {
    World world;
    world.transport.answers.push_back({429, text});
    const auto failure = world.run(world.api.raw("/version", 30s));
    REQUIRE(failure);
    CHECK(failure->http_code() == 429);
    CHECK(failure->status()->retry_after == (text == "31" ? 31s : 300s));
    CHECK(world.transport.requests.size() == 1);
    CHECK(world.simulator.clock().now() - world.transport.times[0] < 1s);
  }
}

TEST_CASE("a refusal that quotes a long value keeps its message, its reason and its pause") {
  World w;
  const std::string quoted(100'000, 'x');
  w.transport.answers = {{422, "",
                          R"({"kind":"Status","code":422,"reason":"Invalid","message":"the value )" + quoted +
                              R"(","details":{"retryAfterSeconds":7}})"}};
  const auto failure = w.run(w.api.get(resources::pods, {"d", "p"}));
  REQUIRE(failure);
  CHECK(failure->status()->reason == "Invalid");
  CHECK(failure->text().contains("the value xxx"));
  CHECK(failure->status()->retry_after == 7s);
}

TEST_CASE("a collection is deleted however long the answer is") {
  World w;
  w.transport.answers = {{200, "", std::string(20 << 20, ' ')}};
  CHECK_FALSE(w.run(w.api.remove_collection(resources::pods, "d", {})));
}

TEST_CASE("writes take the fence along, for whoever sends them later") {
  World world;
  static_cast<void>(world.run(world.api.get(resources::pods, {"shop", "web"})));
  static_cast<void>(world.run(world.api.remove(resources::pods, {"shop", "web"})));
  REQUIRE(world.transport.requests.size() == 2);
  CHECK_FALSE(world.transport.requests[0].may_send);
  REQUIRE(world.transport.requests[1].may_send);
  CHECK(world.transport.requests[1].may_send());
  world.may_write = false;
  CHECK_FALSE(world.transport.requests[1].may_send());
  const auto refused = world.run(world.api.remove(resources::pods, {"shop", "web"}));
  REQUIRE(refused);
  CHECK(refused->code() == Errc::stopped);
  CHECK(world.transport.requests.size() == 2);
}
