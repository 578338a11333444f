#include "served.hpp"

#include <boost/asio/ssl/stream.hpp>

#include "kube/async/event.hpp"
#include "kube/async/timeout.hpp"
#include "kube/net/http/http_client.hpp"
#include "support/pki.hpp"
#include "support/run.hpp"

namespace {

using namespace kube;
using namespace kube::net;
using namespace std::chrono_literals;
using kube::test::RawSocket;
using kube::test::real;
using kube::test::run;
using kube::test::Served;
using kube::test::talk;

asio::awaitable<void> echo(const ServerRequest& request, ServerResponse& response) {
  std::string text =
      request.method + " " + request.target + " " + std::string(request.header("x-a")) + " " + request.body;
  static_cast<void>(co_await response.send(200, {{"content-type", "text/plain"}}, std::move(text)));
}

}  // namespace

TEST_CASE("requests on one connection are answered in turn, bodies and pipelines included") {
  run([]() -> asio::awaitable<void> {
    Served served(co_await asio::this_coro::executor, {}, echo);
    const std::string answers = co_await talk(served.port,
                                              "GET /one HTTP/1.1\r\nhost: h\r\nX-A: v\r\n\r\n"
                                              "POST /two HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\nbody"
                                              "POST /three HTTP/1.1\r\nhost: h\r\ntransfer-encoding: "
                                              "chunked\r\nconnection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    CHECK(answers.find("GET /one v ") != std::string::npos);
    CHECK(answers.find("POST /two  body") != std::string::npos);
    CHECK(answers.find("POST /three  abcde") != std::string::npos);
    CHECK(answers.find("connection: close") != std::string::npos);
    CHECK(served.server.counters().requests == 3);
    co_await served.stop();
    CHECK(served.server.counters().connections == 0);
  }());
}

TEST_CASE("a request byte by byte is the same request") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Served served(executor, {}, echo);
    RawSocket socket(executor);
    co_await socket.connect(served.port);
    const std::string bytes = "POST /slow HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 3\r\n\r\nabc";
    for (const char c : bytes) co_await socket.send(std::string(1, c));
    const std::string answer = co_await socket.read_all();
    CHECK(answer.ends_with("POST /slow  abc"));
    co_await served.stop();
  }());
}

TEST_CASE("what breaks a limit or the protocol is answered with its status, and nobody else notices") {
  struct Case {
    std::string title;
    std::string bytes;
    std::string status;
  };
  const Case cases[] = {
      {"garbage", "\x16\x03\x01\x02garbage\r\n\r\n", "HTTP/1.1 400 "},
      {"ten megabytes of headers", "GET / HTTP/1.1\r\nx: " + std::string(10U << 20, 'h') + "\r\n\r\n", "HTTP/1.1 431 "},
      {"a body that is announced too large", "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5000\r\n\r\n",
       "HTTP/1.1 413 "},
      {"a chunked body that grows too large",
       "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1388\r\n" + std::string(5000, 'b') +
           "\r\n0\r\n\r\n",
       "HTTP/1.1 413 "},
      {"the head of a chunk that never ends",
       "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1;" + std::string(1U << 20, 'h'),
       "HTTP/1.1 413 "},
      {"a length that is no number", "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: x\r\n\r\n", "HTTP/1.1 400 "},
      {"a header that stops halfway", "GET / HTTP/1.1\r\nhost: h\r\n", ""},
      {"a body that stops halfway", "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\nabc", "HTTP/1.1 408 "},
  };
  run([&cases]() -> asio::awaitable<void> {
    Served served(co_await asio::this_coro::executor,
                  {.tls = {}, .max_body = 4096, .header_timeout = 1s, .body_timeout = 1s, .on_handler_failure = {}},
                  echo);
    for (const Case& test : cases) {
      CAPTURE(test.title);
      const std::string answer = co_await talk(served.port, test.bytes);
      CAPTURE(answer.substr(0, 100));
      CHECK(answer.substr(0, test.status.size()) == test.status);
      CHECK(answer.empty() == test.status.empty());
      CHECK(answer.contains("content-type: text/plain; charset=utf-8\r\n") == !test.status.empty());
    }
    const std::string fine = co_await talk(served.port, "GET /fine HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    CHECK(fine.find("GET /fine") != std::string::npos);
    co_await served.stop();
  }());
}

TEST_CASE("a streamed answer arrives as it is written and ends well") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    async::Event go_on(executor);
    Served served(executor, {}, [&go_on](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
      static_cast<void>(co_await response.start(200, {}));
      static_cast<void>(co_await response.write("first"));
      co_await go_on.wait();
      static_cast<void>(co_await response.write("second"));
    });
    RawSocket socket(executor);
    co_await socket.connect(served.port);
    co_await socket.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
    const std::string early = co_await socket.read_until("5\r\nfirst\r\n");
    CHECK(early.find("transfer-encoding: chunked") != std::string::npos);
    go_on.set();
    co_await socket.read_until("6\r\nsecond\r\n0\r\n\r\n");
    // The connection lives on.
    co_await socket.send("GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    const std::string again = co_await socket.read_all();
    CHECK(again.ends_with("0\r\n\r\n"));
    co_await served.stop();
  }());
}

