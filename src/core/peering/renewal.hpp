// Reads an issued certificate, and decides when it is to be renewed. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "core/peering/csr.hpp"
#include "kube/base/time.hpp"

namespace liqo::core {

/// What liqod reads of a certificate that a cluster's signer has issued.
struct IssuedCertificate {
  kube::WallTime not_before, not_after;
  PublicKey key;
  /// Unset if the subject is not exactly one organization and one common name.
  std::optional<CertificateName> name;
};

/// Reads the first certificate (X.509, RFC 5280) of a PEM text of at most 64 KiB. Its signature is not checked here: it
/// comes from a trusted signer, or the server to which it is shown checks it. Errors: Errc::too_large, Errc::parse, and
/// those of PublicKey.
kube::Result<IssuedCertificate> read_certificate(std::string_view pem);

/// A certificate is not renewed sooner after its receipt.
inline constexpr kube::WallTime::duration soonest_renewal = std::chrono::minutes(1);

/// When something that holds from `begin` to `end` is to be renewed: at two thirds of that time, at `soonest` at the
/// earliest.
kube::WallTime renewal_time(kube::WallTime begin, kube::WallTime end, kube::WallTime soonest);

/// When a certificate is to be renewed: at two thirds of the time from its receipt to its end, and a minute after its
/// receipt at the earliest. Otherwise a certificate that has expired by our clock would be renewed in a loop. If the
/// receipt is not known, `not_before` takes its place, which signers set some minutes back.
kube::WallTime renewal_time(const IssuedCertificate& certificate, std::optional<kube::WallTime> received);

}  // namespace liqo::core
