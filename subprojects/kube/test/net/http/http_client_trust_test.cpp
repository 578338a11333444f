// Whom the client trusts, who it says it is, and how both change while it runs.
#include "client_pair.hpp"
#include "kube/testing/sim/virtual_clock.hpp"
#include "support/temporary_directory.hpp"

namespace kube::test {

TEST_CASE("a server that cannot be trusted is refused with the reason") {
  struct Case {
    std::string title;
    std::vector<std::string> addresses;
    Duration age;
    Duration validity;
    bool right_ca;
    std::string server_name;
    std::string part;
  };
  const Case cases[] = {
      {"wrong CA", {"127.0.0.1"}, 0s, 1h, false, "", "certificate was not accepted: self-signed certificate"},
      {"expired", {"127.0.0.1"}, 48h, 1h, true, "", "certificate has expired"},
      {"not yet valid", {"127.0.0.1"}, -48h, 1h, true, "", "certificate is not yet valid"},
      {"wrong address", {"10.1.2.3"}, 0s, 1h, true, "", "it is not for '127.0.0.1' but for localhost, 10.1.2.3"},
      {"wrong name",
       {"127.0.0.1"},
       0s,
       1h,
       true,
       "kubernetes.default",
       "it is not for 'kubernetes.default' but for localhost, 127.0.0.1"},
      {"the right name", {"10.1.2.3"}, 0s, 1h, true, "localhost", ""},
  };
  run([&cases]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    for (const Case& test : cases) {
      CAPTURE(test.title);
      const auto identity = test::self_signed("server", {}, test.addresses, test.age, test.validity);
      TlsH2Server server(executor, identity);
      server.on_request = [](Connection& connection, std::int32_t id, const H2Server::Request&) {
        connection.h2.answer(id, 200, "fine");
      };
      auto config =
          config_for(server.port(), test.right_ca ? identity.certificate_pem : test::self_signed().certificate_pem);
      config.tls_server_name = test.server_name;
      const std::string where = config.server.host_port();
      HttpClient client(executor, real, credentials(config));
      const std::string answer = co_await ask(client, request_for("/"));
      CAPTURE(answer);
      if (test.part.empty()) {
        CHECK(answer == "200 fine");
      } else {
        CHECK(answer.starts_with("tls: connecting to " + where + ": TLS: the server's "));
        CHECK(contains(answer, test.part));
      }
      co_await client.stop();
      // Only if the kubeconfig says so is a certificate not checked.
      config.insecure_skip_tls_verify = true;
      config.ca_pem.clear();
      HttpClient careless(executor, real, credentials(config));
      const std::string fine = co_await ask(careless, request_for("/"));
      CHECK(fine == "200 fine");
      co_await careless.stop();
      co_await server.stop();
    }
  }());
}

TEST_CASE("a damaged certificate behind the first one is told by its number, in a chain and among authorities") {
  const auto identity = test::self_signed("server");
  const std::string damaged =
      identity.certificate_pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const auto chain = TlsContext::server({.certificate_pem = damaged, .key_pem = identity.key_pem, .client_ca_pem = {}});
  REQUIRE_FALSE(chain);
  CHECK(contains(chain.error().text(), "certificate chain: certificate 2: "));
  const auto authorities = TlsContext::server(
      {.certificate_pem = identity.certificate_pem, .key_pem = identity.key_pem, .client_ca_pem = damaged});
  REQUIRE_FALSE(authorities);
  CHECK(contains(authorities.error().text(), "certificate authority: certificate 2: "));
}

TEST_CASE("the common name of a certificate is not a name that it is for") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    auto made = make_self_signed({.common_name = "server.example", .ip_addresses = {"127.0.0.1"}}, real.wall(), 1h);
    REQUIRE(made.has_value());
    TlsH2Server server(executor, *made);
    auto config = config_for(server.port(), made->certificate_pem);
    config.tls_server_name = "server.example";
    HttpClient client(executor, real, credentials(config));
    const std::string answer = co_await ask(client, request_for("/"));
    CAPTURE(answer);
    CHECK(answer.starts_with("tls: "));
    CHECK(contains(answer, "it is not for 'server.example' but for 127.0.0.1"));
    co_await client.stop();
    co_await server.stop();
  }());
}