TEST_CASE("a streamed answer that is aborted ends with the connection and without a last chunk") {
  run([]() -> asio::awaitable<void> {
    Served served(co_await asio::this_coro::executor, {},
                  [](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                    static_cast<void>(co_await response.start(200, {}));
                    static_cast<void>(co_await response.write("first"));
                    if (request.target == "/throw") throw std::runtime_error("boom");
                    response.abort();
                  });
    for (const char* target : {"/abort", "/throw"}) {
      const std::string answer =
          co_await talk(served.port, std::string("GET ") + target + " HTTP/1.1\r\nhost: h\r\n\r\n");
      CHECK(answer.ends_with("5\r\nfirst\r\n"));
    }
    co_await served.stop();
  }());
}

TEST_CASE("a streamed answer that is cut off has no last chunk, unless its handler returns all the same") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Served served(executor, {}, [](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
      static_cast<void>(co_await response.start(200, {}));
      static_cast<void>(co_await response.write("first"));
      if (request.target == "/return")
        static_cast<void>(co_await real.wait_until(real.now() + 1h));  // returns if it is cancelled
      else
        co_await real.sleep(1h);
    });
    for (const bool returns : {false, true}) {
      RawSocket socket(executor);
      co_await socket.connect(served.port);
      co_await socket.send(std::string("GET ") + (returns ? "/return" : "/cut") + " HTTP/1.1\r\nhost: h\r\n\r\n");
      co_await socket.read_until("5\r\nfirst\r\n");
      socket.socket().shutdown(asio::ip::tcp::socket::shutdown_send);
      CHECK(co_await socket.read_all() == (returns ? "0\r\n\r\n" : ""));
    }
    co_await served.stop();
  }());
}

TEST_CASE("a client that goes away cancels the handler that streams to it, also one that has sent much ahead") {
  for (const std::size_t ahead : {0U, 1000U, 1U << 20}) {
    CAPTURE(ahead);
    run([](std::size_t much) -> asio::awaitable<void> {
      const auto executor = co_await asio::this_coro::executor;
      async::Event cancelled(executor);
      Served served(executor, {},
                    [&cancelled](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
                      struct AtEnd {
                        async::Event& event;
                        ~AtEnd() { event.set(); }
                      };
                      const AtEnd at_end{cancelled};
                      static_cast<void>(co_await response.start(200, {}));
                      co_await real.sleep(1h);
                    });
      {
        RawSocket socket(executor);
        co_await socket.connect(served.port);
        co_await socket.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
        co_await socket.read_until("\r\n\r\n");
        co_await socket.send(std::string(much, 'x'));
      }
      const bool seen = co_await cancelled.wait_for(real, 5s);
      CHECK(seen);
      co_await served.stop();
    }(ahead));
  }
}

