// Keeps the serving certificate of the kubelet API: requested by a CertificateSigningRequest for the signer
// kubernetes.io/kubelet-serving and renewed in time, or self-signed if the operator wants that.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "kube/client/api.hpp"
#include "kube/net/tls/x509.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::kubelet {

namespace asio = boost::asio;

/// The signer of serving certificates of kubelets.
inline constexpr std::string_view serving_signer = "kubernetes.io/kubelet-serving";

/// The subject of the certificate, as that signer demands it: CN `system:node:<node>`, O `system:nodes`, one IP
/// address.
kube::net::CertificateSubject serving_subject(std::string_view node, std::string_view node_ip);

/// The CertificateSigningRequest for a PKCS#10 request in PEM.
kube::Object forge_serving_request(std::string_view request_pem);

/// The nodes of the certificate, its receiver, and how often it is requested.
struct ServingCertificateSettings {
  std::string node_ip;
  bool self_signed = false;
  /// Certificates are requested only while this process leads: the Nodes have the leader's address, and only the leader
  /// approves requests.
  kube::Leadership* leadership = nullptr;  ///< null: always
  /// The names of our VirtualNodes. One certificate, for the first of them, serves all, because API servers check only
  /// its address. If that node is gone before the approval, another certificate is requested.
  std::function<std::vector<std::string>()> nodes;
  /// Called with each new key and certificate.
  std::function<void(const kube::net::KeyAndCertificate&)> use;

  kube::Duration look_for_node = std::chrono::seconds(1);
  kube::Duration retry = std::chrono::seconds(30);  ///< at least so long between two requests while leading
  kube::Duration poll = std::chrono::seconds(1);    ///< between two looks at a pending request
  kube::Duration max_issuance = std::chrono::minutes(15);
};

/// A self-signed certificate for a year. The port shows it until the real one is issued, so that callers that do not
/// verify it are served from the start.
kube::Result<kube::net::KeyAndCertificate> make_temporary_certificate(std::string_view node_ip, kube::WallTime now);

/// Keeps the certificate fresh. run() ends only by cancellation. One thread.
class ServingCertificate {
 public:
  ServingCertificate(kube::Api& replica_api, ServingCertificateSettings settings)
      : replica_api_(replica_api), settings_(std::move(settings)), log_("serving-certificate") {}

  /// Requests a certificate once there is a VirtualNode, and renews it in time.
  asio::awaitable<void> run();

 private:
  using Issued = std::optional<kube::net::KeyAndCertificate>;

  asio::awaitable<std::string> wait_for_node();
  /// Requests a certificate. Returns it with its key; nothing if this process no longer leads, or the node is gone.
  asio::awaitable<kube::Result<Issued>> request(std::string node);
  /// Waits for the certificate of that request; nothing if this process no longer leads, or the node is gone.
  asio::awaitable<kube::Result<std::optional<std::string>>> wait_for_issuance(kube::ObjectKey key, std::string node);
  asio::awaitable<void> wait_until(kube::WallTime time);
  bool is_ours(const std::string& node) const;
  bool may_ask() const { return settings_.self_signed || !settings_.leadership || settings_.leadership->is_leader(); }

  kube::Api& replica_api_;
  ServingCertificateSettings settings_;
  kube::Log log_;
};

}  // namespace liqo::kubelet
