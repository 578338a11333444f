#include "kube/runtime/remove_object.hpp"

#include <doctest/doctest.h>

#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

class NoBody final : public net::Body {
 public:
  asio::awaitable<Result<std::string>> read() override { co_return std::string(); }
};

/// Answers each request with one status; 0: there is no connection.
class Canned final : public net::Transport {
 public:
  asio::awaitable<Result<net::Response>> send(HttpRequest, Deadline) override {
    if (status == 0) co_return fail(Errc::connect, "nobody answers");
    co_return net::Response{.head = {.status = status, .headers = {}}, .body = std::make_unique<NoBody>()};
  }
  int status = 200;
};

/// "true" and "false" as answered, or the text of the failure.
std::string ask(Simulator& simulator, Api& api, const std::string& name, DeleteOptions options) {
  Result<bool> answer;
  simulator.run([](Api& to, std::string of, DeleteOptions how, auto& out) -> asio::awaitable<void> {
    out = co_await remove_object(to, widgets, {"d", std::move(of)},
                                 {.options = std::move(how), .phase = "removing the widget"});
  }(api, name, std::move(options), answer));
  if (!answer) return answer.error().text();
  return *answer ? "true" : "false";
}

}  // namespace

TEST_CASE("a removal is taken, has nothing to do, or fails by its phase") {
  struct Case {
    int status;
    DeleteOptions options;
    std::string answer;  ///< "fails": with the phase before the text
  };
  const DeleteOptions any, same{.uid = "u-1"}, same_version{.uid = "u-1", .resource_version = "7"};
  const std::vector<Case> cases{
      {200, any, "true"},   {200, same, "true"},          {404, any, "false"}, {404, same, "false"},
      {409, same, "false"}, {409, same_version, "fails"}, {409, any, "fails"}, {403, same, "fails"},
      {500, same, "fails"}, {0, same, "fails"},
  };
  Simulator simulator{1};
  Random random{1};
  Metrics metrics;
  Canned transport;
  Api api{transport, simulator.clock(), random, metrics, {.cluster = "milan"}};
  for (const Case& given : cases) {
    CAPTURE(given.status);
    CAPTURE(given.options.uid);
    CAPTURE(given.options.resource_version);
    transport.status = given.status;
    const std::string answer = ask(simulator, api, "a", given.options);
    if (given.answer == "fails")
      CHECK(answer.starts_with("removing the widget: "));
    else
      CHECK(answer == given.answer);
  }
}

TEST_CASE("an object of another UID under the name stays") {
  RuntimeFixture w;
  w.create("a");
  const auto live = w.server.get(widgets, {"d", "a"});
  REQUIRE(live);
  const std::string uid(string_at(*live, {"metadata", "uid"}));
  CHECK(ask(w.simulator, w.api, "a", {.uid = "another"}) == "false");
  CHECK(w.server.get(widgets, {"d", "a"}));
  CHECK(ask(w.simulator, w.api, "a", {.uid = uid}) == "true");
  CHECK_FALSE(w.server.get(widgets, {"d", "a"}));
  CHECK(ask(w.simulator, w.api, "a", {.uid = uid}) == "false");
}
