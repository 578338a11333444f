#include "kube/client/access_review.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "kube/testing/sim/simulator.hpp"

namespace kube::test {
namespace {

class WholeBody final : public net::Body {
 public:
  explicit WholeBody(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::string>> read() override { co_return std::exchange(text_, {}); }

 private:
  std::string text_;
};

/// An API server that answers every review with `status`.
struct Reviewer final : net::Transport {
  asio::awaitable<Result<net::Response>> send(HttpRequest request, Deadline) override {
    asked = std::move(request);
    net::Response response;
    response.head.status = code;
    response.body = std::make_unique<WholeBody>(R"({"status":)" + status + "}");
    co_return response;
  }

  int code = 201;
  std::string status;
  HttpRequest asked;
};

struct World {
  testing::Simulator simulator{1};
  Metrics metrics;
  Reviewer reviewer;
  Api api{reviewer, simulator.clock(), simulator.random(), metrics, {.cluster = "rome"}};

  Result<bool> ask() {
    Result<bool> answer;
    simulator.run(ask_for(answer));
    return answer;
  }

 private:
  asio::awaitable<void> ask_for(Result<bool>& answer) {
    answer = co_await has_access(
        api, {{"user", "ann"}, {"resourceAttributes", json::object{{"verb", "list"}, {"resource", "secrets"}}}});
  }
};

}  // namespace

TEST_CASE("a user has a right that is granted, and that nothing denies") {
  World world;
  world.reviewer.status = R"({"allowed":true})";
  CHECK(world.ask() == true);
  CHECK(world.reviewer.asked.method == "POST");
  CHECK(world.reviewer.asked.target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  const json::value sent = parse_json(world.reviewer.asked.body).value();
  CHECK(string_at(sent, {"kind"}) == "SubjectAccessReview");
  CHECK(string_at(sent, {"spec", "user"}) == "ann");
  CHECK(string_at(sent, {"spec", "resourceAttributes", "resource"}) == "secrets");
  for (const char* status : {R"({"allowed":false})", R"({"allowed":true,"denied":true})", "{}"}) {
    CAPTURE(status);
    world.reviewer.status = status;
    CHECK(world.ask() == false);
  }
}

TEST_CASE("whoever may not ask for the rights of others learns that") {
  World world;
  world.reviewer.code = 403;
  world.reviewer.status = R"("Failure")";
  const auto refused = world.ask();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().is_forbidden());
}

}  // namespace kube::test