TEST_CASE(
    "a server that is not there fails requests at once, with host, port and cause, and is found when it comes back") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    HttpClientOptions options;
    options.first_backoff = 1s;
    options.max_backoff = 1s;
    Pair pair(executor, options);
    pair.server.close_port();
    const std::string where = "connecting to 127.0.0.1:" + std::to_string(pair.server.port());
    std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "connect: " + where + ": Connection refused");
    // Within the backoff nothing is dialled.
    for (int i = 0; i < 10; ++i) answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "connect: " + where + ": Connection refused");
    CHECK(pair.client.counters().connect_failures == 1);
    pair.server.open_port();
    co_await real.sleep(1001ms);
    answer = co_await ask(pair.client, request_for("/back"));
    CHECK(answer == "200 answer to /prefix/back");
    co_await pair.stop();
  }());
}

TEST_CASE("a client that stops ends its TLS connection with close_notify") {
  run([]() -> asio::awaitable<void> {
    Pair pair(co_await asio::this_coro::executor);
    const std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer == "200 answer to /prefix/");
    co_await pair.client.stop();
    Connection& connection = pair.server.connections.front();
    co_await wait_until([&connection] { return connection.closed; });
    CHECK(connection.end == asio::error::eof);
    co_await pair.server.stop();
  }());
}

TEST_CASE("new credentials move new requests to a new connection") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto identity = test::self_signed();
    TlsH2Server server(executor, identity);
    std::string token;
    server.on_request = [&token](Connection& connection, std::int32_t id, const H2Server::Request& request) {
      token = request.headers.at("authorization");
      connection.h2.answer(id, 200);
    };
    auto config = config_for(server.port(), identity.certificate_pem);
    config.token = "one";
    const auto identity_of_client = credentials(config);
    HttpClient client(executor, real, identity_of_client);
    std::string answer = co_await ask(client, request_for("/"));
    CHECK(token == "Bearer one");
    config.token = "two";
    CHECK(identity_of_client->replace(config).has_value());
    answer = co_await ask(client, request_for("/"));
    CHECK(token == "Bearer two");
    CHECK(server.accepted == 2);
    config.ca_pem = "nonsense";
    CHECK_FALSE(identity_of_client->replace(config).has_value());
    answer = co_await ask(client, request_for("/"));
    CHECK(answer == "200 ");
    co_await client.stop();
    co_await server.stop();
  }());
}

TEST_CASE("files of a kubeconfig are read again once they have changed, and not before") {
  testing::VirtualClock clock;
  const TemporaryDirectory directory;
  const auto ca = test::self_signed("ca"), one = test::self_signed("one"), two = test::self_signed("two");
  directory.write("token", "first\n");
  directory.write("ca", ca.certificate_pem);
  directory.write("cert", one.certificate_pem);
  directory.write("key", one.key_pem);
  wire::ClusterConfig config;
  config.server.host = "h";
  config.token_file = directory.at("token");
  config.ca_file = directory.at("ca");
  config.client_certificate_file = directory.at("cert");
  config.client_key_file = directory.at("key");
  auto made = Credentials::make(config, clock);
  REQUIRE(made.has_value());
  Credentials& credentials = **made;
  CHECK(credentials.token() == "first");
  directory.write("token", "second");
  CHECK(credentials.token() == "first");
  clock.advance(10s);
  CHECK(credentials.token() == "second");
  CHECK(credentials.generation() == 1);
  // Certificate and key of different pairs are an in-between state, which is not used.
  directory.write("cert", two.certificate_pem);
  clock.advance(10s);
  CHECK(credentials.generation() == 1);
  directory.write("key", two.key_pem);
  clock.advance(10s);
  CHECK(credentials.generation() == 2);
  // A file that is gone for a moment leaves what was read before.
  directory.remove("token");
  clock.advance(10s);
  CHECK(credentials.token() == "second");

  config.token_file = directory.at("nothing");
  const auto missing = Credentials::make(config, clock);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code() == Errc::missing);
  CHECK(contains(missing.error().text(), "there is no file "));
  config.token_file.clear();
  config.exec.emplace();
  CHECK(Credentials::make(config, clock).error().code() == Errc::unsupported);
}

}  // namespace kube::test
