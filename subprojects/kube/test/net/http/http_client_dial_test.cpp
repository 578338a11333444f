// The way to a connection: names, several addresses, and what a client gives up on the way.
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <future>

#include "client_pair.hpp"
#include "kube/net/http/http_server.hpp"

namespace kube::test {

namespace {

const Resolver::Addresses here{asio::ip::address_v4::loopback()};

/// A name server that never answers for names that begin with "hanging", until it is let go.
class NameServer {
 public:
  ~NameServer() { let_go_.set_value(); }

  std::shared_ptr<Resolver> resolver(std::size_t threads) const {
    return std::make_shared<Resolver>(
        [asked = asked_, gone = gone_](const std::string& host) -> Result<Resolver::Addresses> {
          ++*asked;
          if (host.starts_with("hanging")) gone.wait();
          if (host.starts_with("unknown")) return fail(Errc::connect, "nobody knows it");
          return here;
        },
        threads);
  }
  int asked() const { return *asked_; }

 private:
  std::promise<void> let_go_;
  std::shared_future<void> gone_ = let_go_.get_future().share();
  std::shared_ptr<std::atomic<int>> asked_ = std::make_shared<std::atomic<int>>(0);  // its threads outlive the test
};

/// A port that takes no more connections and refuses none: its queue is full.
class DeadPort {
 public:
  DeadPort(const asio::any_io_executor& executor, const std::string& address, std::uint16_t port)
      : acceptor_(executor) {
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address), port);
    acceptor_.open(endpoint.protocol());
    acceptor_.bind(endpoint);
    acceptor_.listen(0);
    for (int i = 0; i < 4; ++i) {
      auto& socket = waiting_.emplace_back(executor);
      socket.open(endpoint.protocol());
      socket.non_blocking(true);
      // Asio would wait for it.
      static_cast<void>(::connect(socket.native_handle(), endpoint.data(), static_cast<socklen_t>(endpoint.size())));
    }
  }

 private:
  asio::ip::tcp::acceptor acceptor_;
  std::list<asio::ip::tcp::socket> waiting_;
};

/// Gives "token-1", "token-2" and so on.
class CountingPlugin final : public CredentialPlugin {
 public:
  asio::awaitable<Result<wire::ExecCredential>> ask(wire::ClusterConfig) override {
    co_return wire::ExecCredential{.token = "token-" + std::to_string(++asked_)};
  }

 private:
  int asked_ = 0;
};

}  // namespace

TEST_CASE("a name server that never answers holds up neither others nor the end") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    NameServer names;
    const auto resolver = names.resolver(2);
    Pair fine(executor, {.resolver = resolver});
    HttpClient hanging(executor, real, credentials(config_for(1, fine.identity.certificate_pem, "hanging.example")),
                       {.dial_timeout = 50ms, .first_backoff = 1ms, .max_backoff = 1ms, .resolver = resolver});
    HttpClient other(executor, real,
                     credentials(config_for(fine.server.port(), fine.identity.certificate_pem, "localhost")),
                     {.resolver = resolver});
    // The thread may begin late on a loaded machine.
    for (int i = 0; i < 3 || names.asked() == 0; ++i) {
      const std::string late = co_await ask(hanging, request_for("/"));
      CHECK(late == "timeout: connecting to hanging.example:1: looking up the name: no answer in time");
    }
    CHECK(names.asked() == 1);  // one look-up at a time, however often it is asked for
    const std::string answer = co_await ask(other, request_for("/"));
    CHECK(answer == "200 answer to /prefix/");
    CHECK(names.asked() == 2);
    async::TaskGroup group(executor);
    std::string last;
    group.spawn(ask_into(hanging, request_for("/"), last));
    const auto began = real.now();
    co_await hanging.stop();
    CHECK(real.now() - began < 5s);
    co_await group.join();
    co_await other.stop();
    co_await fine.stop();
  }());
}

TEST_CASE("an upgrade whose dial ends after the client was stopped is not sent") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    std::promise<void> let_go;
    const auto resolver = std::make_shared<Resolver>(
        [gone = let_go.get_future().share()](const std::string&) -> Result<Resolver::Addresses> {
          gone.wait();
          return here;
        });
    Pair pair(executor);
    HttpClient client(executor, real,
                      credentials(config_for(pair.server.port(), pair.identity.certificate_pem, "localhost")),
                      {.resolver = resolver});
    std::string how;
    async::TaskGroup group(executor);
    group.spawn([](HttpClient& of, std::string& out) -> asio::awaitable<void> {
      const auto upgraded = co_await of.upgrade(request_for("/"), real.deadline_in(5s));
      out = upgraded ? "upgraded" : to_string(upgraded.error().code());
    }(client, how));
    co_await real.sleep(10ms);
    co_await client.stop();
    let_go.set_value();
    co_await group.join();
    CHECK(how == "stopped");
    co_await pair.stop();
  }());
}

TEST_CASE("names beyond the number of threads wait for their turn, and those that nobody waits for have none") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    auto names = std::make_unique<NameServer>();
    const auto resolver = names->resolver(1);
    while (names->asked() == 0) {
      const auto late = co_await async::with_timeout(real, resolver->look_up("hanging.example"), 20ms);
      CHECK_FALSE(late.has_value());
    }
    const auto abandoned = co_await async::with_timeout(real, resolver->look_up("abandoned.example"), 1ms);
    CHECK_FALSE(abandoned.has_value());
    Result<Resolver::Addresses> waiting;
    async::TaskGroup group(executor);
    group.spawn([](Resolver& from, Result<Resolver::Addresses>& out) -> asio::awaitable<void> {
      out = co_await from.look_up("waiting.example");
    }(*resolver, waiting));
    co_await wait_until([&] { return names->asked() > 0; });
    CHECK(names->asked() == 1);
    names.reset();
    co_await group.join();
    CHECK(waiting.value() == here);
    const auto unknown = co_await resolver->look_up("unknown.example");
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().text() == "nobody knows it");
  }());
}

