// The memory that the answers of a server may take, whatever it answers.
#include <doctest/doctest.h>

#include <memory>
#include <optional>

#include "kube/client/api.hpp"
#include "kube/testing/sim/simulator.hpp"

using namespace kube;
using namespace kube::testing;

namespace {

constexpr std::size_t mebibyte = 1u << 20;

class Text final : public net::Body {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  asio::awaitable<Result<std::string>> read() override {
    std::string piece = text_.substr(at_, 1 << 16);
    at_ += piece.size();
    co_return piece;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

class Answering final : public net::Transport {
 public:
  int status = 200;
  std::string body;
  asio::awaitable<Result<net::Response>> send(HttpRequest, Deadline) override {
    net::Response response{.head = {.status = status, .headers = {}}, .body = std::make_unique<Text>(body)};
    co_return response;
  }
};

struct World {
  Simulator simulator{1};
  Random random{1};
  Metrics metrics;
  Answering server;
  std::shared_ptr<MemoryAccount> account = std::make_shared<MemoryAccount>("cluster milan", 64 * mebibyte, nullptr);
  std::optional<Api> api{std::in_place, server,  simulator.clock(),
                         random,        metrics, ApiSettings{.cluster = "milan", .account = account}};

  template <class Answer>
  Answer run(asio::awaitable<Answer> question) {
    std::optional<Answer> answer;
    simulator.run([](auto& out, auto asked) -> asio::awaitable<void> { out.emplace(co_await std::move(asked)); }(
                                                answer, std::move(question)));
    return std::move(*answer);
  }
};

std::string dense(std::string begin, std::string_view element, std::size_t bytes) {
  while (begin.size() < bytes) begin += element;
  return begin;
}

const ObjectKey key{"d", "a"};
const std::string begin = R"({"kind":"Pod","metadata":{"name":"a"},"status":{"x":[0)";

}  // namespace

TEST_CASE("an object of dense JSON is refused within the memory of its server's account, by every verb") {
  World w;
  w.server.body = dense(begin, ",0", 8 * mebibyte) + "]}}";
  const Object object = Object::make(resources::pods, key);
  const auto is_refused = [&](const auto& answer) {
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == Errc::too_large);
    CHECK(answer.error().text().find("more memory than is left for what is read of cluster milan") !=
          std::string::npos);
    CHECK(w.account->held() == 0);
  };
  is_refused(w.run(w.api->get(resources::pods, key)));
  is_refused(w.run(w.api->create(resources::pods, object)));
  is_refused(w.run(w.api->patch(resources::pods, key, {PatchType::merge, "{}"})));
  is_refused(w.run(w.api->post(resources::pods, key, "eviction", json::object())));
  w.server.body = dense(R"({"metadata":{},"items":[[])", ",[]", 8 * mebibyte) + "]}";
  is_refused(w.run(w.api->list(resources::pods, "", {})));
  w.server.body = dense(R"({"type":"ADDED","object":)" + begin, ",0", 8 * mebibyte) + "]}}}\n";
  auto stream = w.run(w.api->watch(resources::pods, "", {}));
  REQUIRE(stream);
  is_refused(w.run(stream->next()));
}

TEST_CASE("an answer that is longer than any object of Kubernetes is refused") {
  World w;
  w.server.body = begin + std::string(16 * mebibyte, ' ') + "]}}";
  const auto answer = w.run(w.api->get(resources::pods, key));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Errc::too_large);
  CHECK(w.account->held() == 0);
}

TEST_CASE("the words of a refusal are told where its document is too dense to be read") {
  World w;
  w.account->set_limit(mebibyte);
  w.server.status = 500;
  w.server.body = dense(R"({"kind":"Status","message":"no","x":[0)", ",0", 200'000) + "]}";
  const auto answer = w.run(w.api->get(resources::pods, key));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().http_code() == 500);
  CHECK(answer.error().text().find(R"({"kind":"Status","message":"no")") != std::string::npos);
  CHECK(w.account->held() == 0);
}

TEST_CASE("an object outlives the Api that has read it, and may be changed where its server is at its bound") {
  World w;
  w.server.body = begin + "]}}";
  auto answer = w.run(w.api->get(resources::pods, key));
  REQUIRE(answer);
  const std::size_t held = w.account->held();
  CHECK(held > 0);
  CHECK(held < 10'000);
  w.account->take(64 * mebibyte);
  CHECK_FALSE(w.run(w.api->get(resources::pods, key)));
  w.api.reset();
  w.account->give_back(64 * mebibyte);
  const std::weak_ptr<MemoryAccount> account = w.account;
  w.account.reset();
  for (int i = 0; i < 1000; ++i) answer->set_label("label-" + std::to_string(i), "x");
  const Object copy = *answer;
  answer = fail(Errc::closed, "gone");
  CHECK(account.expired());
  CHECK(copy.labels().size() == 1000);
}
