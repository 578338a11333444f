// Connections to the kubelets of this cluster, to read their metrics.
// Tested by test/cluster/test_figures.py.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/net/transport.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/wire/kubeconfig.hpp"

namespace liqo::figures {

namespace asio = boost::asio;

/// The answer of a kubelet with its unread body, and the connection that it comes over.
struct KubeletResponse {
  std::shared_ptr<void> connection;
  kube::net::Response response;
};

/// One client for each kubelet that was asked lately. It uses this program's own credentials, never those of the user
/// who asks, and checks the kubelet's certificate. One thread.
class KubeletClients {
 public:
  /// `as`: the credentials, and the CA that signs the certificates of kubelets.
  KubeletClients(const kube::Environment& environment, kube::wire::ClusterConfig as);

  /// GET. Failures: those of kube::net::Transport::send(), and of credentials that cannot be used.
  asio::awaitable<kube::Result<KubeletResponse>> ask(std::string address, std::uint16_t port, std::string path,
                                                     kube::Deadline deadline);
  /// Closes clients that were not used for a minute, and at its end all of them: no ask() may be under way then. Ends
  /// only by cancellation.
  asio::awaitable<void> run();

 private:
  struct Client;
  kube::Result<std::shared_ptr<Client>> client_of(const std::string& address, std::uint16_t port);
  asio::awaitable<void> close_unused();
  asio::awaitable<void> close_those();
  asio::awaitable<void> close_all();

  asio::any_io_executor executor_;
  kube::async::Clock& clock_;
  kube::wire::ClusterConfig as_;
  std::map<std::pair<std::string, std::uint16_t>, std::shared_ptr<Client>> clients_;
  std::vector<std::shared_ptr<Client>> closing_;  ///< that are being stopped
};

}  // namespace liqo::figures
