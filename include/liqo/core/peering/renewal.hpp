// What an issued certificate says, and when it is to be renewed. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "kube/base/time.hpp"
#include "liqo/core/peering/csr.hpp"

namespace liqo::core {

/// On a ControlPlane Identity: digest of the provider's answer that was taken into it last, in hex. Ours alone; without
/// it the answer is taken again.
inline constexpr std::string_view taken_answer_annotation = "liqo.io/taken-answer";

struct IssuedCertificate {
  kube::WallTime not_before, not_after;
  PublicKey key;
  /// Nothing where the subject is more or less than one organization and one common name.
  std::optional<CertificateName> name;
};

/// Reads the first certificate (X.509, RFC 5280) of a PEM text of at most 64 KiB. Its signature is not checked: it is
/// of a signer that is trusted, or shown to a server that checks it. Errors: Errc::parse, and those of PublicKey.
kube::Result<IssuedCertificate> read_certificate(std::string_view pem);

/// When a certificate is to be renewed: at two thirds of the time from its receipt to its end, and a minute after its
/// receipt at the earliest, so that one whose end has passed by our clock is not asked for again and again. Where the
/// receipt is not known, from its `not_before`, which signers set some minutes back.
kube::WallTime renewal_time(const IssuedCertificate& certificate, std::optional<kube::WallTime> received);

}  // namespace liqo::core
