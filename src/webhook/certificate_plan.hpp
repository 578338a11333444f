// Decides what the Secret with the webhook's certificates should hold next. The time is a parameter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/net/tls/x509.hpp"

namespace liqo::webhook {

/// The data of the Secret. `authority` has the CA certificate that signs now, and after it earlier ones: a client that
/// trusts all of them always has the right one.
struct CertificateState {
  std::string authority;      ///< PEM certificates; key `ca`
  std::string authority_key;  ///< PEM; key `ca.key`. Absent if the Go version has made the Secret
  std::string certificate;    ///< PEM; key `tls.crt`
  std::string key;            ///< PEM; key `tls.key`
  bool operator==(const CertificateState&) const = default;
};

/// The wanted properties of the serving certificate.
struct CertificateSettings {
  std::vector<std::string> dns_names, ip_addresses;  ///< that API servers use in calls
  /// The lifetime of a serving certificate; an authority lives four times as long.
  kube::Duration lifetime = std::chrono::hours(24 * 90);
};

/// Three independent results: the present certificate is served even while its successor is being stored.
struct CertificatePlan {
  bool usable = false;                     ///< the present certificate can be served
  std::optional<CertificateState> change;  ///< to be stored, before it is used
  kube::WallTime look_again;               ///< when time alone changes the plan
};

/// Decides. A certificate is renewed at 2/3 of its time, and within a minute when it lacks a name. An authority is
/// renewed at 2/3 of its time, too. At first the new one is only added to the trusted ones. It begins to sign
/// certificates after a tenth of a certificate's time (at most five minutes), when every configuration trusts it.
/// Without a usable certificate, as at the first start, both are made at once. Errors: Errc::tls; Errc::invalid_input
/// (a name that cannot be put into a certificate).
kube::Result<CertificatePlan> plan_certificates(const CertificateState& have, const CertificateSettings& settings,
                                                kube::WallTime now);

}  // namespace liqo::webhook
