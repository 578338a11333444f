// The serving certificate of the kubelet API: asked for by a CertificateSigningRequest of the signer
// kubernetes.io/kubelet-serving and renewed in time, or self-signed where the operator wants that.
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

/// Whom the certificate is for: CN `system:node:<node>`, O `system:nodes`, one IP address; what that signer demands.
kube::net::CertificateSubject serving_subject(std::string_view node, std::string_view node_ip);

/// The CertificateSigningRequest for a PKCS#10 request in PEM.
kube::Object forge_serving_request(std::string_view request_pem);

/// Whom the certificate is for, where it goes, and how often is asked for it.
struct ServingCertificateSettings {
  std::string node_ip;
  bool self_signed = false;
  /// Asks the cluster only while this process leads: the Nodes have the leader's address, and nobody approves another.
  kube::Leadership* leadership = nullptr;  ///< null: always
  /// The names of our VirtualNodes. One certificate, for the first of them, serves all, because API servers check its
  /// address only. Nobody approves one for a node that has gone meanwhile: then it is asked for anew.
  std::function<std::vector<std::string>()> nodes;
  /// Called with each new key and certificate.
  std::function<void(const kube::net::KeyAndCertificate&)> use;

  kube::Duration look_for_node = std::chrono::seconds(1);
  kube::Duration retry = std::chrono::seconds(30);  ///< between two requests of one lead, at least
  kube::Duration poll = std::chrono::seconds(1);    ///< between two looks at a pending request
  kube::Duration max_issuance = std::chrono::minutes(15);
};

/// A self-signed certificate for a year: what the port shows until the real one is there, so that callers that do not
/// verify it are served from the start.
kube::Result<kube::net::KeyAndCertificate> make_temporary_certificate(std::string_view node_ip, kube::WallTime now);

/// Keeps the certificate fresh. run() ends only by cancellation. One thread.
class ServingCertificate {
 public:
  ServingCertificate(kube::Api& replica_api, ServingCertificateSettings settings)
      : replica_api_(replica_api), settings_(std::move(settings)), log_("serving-certificate") {}

  /// Asks for a certificate once there is a VirtualNode, and for the next ones in time.
  asio::awaitable<void> run();

 private:
  using Issued = std::optional<kube::net::KeyAndCertificate>;

  asio::awaitable<std::string> wait_for_node();
  /// The certificate with its key; nothing where this process leads no longer, or the node has gone.
  asio::awaitable<kube::Result<Issued>> request(std::string node);
  /// The certificate of that request; nothing as above.
  asio::awaitable<kube::Result<std::optional<std::string>>> wait_for_issuance(kube::ObjectKey key, std::string node);
  asio::awaitable<void> wait_until(kube::WallTime time);
  bool is_ours(const std::string& node) const;
  bool may_ask() const { return settings_.self_signed || !settings_.leadership || settings_.leadership->is_leader(); }

  kube::Api& replica_api_;
  ServingCertificateSettings settings_;
  kube::Log log_;
};

}  // namespace liqo::kubelet