TEST_CASE("a handler that throws or forgets to answer is a 500, and is told") {
  run([]() -> asio::awaitable<void> {
    std::string told;
    HttpServerOptions options;
    options.on_handler_failure = [&told](std::string_view line, std::string_view what) {
      told = std::string(line) + ": " + std::string(what);
    };
    Served served(co_await asio::this_coro::executor, std::move(options),
                  [](const ServerRequest& request, ServerResponse&) -> asio::awaitable<void> {
                    if (request.target == "/throw") throw std::runtime_error("boom");
                    co_return;
                  });
    for (const char* target : {"/throw", "/forget"}) {
      const std::string answer = co_await talk(
          served.port, std::string("GET ") + target + " HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
      CHECK(answer.starts_with("HTTP/1.1 500 "));
    }
    CHECK(told == "GET /throw: boom");
    co_await served.stop();
  }());
}

TEST_CASE("a stop lets a request under way finish and closes idle connections at once") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    async::Event entered(executor), leave(executor);
    Served served(executor, {}, [&](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
      entered.set();
      co_await leave.wait();
      static_cast<void>(co_await response.send(200, {}, "done"));
    });
    RawSocket busy(executor), idle(executor);
    co_await idle.connect(served.port);
    co_await busy.connect(served.port);
    co_await busy.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
    co_await entered.wait();
    async::TaskGroup group(executor);
    group.spawn(served.server.stop(30s));
    const std::string nothing = co_await idle.read_all();
    CHECK(nothing.empty());
    leave.set();
    const std::string answer = co_await busy.read_all();
    CHECK(answer.ends_with("done"));
    co_await group.join();
    co_await served.tasks.stop();
  }());
}

TEST_CASE("a stop ends what does not finish in time") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    async::Event entered(executor);
    Served served(executor, {}, [&entered](const ServerRequest&, ServerResponse&) -> asio::awaitable<void> {
      entered.set();
      co_await real.sleep(1h);
    });
    RawSocket busy(executor);
    co_await busy.connect(served.port);
    co_await busy.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n");
    co_await entered.wait();
    const auto start = real.now();
    co_await served.server.stop(20ms);
    CHECK(real.now() - start < 5s);
    co_await served.tasks.stop();
  }());
}

TEST_CASE("a port in use and an address that is none are failures with their reason") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Served served(executor, {}, echo);
    HttpServer second(executor, real,
                      {.address = "127.0.0.1", .port = served.port, .tls = {}, .on_handler_failure = {}}, echo);
    const auto taken = second.listen();
    REQUIRE_FALSE(taken.has_value());
    CHECK(taken.error().text() == "listening on 127.0.0.1:" + std::to_string(served.port) + ": Address already in use");
    HttpServer third(executor, real, {.address = "localhost", .port = 0, .tls = {}, .on_handler_failure = {}}, echo);
    CHECK(third.listen().error().code() == Errc::invalid_input);
    co_await served.stop();
  }());
}

TEST_CASE("a server has several ports, which come and go, and counts their connections together") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Served served(executor, {.tls = {}, .max_connections = 2, .on_handler_failure = {}},
                  [](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                    static_cast<void>(co_await response.send(200, {}, "at " + std::to_string(request.port)));
                  });
    const auto second = served.server.open(0);
    REQUIRE(second.has_value());
    CHECK(*second != served.port);
    CHECK(served.server.open(*second).error().code() == Errc::connect);
    const std::string bytes = "GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
    for (const std::uint16_t port : {served.port, *second})
      CHECK((co_await talk(port, bytes)).ends_with("at " + std::to_string(port)));

    // Two in all: a third takes the place of the first, whichever port it came to.
    RawSocket sockets[] = {RawSocket(executor), RawSocket(executor), RawSocket(executor)};
    co_await sockets[0].connect(served.port);
    co_await sockets[1].connect(*second);
    co_await sockets[2].connect(*second);
    CHECK((co_await sockets[0].read_all()).empty());
    CHECK(served.server.counters().connections <= 2);

    served.server.close(*second);
    // Those who are connected are served.
    co_await sockets[2].send(bytes);
    CHECK((co_await sockets[2].read_all()).ends_with("at " + std::to_string(*second)));
    // The port is free.
    HttpServer other(executor, real, {.address = "127.0.0.1", .port = *second, .tls = {}, .on_handler_failure = {}},
                     echo);
    CHECK(other.listen().has_value());
    CHECK((co_await talk(served.port, bytes)).ends_with("at " + std::to_string(served.port)));
    co_await served.stop();
    CHECK(served.server.open(0).error().code() == Errc::closed);
  }());
}

