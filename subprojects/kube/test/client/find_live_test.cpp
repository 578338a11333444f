#include "kube/client/find_live.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "kube/testing/sim/simulator.hpp"

using namespace kube;

namespace {

class OneText final : public net::Body {
 public:
  explicit OneText(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::string>> read() override { co_return std::exchange(text_, {}); }

 private:
  std::string text_;
};

/// Answers each request with one status and one text; 0: there is no connection.
class Canned final : public net::Transport {
 public:
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline) override {
    targets.push_back(request.target);
    if (status == 0) co_return fail(Errc::connect, "nobody answers");
    co_return net::Response{.head = {.status = status, .headers = {}}, .body = std::make_unique<OneText>(text)};
  }
  int status = 200;
  std::string text;
  std::vector<std::string> targets;
};

}  // namespace

TEST_CASE("what is read live is there, is not there, or cannot be read") {
  struct Case {
    int status;
    std::string text;
    std::string found;  ///< the UID; "none" = the object is not there; "fails"
  };
  const std::vector<Case> cases{
      {200, R"({"metadata": {"name": "web", "namespace": "shop", "uid": "u-1"}})", "u-1"},
      {404, R"({"kind": "Status", "code": 404, "reason": "NotFound"})", "none"},
      {404, "404 page not found", "none"},
      {403, R"({"kind": "Status", "code": 403, "reason": "Forbidden"})", "fails"},
      {410, R"({"kind": "Status", "code": 410, "reason": "Gone"})", "fails"},
      {500, "", "fails"},
      {0, "", "fails"},
  };
  testing::Simulator simulator{1};
  Random random{1};
  Metrics metrics;
  Canned transport;
  Api api{transport, simulator.clock(), random, metrics, {.cluster = "milan"}};
  for (const Case& given : cases) {
    CAPTURE(given.status);
    CAPTURE(given.text);
    transport.status = given.status;
    transport.text = given.text;
    std::string found;
    simulator.run([](Api& from, std::string& out) -> asio::awaitable<void> {
      const auto live = co_await find_live(from, resources::pods, {"shop", "web"});
      if (!live)
        out = "fails";
      else
        out = *live ? std::string((*live)->uid()) : "none";
    }(api, found));
    CHECK(found == given.found);
    CHECK(transport.targets.back() == "/api/v1/namespaces/shop/pods/web");
  }
}
