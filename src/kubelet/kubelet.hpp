// Everything behind the kubelet ports of a process: the server, the authorisation of callers, and the certificate.
// Tested by test/cluster/kubelet/test_kubelet_port.py.
// Tested by test/cluster/kubelet/test_kubelet_callers.py.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/net/tls/server_identity.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/runtime/watched_file.hpp"
#include "kubelet/certificate_approver.hpp"
#include "kubelet/kubelet_server.hpp"
#include "kubelet/node_listeners.hpp"
#include "kubelet/serving_certificate.hpp"

namespace liqo::kubelet {

/// The operator's settings.
struct KubeletSettings {
  std::string node_ip;    ///< where the API server reaches this process: the certificate is for it
  core::PortRange ports;  ///< the first is always open (0 = the system picks one), each other one while its node exists
  bool self_signed = false;    ///< no signing requests
  std::string client_ca_file;  ///< CA of callers; "" = ConfigMap kube-system/extension-apiserver-authentication
};

/// The parts of the process that the Kubelet uses. All outlive it.
struct KubeletContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& leader_api;   ///< for approvals of certificates
  kube::Api& replica_api;  ///< for reviews of callers and its certificate, because every replica serves
  kube::Leadership& leadership;
  FindPod find;
  PodsOfNode pods;                                  ///< of one of `nodes`
  UsageSourceOf usage;                              ///< the provider of one of `nodes`, for usage
  std::function<std::vector<std::string>()> nodes;  ///< names of the VirtualNodes that exist
};

/// Serves on every replica; only the leader approves certificates. Until its certificate is issued the port shows a
/// temporary one. A changed client CA takes effect for new connections. Order of use: listen(), then run(), which ends
/// only by cancellation, and then ends every session. One thread.
class Kubelet {
 public:
  Kubelet(KubeletContext context, KubeletSettings settings);

  /// Opens the first port on every address and returns its number; run() opens those of the nodes. Errors:
  /// Errc::connect ("address in use"), those of WatchedFile::read() (the client CA file), Errc::tls.
  kube::Result<std::uint16_t> listen();
  asio::awaitable<void> run();
  /// The counters of the server; nothing before listen().
  kube::net::HttpServerCounters counters() const;

 private:
  void use_certificate(const kube::net::KeyAndCertificate& pair);
  void use_client_ca(std::string pem);

  KubeletContext context_;
  KubeletSettings settings_;
  kube::Log log_;
  kube::WatchedFile client_ca_file_;
  Authorizer authorizer_;
  ServingCertificate certificate_;
  std::optional<CertificateApprover> approver_;  // none if certificates are self-signed
  kube::InformerHandle client_ca_map_;
  kube::net::ServerIdentity identity_;
  NodeListeners listeners_;
  std::unique_ptr<KubeletServer> server_;
};

}  // namespace liqo::kubelet