TEST_CASE("with no address given, IPv4 is served too and the peer's address has its usual form") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    HttpServer server(executor, real, {},
                      [](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                        static_cast<void>(co_await response.send(200, {}, "from " + request.peer_address));
                      });
    const auto port = server.listen();
    REQUIRE(port.has_value());
    async::TaskGroup group(executor);
    group.spawn(server.serve());
    const std::string answer = co_await talk(*port, "GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
    CHECK(answer.ends_with("from 127.0.0.1"));
    co_await server.stop(1s);
    co_await group.join();
  }());
}

namespace {

std::shared_ptr<Credentials> credentials(std::uint16_t port, const KeyAndCertificate& server,
                                         const KeyAndCertificate* client = nullptr) {
  wire::ClusterConfig config;
  config.server = {.tls = true, .host = "127.0.0.1", .port = port, .path = ""};
  config.ca_pem = server.certificate_pem;
  if (client != nullptr) {
    config.client_certificate_pem = client->certificate_pem;
    config.client_key_pem = client->key_pem;
  }
  auto made = Credentials::make(std::move(config), real);
  REQUIRE(made.has_value());
  return *made;
}

TlsContext server_tls(const KeyAndCertificate& own, const KeyAndCertificate* client_ca = nullptr) {
  auto made = TlsContext::server({.certificate_pem = own.certificate_pem,
                                  .key_pem = own.key_pem,
                                  .client_ca_pem = client_ca ? client_ca->certificate_pem : std::string_view()});
  REQUIRE(made.has_value());
  return std::move(*made);
}

asio::awaitable<Result<std::string>> get(HttpClient& client) {
  HttpRequest request;
  request.target = "/";
  auto response = co_await client.send(std::move(request), real.deadline_in(5s));
  if (!response) co_return std::unexpected(response.error());
  std::string body;
  while (true) {
    auto chunk = co_await response->body->read();
    if (!chunk) co_return chunk;
    if (chunk->empty()) co_return body;
    body += *chunk;
  }
}

}  // namespace

TEST_CASE("a client certificate is verified against the CA of the moment, and its names reach the handler") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto own = test::self_signed();
    const auto alice = test::self_signed("alice", {"admins", "system:masters"}),
               mallory = test::self_signed("alice", {"admins"});
    HttpServerOptions options;
    options.tls = server_tls(own, &alice);
    Served served(executor, std::move(options),
                  [](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                    std::string who = request.peer ? request.peer->common_name : "nobody";
                    if (request.peer)
                      for (const auto& group : request.peer->organizations) who += "," + group;
                    static_cast<void>(co_await response.send(200, {}, std::move(who)));
                  });
    const auto ask = [&](const KeyAndCertificate* as) -> asio::awaitable<std::string> {
      HttpClient client(executor, real, credentials(served.port, own, as));
      auto answer = co_await get(client);
      co_await client.stop();
      co_return answer ? *answer : "failure: " + answer.error().text();
    };
    std::string answer = co_await ask(nullptr);
    CHECK(answer == "nobody");
    answer = co_await ask(&alice);
    CHECK(answer == "alice,admins,system:masters");
    answer = co_await ask(&mallory);
    CAPTURE(answer);
    CHECK(answer.starts_with("failure: "));
    CHECK(answer.find("refused us") != std::string::npos);
    served.server.replace_tls(server_tls(own, &mallory));
    answer = co_await ask(&mallory);
    CHECK(answer == "alice,admins");
    CHECK(served.server.counters().handshake_failures == 1);
    co_await served.stop();
  }());
}

