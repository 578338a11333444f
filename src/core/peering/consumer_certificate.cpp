#include "core/peering/consumer_certificate.hpp"

#include <algorithm>
#include <chrono>

#include "core/common/secret_bytes.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace {

using namespace certificate_action;

constexpr kube::WallTime::duration failed_renewal_pause = std::chrono::minutes(1);

bool is_for(const IssuedCertificate& certificate, const SigningRequest& request) {
  return certificate.name == request.name && certificate.key == request.key;
}

}  // namespace

std::optional<StoredCertificate> read_stored_certificate(const kube::Object& secret, const SigningRequest& request) {
  std::string pem = secret_bytes(secret, "certificate");
  const auto certificate = read_certificate(pem);
  if (!certificate || !is_for(*certificate, request)) return std::nullopt;
  const auto received = kube::parse_time(secret.annotation(api::annotations::certificate_received));
  return StoredCertificate{.pem = std::move(pem),
                           .renew_at = renewal_time(*certificate, received ? std::optional(*received) : std::nullopt),
                           .not_after = certificate->not_after};
}

kube::Result<IssuedCertificate> read_signed_certificate(std::string_view pem, const SigningRequest& request) {
  auto certificate = read_certificate(pem);
  if (!certificate) return kube::fail(std::move(certificate.error()), "reading what the cluster signed");
  if (!is_for(*certificate, request))
    return kube::fail(kube::Errc::unsupported,
                      "the cluster signed a certificate of another name or key than it was asked for");
  return certificate;
}

CertificatePlan plan_certificate(const CertificateSight& sight) {
  const StoredCertificate* stored = sight.stored;
  if (sight.has_failed) {
    if (stored && sight.now < stored->not_after) return UseStored{sight.now + failed_renewal_pause};
    return GiveUp{};
  }
  // A certificate that was received close to its end by our clock is renewed a minute later, after that end. A later
  // time comes of a clock that was ahead at its receipt.
  if (stored && sight.now < stored->renew_at &&
      stored->renew_at <= std::max(stored->not_after, sight.now + soonest_renewal))
    return UseStored{stored->renew_at};
  return Sign{};
}

}  // namespace liqo::core
