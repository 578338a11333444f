#include "session/http_connection.hpp"

#include <utility>

#include "kube/net/http/http_client.hpp"

namespace liqoctl {
namespace {

class HttpConnection final : public Connection {
 public:
  HttpConnection(asio::any_io_executor executor, kube::async::Clock& clock,
                 std::shared_ptr<kube::net::Credentials> credentials)
      : client_(std::move(executor), clock, std::move(credentials), {.user_agent = "liqoctl/" LIQOCTL_VERSION}) {}

  kube::net::Transport& transport() override { return client_; }
  kube::net::Upgrader& upgrader() override { return client_; }
  asio::awaitable<void> stop() override { return client_.stop(); }

 private:
  kube::net::HttpClient client_;
};

}  // namespace

Connect connect_over_http(asio::any_io_executor executor, kube::async::Clock& clock) {
  return [executor = std::move(executor), &clock](std::shared_ptr<kube::net::Credentials> credentials) {
    return std::make_unique<HttpConnection>(executor, clock, std::move(credentials));
  };
}

}  // namespace liqoctl