TEST_CASE("clients that are forgotten show their certificates again, and others stay") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto own = test::self_signed();
    const auto alice = test::self_signed("alice", {}), mallory = test::self_signed("alice", {});
    HttpServerOptions options;
    options.tls = server_tls(own, &alice);
    Served served(
        executor, std::move(options),
        [](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
          static_cast<void>(co_await response.send(200, {}, request.peer ? request.peer->common_name : "nobody"));
        });
    HttpClient known(executor, real, credentials(served.port, own, &alice));
    HttpClient stranger(executor, real, credentials(served.port, own, nullptr));
    const auto ask = [](HttpClient& client) -> asio::awaitable<std::string> {
      auto answer = co_await get(client);
      co_return answer ? *answer : "failure: " + answer.error().text();
    };
    std::string answer = co_await ask(known);
    CHECK(answer == "alice");
    answer = co_await ask(stranger);
    CHECK(answer == "nobody");
    CHECK(served.server.counters().accepted == 2);

    served.server.replace_tls(server_tls(own, &mallory));
    answer = co_await ask(known);  // on the connection that it has
    CHECK(answer == "alice");
    served.server.forget_clients();
    for (int looks = 0; looks < 500 && served.server.counters().connections > 1; ++looks) co_await real.sleep(10ms);
    CHECK(served.server.counters().connections == 1);  // the stranger's
    answer = co_await ask(known);
    CAPTURE(answer);
    CHECK(answer.starts_with("failure: "));
    answer = co_await ask(stranger);
    CHECK(answer == "nobody");
    co_await known.stop();
    co_await stranger.stop();
    co_await served.stop();
  }());
}

TEST_CASE("a TLS connection that the server closes ends with close_notify") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto own = test::self_signed();
    HttpServerOptions options;
    options.tls = server_tls(own);
    Served served(executor, std::move(options), echo);
    for (const bool idle : {false, true}) {
      CAPTURE(idle);
      RawSocket tcp(executor);
      co_await tcp.connect(served.port);
      asio::ssl::context context(asio::ssl::context::tls_client);
      asio::ssl::stream<asio::ip::tcp::socket> tls(std::move(tcp.socket()), context);
      co_await tls.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
      const std::string request =
          std::string("GET / HTTP/1.1\r\nhost: h\r\n") + (idle ? "\r\n" : "connection: close\r\n\r\n");
      co_await asio::async_write(tls, asio::buffer(request), asio::use_awaitable);
      std::string answer(4096, '\0');
      co_await tls.async_read_some(asio::buffer(answer), asio::use_awaitable);
      CHECK(answer.starts_with("HTTP/1.1 200 "));
      if (idle) co_await served.stop();
      boost::system::error_code end;
      co_await tls.async_read_some(asio::buffer(answer), asio::redirect_error(asio::use_awaitable, end));
      CHECK(end == asio::error::eof);
    }
  }());
}

TEST_CASE("a TLS client gets no tickets for sessions that nobody resumes") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    HttpServerOptions options;
    options.tls = server_tls(test::self_signed());
    Served served(executor, std::move(options), echo);
    RawSocket tcp(executor);
    co_await tcp.connect(served.port);
    asio::ssl::context context(asio::ssl::context::tls_client);
    static int tickets;
    tickets = 0;
    SSL_CTX_set_session_cache_mode(context.native_handle(), SSL_SESS_CACHE_CLIENT);
    SSL_CTX_sess_set_new_cb(context.native_handle(), [](SSL*, SSL_SESSION*) { return ++tickets, 0; });
    asio::ssl::stream<asio::ip::tcp::socket> tls(std::move(tcp.socket()), context);
    co_await tls.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    co_await asio::async_write(tls, asio::buffer(std::string_view("GET / HTTP/1.1\r\nhost: h\r\n\r\n")),
                               asio::use_awaitable);
    std::string answer(4096, '\0');
    co_await tls.async_read_some(asio::buffer(answer), asio::use_awaitable);
    CHECK(answer.starts_with("HTTP/1.1 200 "));
    CHECK(tickets == 0);
    co_await served.stop();
  }());
}

