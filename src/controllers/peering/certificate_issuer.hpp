// Issues client certificates for consumers: signed by the cluster through its CSR API, kept in a Secret, renewed in
// time.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_budget.hpp"
#include "core/peering/consumer_certificate.hpp"
#include "liqo/api/auth_params.hpp"

namespace liqo::controllers {

/// Whose certificate is wanted.
struct CertificateOrder {
  std::string tenant_namespace;
  std::string consumer_cluster_id;
  std::string slice_name = {};  ///< "" = the ControlPlane certificate
  std::string csr_pem;
  std::string proxy_url = {};  ///< that the consumer has to use, "" = none
  /// The owner of the stored certificate, with which it is deleted (the Tenant, the slice's replica); "" in the Go
  /// version.
  std::optional<kube::OwnerReference> owner = std::nullopt;
};

/// The credentials that the consumer gets.
struct IssuedParams {
  kube::json::object auth_params;
  kube::WallTime renew_at;  ///< ask again then
  bool renewed = false;     ///< signed in this call
};

/// Issues certificates by CertificateSigningRequests of the signer kubernetes.io/kube-apiserver-client, which it makes,
/// approves, waits for and deletes. A certificate is signed again when its request has another name or key, when it is
/// due for renewal or has expired, or when its Secret is gone. A consumer may change its key five times, and then once
/// a minute. Any number of issuers may exist. One thread.
class CertificateIssuer {
 public:
  explicit CertificateIssuer(Context context);

  /// `authParams` for the order. Errors: Errc::invalid_input if the request asks for more or something else than that
  /// consumer (and slice) may have, which no retry mends; Errc::missing if the API server's address is not known. Every
  /// other error may be temporary. If a renewal fails, the stored certificate is returned while it is valid for the
  /// same request.
  asio::awaitable<kube::Result<IssuedParams>> auth_params(CertificateOrder order);

  /// Called when the address of the API server may have changed.
  void on_address_change(std::function<void()> handler);

 private:
  /// Has a certificate signed, and stores it. `stored`: the Secret that is to be replaced.
  asio::awaitable<kube::Result<core::StoredCertificate>> issue(const CertificateOrder& order,
                                                               const core::SigningRequest& request,
                                                               std::optional<kube::Object> stored,
                                                               kube::WallTime received);
  asio::awaitable<kube::Result<std::string>> sign(std::string csr_pem);
  /// Approves a request, and waits until it is signed.
  asio::awaitable<kube::Result<std::string>> approve(kube::Object request);
  asio::awaitable<kube::Result<std::string>> wait_for_certificate(kube::Object request);
  asio::awaitable<kube::Result<void>> store(const CertificateOrder& order, std::optional<kube::Object> stored,
                                            std::string certificate_pem);
  kube::Result<std::string> api_server() const;
  /// Whether a certificate of another key than the stored one may be signed now.
  bool may_change(const kube::ObjectKey& secret);

  Context context_;
  std::vector<kube::InformerHandle> control_plane_nodes_;  ///< in the order of the labels that mark them
  std::map<kube::ObjectKey, TokenBucket> changes_;         ///< of keys, by the Secret of the certificate
  kube::Log log_{"certificate-issuer"};
};

}  // namespace liqo::controllers
