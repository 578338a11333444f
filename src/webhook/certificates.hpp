// Keeps serving certificates for calls of API servers, the webhook's and others: one Secret for each, which all
// replicas share and any of them renews.
// Tested by test/unit/webhook/replicas_test.cpp.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <functional>

#include "kube/net/tls/server_identity.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/telemetry/repeats.hpp"
#include "webhook/certificate_plan.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// Reads the Secret; a field that is missing or not base64 reads as empty.
CertificateState read_certificate_secret(const kube::Object& secret);
/// The Secret with that data, and otherwise unchanged.
kube::Object write_certificate_secret(kube::Object secret, const CertificateState& state);

/// A certificate for that name, to be served until the real one exists. No API server trusts it. Errors: Errc::tls.
kube::Result<kube::net::KeyAndCertificate> temporary_certificate(std::string_view name, kube::WallTime now);
/// Makes a server show the certificate from now on, and sets the metrics of its validity; `server` is the server's name
/// there. Errors: those of ServerIdentity::use_certificate(), which then changes nothing.
kube::Result<void> show_certificate(kube::net::ServerIdentity& identity, const CertificateState& state,
                                    kube::Metrics& metrics, const std::string& server);

/// Keeps the certificate in the Secret fresh, and passes on what the Secret holds. Racing replicas agree by the
/// Secret's resourceVersion: a new state is used only after it was stored, so that two replicas that start first end up
/// with one authority. One thread.
class Certificates {
 public:
  /// Called with each state that can be served.
  using Use = std::function<void(const CertificateState&)>;

  /// `secret`: the Secret that keeps them; `part`: the part of the process that shows them, for the log.
  Certificates(const asio::any_io_executor& executor, kube::Api& replica_api, kube::InformerSet& home,
               kube::ObjectKey secret, std::string part, CertificateSettings settings, Use use);

  /// Ends only by cancellation.
  asio::awaitable<void> run();
  bool has_certificate() const { return !used_.certificate.empty(); }

 private:
  asio::awaitable<kube::Result<kube::WallTime>> step();
  asio::awaitable<kube::Result<void>> store(std::optional<kube::Object> secret, const CertificateState& state);

  kube::Api& replica_api_;
  kube::ObjectKey key_;
  CertificateSettings settings_;
  Use use_;
  kube::Log log_;
  kube::Repeats failures_;
  kube::async::Event changed_;
  kube::InformerHandle secrets_;
  CertificateState used_;
};

}  // namespace liqo::webhook