TEST_CASE("who is not admitted is answered 401 before a body is read, and is closed") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto own = test::self_signed();
    const auto alice = test::self_signed("alice", {"admins"});
    HttpServerOptions options;
    options.tls = server_tls(own, &alice);
    options.admits = [](const std::optional<PeerIdentity>& peer) { return peer && peer->common_name == "alice"; };
    int handled = 0;
    Served served(executor, std::move(options),
                  [&handled](const ServerRequest&, ServerResponse& response) -> asio::awaitable<void> {
                    ++handled;
                    static_cast<void>(co_await response.send(200, {}, "welcome"));
                  });
    const auto ask = [&](const KeyAndCertificate* as) -> asio::awaitable<int> {
      HttpClient client(executor, real, credentials(served.port, own, as));
      HttpRequest request;
      request.method = "POST";
      request.target = "/";
      request.body = std::string(100, 'x');
      auto answer = co_await client.send(std::move(request), real.deadline_in(5s));
      const int status = answer ? answer->head.status : 0;
      answer = fail(Errc::closed, "read");
      co_await client.stop();
      co_return status;
    };
    int status = co_await ask(nullptr);
    CHECK(status == 401);
    CHECK(handled == 0);
    CHECK(served.server.counters().requests == 0);
    status = co_await ask(&alice);
    CHECK(status == 200);
    CHECK(handled == 1);
    co_await served.stop();
  }());
}

TEST_CASE("an upgrade hands the connection over in both directions, and a refusal brings its words") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto own = test::self_signed();
    HttpServerOptions options;
    options.tls = server_tls(own);
    Served served(executor, std::move(options),
                  [](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                    if (request.header("upgrade") != "ECHO/1") {
                      static_cast<void>(
                          co_await response.send(403, {}, "no " + std::string(request.header("upgrade")) + " here"));
                      co_return;
                    }
                    auto stream = co_await response.upgrade({{"upgrade", "ECHO/1"}});
                    if (!stream) co_return;
                    static_cast<void>(co_await (*stream)->write("hello "));
                    std::string buffer(1000, '\0');
                    while (true) {
                      auto count = co_await (*stream)->read_some(buffer);
                      if (!count || *count == 0) co_return;
                      static_cast<void>(co_await (*stream)->write(std::string_view(buffer).substr(0, *count)));
                    }
                  });
    HttpClient client(executor, real, credentials(served.port, own));
    HttpRequest request;
    request.method = "POST";
    request.target = "/exec";
    request.headers = {{"upgrade", "ECHO/1"}};
    auto upgraded = co_await client.upgrade(std::move(request), real.deadline_in(5s));
    REQUIRE(upgraded.has_value());
    CHECK(upgraded->head.status == 101);
    REQUIRE(upgraded->stream);
    CHECK((co_await upgraded->stream->write("world")).has_value());
    std::string heard, buffer(100, '\0');
    while (heard.size() < 11) {
      auto count = co_await upgraded->stream->read_some(buffer);
      REQUIRE(count.has_value());
      REQUIRE(*count > 0);
      heard.append(buffer, 0, *count);
    }
    CHECK(heard == "hello world");
    upgraded->stream->close();

    HttpRequest other;
    other.target = "/exec";
    other.headers = {{"upgrade", "WS"}};
    auto refused = co_await client.upgrade(std::move(other), real.deadline_in(5s));
    REQUIRE(refused.has_value());
    CHECK(refused->head.status == 403);
    CHECK_FALSE(refused->stream);
    CHECK(refused->refusal == "no WS here");
    co_await client.stop();
    co_await served.stop();
  }());
}
