// Connections to the kubelets of this cluster, to read their metrics.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/net/transport.hpp"
#include "kube/runtime/environment.hpp"
#include "usage/kubelet_token_keeper.hpp"

namespace liqo::usage {

namespace asio = boost::asio;

/// The answer of a kubelet with its unread body, and the connection that it comes over.
struct KubeletResponse {
  std::shared_ptr<void> connection;
  kube::net::Response response;
};

/// Who signs the certificates of kubelets, as PEM or a file of it.
struct KubeletAuthority {
  std::string ca_pem, ca_file;
};

/// One client for each kubelet that was asked lately. It checks the kubelet's certificate, and shows a token that is
/// for nothing else: a kubelet is as trustworthy as the pods on its node, which may be a consumer's. It knows neither
/// the credentials of this program nor those of the user who asks. One thread.
class KubeletClients {
 public:
  KubeletClients(const kube::Environment& environment, KubeletAuthority authority, KubeletTokenKeeper& token);

  /// GET. Failures: those of kube::net::Transport::send(), of a CA that cannot be used, and Errc::missing (there is no
  /// token).
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
  KubeletAuthority authority_;
  KubeletTokenKeeper& token_;
  std::map<std::pair<std::string, std::uint16_t>, std::shared_ptr<Client>> clients_;
  std::vector<std::shared_ptr<Client>> closing_;  ///< that are being stopped
};

}  // namespace liqo::usage
