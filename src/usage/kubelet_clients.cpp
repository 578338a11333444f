#include "usage/kubelet_clients.hpp"

#include "kube/async/finally.hpp"
#include "kube/net/http/http_client.hpp"

namespace liqo::usage {
namespace {

using namespace std::chrono_literals;

constexpr kube::Duration unused_for = 1min, look_pause = 15s;

}  // namespace

struct KubeletClients::Client {
  Client(const asio::any_io_executor& executor, kube::async::Clock& clock,
         std::shared_ptr<kube::net::Credentials> shown)
      : credentials(std::move(shown)),
        http(executor, clock, credentials,
             {.user_agent = "liqod", .dial_timeout = 5s, .max_backoff = 1s, .max_request_connections = 4}) {}
  std::shared_ptr<kube::net::Credentials> credentials;
  kube::net::HttpClient http;
  kube::TimePoint used;
};

KubeletClients::KubeletClients(const kube::Environment& environment, KubeletAuthority authority,
                               KubeletTokenKeeper& token)
    : executor_(environment.executor), clock_(environment.clock), authority_(std::move(authority)), token_(token) {}

kube::Result<std::shared_ptr<KubeletClients::Client>> KubeletClients::client_of(const std::string& address,
                                                                                std::uint16_t port) {
  if (token_.token().empty()) return kube::fail(kube::Errc::missing, "there is no token to show it");
  kube::wire::ClusterConfig config{.server = {.tls = true, .host = address, .port = port, .path = {}},
                                   .ca_pem = authority_.ca_pem,
                                   .ca_file = authority_.ca_file,
                                   .token = token_.token()};
  auto& known = clients_[{address, port}];
  if (!known) {
    auto credentials = kube::net::Credentials::make(std::move(config), clock_);
    if (!credentials) {
      clients_.erase({address, port});
      return std::unexpected(std::move(credentials.error()));
    }
    known = std::make_shared<Client>(executor_, clock_, std::move(*credentials));
  } else if (known->credentials->token() != config.token) {
    KUBE_TRYV(known->credentials->replace(std::move(config)));
  }
  known->used = clock_.now();
  return known;
}

asio::awaitable<kube::Result<KubeletResponse>> KubeletClients::ask(std::string address, std::uint16_t port,
                                                                   std::string path, kube::Deadline deadline) {
  KUBE_CO_TRY(client, client_of(address, port));
  const std::shared_ptr<Client> held = std::move(client);
  const std::string token = token_.token();
  KUBE_CO_TRY(response, co_await held->http.send({.method = "GET",
                                                  .target = std::move(path),
                                                  .headers = {{"accept", "text/plain"}},
                                                  .body = {},
                                                  .verb = "get",
                                                  .resource = "nodes",
                                                  .repeatable = true},
                                                 deadline));
  if (response.head.status == 401) token_.doubt(token);
  co_return KubeletResponse{.connection = held, .response = std::move(response)};
}

asio::awaitable<void> KubeletClients::run() { co_await kube::async::finally(close_unused(), close_all()); }

asio::awaitable<void> KubeletClients::close_unused() {
  while (true) {
    co_await clock_.sleep(look_pause);
    std::erase_if(clients_, [&](auto& entry) {
      auto& client = entry.second;
      if (client.use_count() > 1 || clock_.now() - client->used < unused_for) return false;
      closing_.push_back(std::move(client));
      return true;
    });
    co_await close_those();
  }
}

asio::awaitable<void> KubeletClients::close_those() {
  for (; !closing_.empty(); closing_.pop_back()) {
    const std::shared_ptr<Client> client = closing_.back();
    co_await client->http.stop();
  }
}

asio::awaitable<void> KubeletClients::close_all() {
  for (auto& entry : std::exchange(clients_, {})) closing_.push_back(std::move(entry.second));
  co_await close_those();
}

}  // namespace liqo::usage
