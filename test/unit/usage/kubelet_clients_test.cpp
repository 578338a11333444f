// The credentials that a kubelet sees in requests, over sockets.
#include "usage/kubelet_clients.hpp"

#include <doctest/doctest.h>

#include "kube/async/task_group.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/net/tls/x509.hpp"
#include "support/run.hpp"

namespace {

using namespace std::chrono_literals;
using kube::async::TaskGroup;
namespace asio = boost::asio;
namespace net = kube::net;

kube::async::RealClock real;

const net::KeyAndCertificate& kubelet_pair() {
  static const auto pair =
      net::make_self_signed(
          {.common_name = "kubelet", .organizations = {}, .ip_addresses = {"127.0.0.1"}, .dns_names = {}}, real.wall(),
          24h)
          .value();
  return pair;
}

net::TlsContext kubelet_tls() {
  return net::TlsContext::server({.certificate_pem = kubelet_pair().certificate_pem,
                                  .key_pem = kubelet_pair().key_pem,
                                  .client_ca_pem = {}})
      .value();
}

/// An API server that knows liqod by a token, a kubelet that shows its caller, and the clients of the metric agent for
/// both.
struct World {
  std::vector<std::string> at_home, at_kubelet;  ///< the token that each request has shown there
  bool refuses = false;
  int kubelet_status = 200;
  net::HttpServer api_server, kubelet;
  std::shared_ptr<net::HttpClient> home;
  kube::Random random{1};
  kube::Metrics metrics;
  std::optional<kube::Api> api;
  std::optional<liqo::usage::KubeletTokenKeeper> token;
  std::optional<liqo::usage::KubeletClients> clients;
  std::uint16_t kubelet_port = 0;
  TaskGroup servers, tasks;

  explicit World(const asio::any_io_executor& executor)
      : api_server(executor, real, {.address = "127.0.0.1"},
                   [this](const net::ServerRequest& request, net::ServerResponse& response) {
                     return answer_home(request, response);
                   }),
        kubelet(executor, real, {.address = "127.0.0.1", .tls = kubelet_tls()},
                [this](const net::ServerRequest& request, net::ServerResponse& response) {
                  return answer_kubelet(request, response);
                }),
        servers(executor, TaskGroup::OnFailure::keep_others),
        tasks(executor, TaskGroup::OnFailure::keep_others) {
    kube::wire::ClusterConfig config;
    config.server = {.tls = false, .host = "127.0.0.1", .port = api_server.listen().value(), .path = ""};
    config.token = "token-of-liqod";
    home = std::make_shared<net::HttpClient>(executor, real, net::Credentials::make(std::move(config), real).value());
    api.emplace(*home, real, random, metrics, kube::ApiSettings{.cluster = "milan"});
    kubelet_port = kubelet.listen().value();
    const kube::Environment environment{executor, real, random, metrics};
    token.emplace(environment, *api, "liqo");
    clients.emplace(environment, liqo::usage::KubeletAuthority{.ca_pem = kubelet_pair().certificate_pem, .ca_file = {}},
                    *token);
    servers.spawn(api_server.serve());
    servers.spawn(kubelet.serve());
    tasks.spawn(clients->run());
    tasks.spawn(token->run());
  }
  asio::awaitable<void> stop() {
    co_await tasks.stop();
    co_await home->stop();
    co_await servers.stop();
  }
  asio::awaitable<void> answer_home(const net::ServerRequest& request, net::ServerResponse& response) {
    at_home.emplace_back(request.header("authorization"));
    if (refuses) {
      static_cast<void>(co_await response.send(403, {}, R"({"kind":"Status","code":403,"message":"no"})"));
    } else {
      static_cast<void>(co_await response.send(
          201, {}, R"({"spec":{"expirationSeconds":3600},"status":{"token":"token-of-agent"}})"));
    }
  }
  asio::awaitable<void> answer_kubelet(const net::ServerRequest& request, net::ServerResponse& response) {
    at_kubelet.emplace_back(request.header("authorization"));
    CHECK_FALSE(request.peer);
    static_cast<void>(co_await response.send(kubelet_status, {}, "m 1\n"));
  }
  asio::awaitable<int> ask() {
    auto answer = co_await clients->ask("127.0.0.1", kubelet_port, "/metrics", real.deadline_in(5s));
    co_return answer ? answer->response.head.status : 0;
  }
  asio::awaitable<void> until_home_was_asked() {
    const auto limit = real.now() + 10s;
    while ((at_home.empty() || (!refuses && token->token().empty())) && real.now() < limit) co_await real.sleep(1ms);
  }
};

}  // namespace

TEST_CASE("a kubelet is shown the token of the metric agent, and nothing by which liqod is known at home") {
  kube::test::run([]() -> asio::awaitable<void> {
    World world(co_await asio::this_coro::executor);
    co_await world.until_home_was_asked();
    CHECK(co_await world.ask() == 200);
    CHECK(world.at_home == std::vector<std::string>{"Bearer token-of-liqod"});
    CHECK(world.at_kubelet == std::vector<std::string>{"Bearer token-of-agent"});
    co_await world.stop();
  }());
}

TEST_CASE("without a token of its own the metric agent shows kubelets none, and does not call them") {
  kube::test::run([]() -> asio::awaitable<void> {
    World world(co_await asio::this_coro::executor);
    world.refuses = true;
    co_await world.until_home_was_asked();
    auto answer = co_await world.clients->ask("127.0.0.1", world.kubelet_port, "/metrics", real.deadline_in(5s));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == kube::Errc::missing);
    CHECK(world.at_kubelet.empty());
    CHECK(world.kubelet.counters().accepted == 0);
    co_await world.stop();
  }());
}
