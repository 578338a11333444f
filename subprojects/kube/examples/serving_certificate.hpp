// The certificate of a server that runs for as long as it likes: signed by an authority of this process, short-lived,
// and replaced in time.
#pragma once

#include <utility>

#include "kube/async/clock.hpp"
#include "kube/net/tls/server_identity.hpp"
#include "kube/telemetry/log.hpp"

namespace example {

/// Order of use: begin(), then keep() for as long as the server runs. The clock outlives it.
class ServingCertificate {
 public:
  /// `apply`: hands the server its settings for new connections.
  ServingCertificate(kube::async::Clock& clock, kube::net::CertificateSubject subject,
                     std::function<void(kube::net::TlsContext)> apply)
      : clock_(clock), subject_(std::move(subject)), identity_(std::move(apply)) {}

  /// The settings to start the server with.
  kube::Result<kube::net::TlsContext> begin() {
    KUBE_TRY(made, kube::net::make_authority(subject_.common_name, clock_.wall(), life_of_authority));
    authority_ = std::move(made);
    KUBE_TRY(pair, issue());
    return identity_.begin(std::move(pair));
  }
  /// By whom callers know the server: the same for as long as this process runs.
  const std::string& authority_pem() const { return authority_.certificate_pem; }
  const std::string& certificate_pem() const { return certificate_pem_; }

  /// Replaces the certificate whenever a third of its life is over. Ends only by cancellation.
  boost::asio::awaitable<void> keep() {
    while (true) {
      co_await clock_.sleep(life / 3);
      auto pair = issue();
      auto replaced = pair ? identity_.use_certificate(std::move(*pair)) : std::unexpected(std::move(pair.error()));
      if (!replaced) kube::Log("webhook").warn("the certificate was not replaced", {{"error", replaced.error()}});
    }
  }

 private:
  static constexpr kube::Duration life = std::chrono::hours(24), life_of_authority = std::chrono::years(10);

  kube::Result<kube::net::KeyAndCertificate> issue() {
    auto pair = kube::net::issue_server_certificate(authority_, subject_, clock_.wall(), life);
    if (pair) certificate_pem_ = pair->certificate_pem;
    return pair;
  }

  kube::async::Clock& clock_;
  kube::net::CertificateSubject subject_;
  kube::net::ServerIdentity identity_;
  kube::net::KeyAndCertificate authority_;
  std::string certificate_pem_;
};

}  // namespace example
