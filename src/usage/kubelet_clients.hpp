// Connects to the kubelets of this cluster, to read their metrics.
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

/// The response of a kubelet with its unread body, and the connection over which it comes.
struct KubeletResponse {
  std::shared_ptr<void> connection;
  kube::net::Response response;
};

/// The CA that signs the certificates of kubelets, as PEM or as a file.
struct KubeletAuthority {
  std::string ca_pem, ca_file;
};

/// Has one client for each kubelet that was asked recently. It verifies the kubelet's certificate, and shows it a token
/// that is good for nothing else: a kubelet is only as trustworthy as the pods on its node, which may belong to a
/// consumer. The kubelet sees neither the credentials of liqod nor those of the user who asks. One thread.
class KubeletClients {
 public:
  KubeletClients(const kube::Environment& environment, KubeletAuthority authority, KubeletTokenKeeper& token);

  /// Sends a GET. Failures: those of kube::net::Transport::send(), an unusable CA, and Errc::missing (there is no
  /// token).
  asio::awaitable<kube::Result<KubeletResponse>> ask(std::string address, std::uint16_t port, std::string path,
                                                     kube::Deadline deadline);
  /// Closes clients that were not used for a minute, and at its end all of them: no ask() may then be under way. Ends
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
  std::vector<std::shared_ptr<Client>> closing_;  ///< clients that are being stopped
};

}  // namespace liqo::usage
