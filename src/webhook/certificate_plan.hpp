// What the Secret with the webhook's certificates should hold next: a decision over time, without a clock of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/net/tls/x509.hpp"

namespace liqo::webhook {

/// The data of the Secret. `authority` holds the certificate that signs now, and behind it those that signed before, so
/// that whoever trusts them all is never without the right one.
struct CertificateState {
  std::string authority;      ///< PEM certificates; key `ca`
  std::string authority_key;  ///< PEM; key `ca.key`. Absent where the Go version has made the Secret
  std::string certificate;    ///< PEM; key `tls.crt`
  std::string key;            ///< PEM; key `tls.key`
  bool operator==(const CertificateState&) const = default;
};

/// What the serving certificate is to be like.
struct CertificateSettings {
  std::vector<std::string> dns_names, ip_addresses;  ///< by which API servers call
  /// Of a serving certificate; an authority lives four times as long.
  kube::Duration lifetime = std::chrono::hours(24 * 90);
};

/// Three independent answers: what is there is served also while its successor is being stored.
struct CertificatePlan {
  bool usable = false;                     ///< what is there can be served
  std::optional<CertificateState> change;  ///< to be stored, before it is used
  kube::WallTime look_again;               ///< when time alone changes the answer
};

/// Decides. A certificate is renewed at 2/3 of its time, and within a minute when it lacks a name. An authority is
/// renewed at 2/3 of its time, too: the new one is first only added to those that are trusted, and signs certificates
/// no sooner than a tenth of a certificate's time (at most five minutes) later, when every configuration trusts it.
/// Without a usable certificate, as at the first start, everything is made at once. Errors: Errc::tls;
/// Errc::invalid_input (a name that cannot be put into a certificate).
kube::Result<CertificatePlan> plan_certificates(const CertificateState& have, const CertificateSettings& settings,
                                                kube::WallTime now);

}  // namespace liqo::webhook
