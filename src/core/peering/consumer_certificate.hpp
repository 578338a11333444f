// The certificate that a provider hands out to a consumer: the stored one, or a newly signed one. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/peering/csr.hpp"
#include "core/peering/renewal.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A certificate that may be handed out.
struct StoredCertificate {
  std::string pem;
  kube::WallTime renew_at, not_after;
};

/// The certificate of the Secret (`forge_certificate_secret`); nothing if it has another name or key than `request`
/// asks for. Two requests for the same may differ in their bytes: signatures of ECDSA keys do.
std::optional<StoredCertificate> read_stored_certificate(const kube::Object& secret, const SigningRequest& request);

/// What a cluster has signed for the request. Errors: those of read_certificate(); Errc::unsupported if it has another
/// name or key.
kube::Result<IssuedCertificate> read_signed_certificate(std::string_view pem, const SigningRequest& request);

/// What is known of the certificate of one consumer.
struct CertificateSight {
  const StoredCertificate* stored = nullptr;  ///< null = there is none for its request
  kube::WallTime now;                         ///< before anything was signed
  bool has_failed = false;                    ///< one could not be signed or kept just now
};

namespace certificate_action {
/// Have one signed and keep it; if that fails, plan again.
struct Sign {
  bool operator==(const Sign&) const = default;
};
/// Hand out the stored one.
struct UseStored {
  kube::WallTime renew_at;  ///< look again then
  bool operator==(const UseStored&) const = default;
};
/// There is none to hand out: report the failure.
struct GiveUp {
  bool operator==(const GiveUp&) const = default;
};
}  // namespace certificate_action

/// Which certificate to hand out.
using CertificatePlan =
    std::variant<certificate_action::Sign, certificate_action::UseStored, certificate_action::GiveUp>;

/// Plans a new certificate if there is none for the request, it is due, or its receipt is noted at a time that has not
/// come yet, by which it would be used after its end. If one could not be signed or kept,
/// the stored one is handed out while it holds, and signing is tried again after a minute.
CertificatePlan plan_certificate(const CertificateSight& sight);

}  // namespace liqo::core
