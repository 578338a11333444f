// Heads of HTTP/1.1: what they carry, and what neither a client nor a server writes into one.
#include "kube/net/http/http_client.hpp"
#include "served.hpp"
#include "support/run.hpp"

using namespace kube;
using namespace kube::net;
using namespace kube::test;

namespace {

struct HeadCase {
  const char* title;
  std::string name, value;
  bool carried;
};

/// The status that a client gets, or the code of its failure.
asio::awaitable<std::string> ask(std::uint16_t port, HttpRequest request) {
  wire::ClusterConfig config;
  config.server = {.tls = false, .host = "127.0.0.1", .port = port, .path = ""};
  auto credentials = Credentials::make(std::move(config), real);
  REQUIRE(credentials.has_value());
  HttpClient client(co_await asio::this_coro::executor, real, *credentials);
  auto response = co_await client.send(std::move(request), real.deadline_in(5s));
  std::string said = response ? std::to_string(response->head.status) : std::string(to_string(response.error().code()));
  response = fail(Errc::stopped, "read");
  co_await client.stop();
  co_return said;
}

}  // namespace

TEST_CASE("client and server carry the same headers, and refuse the same") {
  const HeadCase cases[] = {
      {"a plain one", "x-plain", "a b", true},
      {"an empty value", "x-empty", "", true},
      {"a tab", "x-tab", "a\tb", true},
      {"UTF-8", "x-name", "Köln", true},
      {"a value of two lines", "x-split", "a\r\nx-more: b", false},
      {"a lone carriage return", "x-return", "a\rb", false},
      {"a lone line feed", "x-feed", "a\nb", false},
      {"a null byte", "x-null", std::string("a\0b", 3), false},
      {"a control character", "x-control", "a\x7f", false},
      {"a name of two lines", "x-one: a\r\nx-two", "b", false},
      {"a colon in the name", "x:y", "b", false},
      {"a space in the name", "x y", "b", false},
  };
  for (const HeadCase& c : cases) {
    CAPTURE(c.title);
    run([](const HeadCase& with) -> asio::awaitable<void> {
      Served served(co_await asio::this_coro::executor, {},
                    [&with](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                      ServerResponse::Headers headers;
                      if (request.target == "/answer") headers.emplace_back(with.name, with.value);
                      auto sent = co_await response.send(200, std::move(headers), "");
                      CHECK((sent || sent.error().code() == Errc::invalid_input));
                    });
      const std::string asked = co_await ask(
          served.port, {.method = "GET", .target = "/request", .headers = {{with.name, with.value}}, .body = {}});
      CHECK(asked == (with.carried ? "200" : "invalid_input"));
      const std::string answered =
          co_await ask(served.port, {.method = "GET", .target = "/answer", .headers = {}, .body = {}});
      CHECK(answered == (with.carried ? "200" : "500"));
      co_await served.stop();
    }(c));
  }
}