TEST_CASE("addresses that do not answer do not use up the time for one that does") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto resolver = std::make_shared<Resolver>([](const std::string&) -> Result<Resolver::Addresses> {
      return Resolver::Addresses{asio::ip::make_address("127.0.0.2"), asio::ip::make_address("127.0.0.3"),
                                 asio::ip::address_v4::loopback()};
    });
    Pair pair(executor);
    const DeadPort first(executor, "127.0.0.2", pair.server.port()), second(executor, "127.0.0.3", pair.server.port());
    HttpClient client(executor, real,
                      credentials(config_for(pair.server.port(), pair.identity.certificate_pem, "localhost")),
                      {.resolver = resolver});
    const std::string answer = co_await ask(client, request_for("/"), 5s);
    CHECK(answer == "200 answer to /prefix/");
    CHECK(pair.server.accepted == 1);
    // The failure says if none answers, and if the rest refuses.
    pair.server.close_port();
    HttpClient without(executor, real,
                       credentials(config_for(pair.server.port(), pair.identity.certificate_pem, "localhost")),
                       {.dial_timeout = 3s, .resolver = resolver});
    const std::string failure = co_await ask(without, request_for("/"), 10s);
    CHECK(failure == "timeout: connecting to localhost:" + std::to_string(pair.server.port()) +
                         ": no answer in time; 127.0.0.1: Connection refused");
    co_await without.stop();
    co_await client.stop();
    co_await pair.stop();
  }());
}

TEST_CASE("a dial that fails at once is a failure like others") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor, {.dial_timeout = 0s});
    const std::string answer = co_await ask(pair.client, request_for("/"));
    CHECK(answer.starts_with("timeout: connecting to 127.0.0.1:"));
    co_await pair.stop();
  }());
}

TEST_CASE("what may not be sent any more is not sent, neither after a dial nor as a repeat") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    Pair pair(executor);
    int requests = 0;
    bool may_send = true;
    pair.server.on_request = [&](Connection& connection, std::int32_t, const H2Server::Request&) {
      ++requests;
      may_send = false;  // another process leads now
      connection.drop();
    };
    HttpRequest patch = request_for("/", true, "PATCH");
    patch.may_send = [&may_send] { return may_send; };
    std::string answer = co_await ask(pair.client, patch);
    CHECK(answer == "stopped: the request may no longer be sent");
    CHECK(requests == 1);
    answer = co_await ask(pair.client, patch);
    CHECK(answer == "stopped: the request may no longer be sent");
    CHECK(requests == 1);
    co_await pair.stop();
  }());
}

TEST_CASE("an upgrade that is refused for its credentials is tried again with what the plugin gives next") {
  run([]() -> asio::awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    std::vector<std::string> tokens;
    HttpServer server(executor, real, {.address = "127.0.0.1"},
                      [&tokens](const ServerRequest& request, ServerResponse& response) -> asio::awaitable<void> {
                        tokens.emplace_back(request.header("authorization"));
                        if (tokens.back() == "Bearer token-2") {
                          static_cast<void>(co_await response.upgrade({{"upgrade", "ECHO/1"}}));
                        } else {
                          static_cast<void>(co_await response.send(401, {}, "who is that?"));
                        }
                      });
    const auto port = server.listen();
    REQUIRE(port.has_value());
    async::TaskGroup group(executor);
    group.spawn(server.serve());
    wire::ClusterConfig config;
    config.server = {.tls = false, .host = "127.0.0.1", .port = *port, .path = ""};
    config.exec.emplace();
    HttpClient client(executor, real, Credentials::make(config, real, std::make_unique<CountingPlugin>()).value());
    HttpRequest request = request_for("/exec", false, "POST");
    request.headers = {{"upgrade", "ECHO/1"}};
    auto upgraded = co_await client.upgrade(request, real.deadline_in(5s));
    REQUIRE(upgraded.has_value());
    CHECK(upgraded->head.status == 101);
    CHECK(tokens == std::vector<std::string>{"Bearer token-1", "Bearer token-2"});
    co_await client.stop();
    co_await server.stop(1s);
    co_await group.join();
  }());
}

TEST_CASE("whoever is cancelled at any step of a dial leaves nothing running") {
  const KeyAndCertificate identity = self_signed();
  bool is_all = false;
  for (int steps = 1; !is_all && steps < 1000; ++steps) {
    CAPTURE(steps);
    asio::io_context context(1);
    // Connections are made, and nothing is sent on them.
    const asio::ip::tcp::acceptor silent(context, {asio::ip::address_v4::loopback(), 0});
    HttpClient client(context.get_executor(), real,
                      credentials(config_for(silent.local_endpoint().port(), identity.certificate_pem)), {});
    asio::cancellation_signal cancel;
    bool has_ended = false;
    asio::co_spawn(
        context, client.upgrade(request_for("/"), real.deadline_in(30s)),
        asio::bind_cancellation_slot(
            cancel.slot(), [&has_ended](const std::exception_ptr&, const Result<Upgraded>&) { has_ended = true; }));
    for (int done = 0; done < steps && !is_all; ++done) is_all = context.run_one_for(100ms) == 0;
    cancel.emit(asio::cancellation_type::terminal);
    while (!has_ended && context.run_one_for(5s) == 1) continue;
    CHECK(has_ended);
  }
  CHECK(is_all);
}

}  // namespace kube::test
