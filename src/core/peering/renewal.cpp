#include "core/peering/renewal.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "core/peering/distinguished_name.hpp"
#include "core/peering/pem.hpp"
#include "kube/base/near_time.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t max_certificate = std::size_t{64} << 10;

std::unexpected<kube::Failure> not_a_certificate() {
  return kube::fail(kube::Errc::parse, "not an X.509 certificate in PEM");
}

/// A Time of RFC 5280 section 4.1.2.5: "YYMMDDHHMMSSZ" up to 2049, "YYYYMMDDHHMMSSZ" afterwards. libcrypto accepts
/// other forms as well.
std::optional<kube::WallTime> read_time(const ASN1_TIME* time) {
  const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(time)),
                              static_cast<std::size_t>(ASN1_STRING_length(time)));
  if (text.size() != (ASN1_STRING_type(time) == V_ASN1_UTCTIME ? 13 : 15) || !text.ends_with('Z')) return std::nullopt;
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(parts.tm_year + 1900),
                                        std::chrono::month(static_cast<unsigned>(parts.tm_mon) + 1),
                                        std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
  return std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) +
         std::chrono::seconds(parts.tm_sec);
}

}  // namespace

kube::Result<IssuedCertificate> read_certificate(std::string_view pem) {
  if (pem.size() > max_certificate) return kube::fail(kube::Errc::too_large, "the certificate has more than 64 KiB");
  const auto block = read_pem(pem);
  if (!block || block->type != "CERTIFICATE") return not_a_certificate();
  const auto certificate = libcrypto::read_der<libcrypto::Certificate>(block->der, d2i_X509, i2d_re_X509_tbs, i2d_X509);
  if (!certificate) return not_a_certificate();
  const auto not_before = read_time(X509_get0_notBefore(certificate.get()));
  const auto not_after = read_time(X509_get0_notAfter(certificate.get()));
  if (!not_before || !not_after) return not_a_certificate();
  KUBE_TRY(key,
           PublicKey::from_der(
               libcrypto::der_of<const X509_PUBKEY>(i2d_X509_PUBKEY, X509_get_X509_PUBKEY(certificate.get()))),
           "the certificate");
  auto name = read_name(*X509_get_subject_name(certificate.get()));
  return IssuedCertificate{.not_before = *not_before,
                           .not_after = *not_after,
                           .key = std::move(key),
                           .name = name ? std::optional(std::move(*name)) : std::nullopt};
}

kube::WallTime renewal_time(kube::WallTime begin, kube::WallTime end, kube::WallTime soonest) {
  return kube::near_time(std::max(begin + (end - begin) * 2 / 3, soonest));
}

kube::WallTime renewal_time(const IssuedCertificate& certificate, std::optional<kube::WallTime> received) {
  const kube::WallTime begin = received.value_or(certificate.not_before);
  return renewal_time(begin, certificate.not_after, received ? *received + soonest_renewal : begin);
}

}  // namespace liqo::core
