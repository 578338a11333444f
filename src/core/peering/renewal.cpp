#include "liqo/core/peering/renewal.hpp"

#include <algorithm>

#include "core/peering/der.hpp"
#include "core/peering/distinguished_name.hpp"
#include "core/peering/pem.hpp"

namespace liqo::core {
namespace {

constexpr std::size_t longest_certificate = std::size_t{64} << 10;
constexpr kube::WallTime::duration soonest_renewal = std::chrono::minutes(1);

std::unexpected<kube::Failure> not_a_certificate() {
  return kube::fail(kube::Errc::parse, "not an X.509 certificate in PEM");
}

/// A Time of RFC 5280 section 4.1.2.5: "YYMMDDHHMMSSZ" up to 2049, "YYYYMMDDHHMMSSZ" from then on.
std::optional<kube::WallTime> read_time(const der::Element& element) {
  std::string text(element.content);
  if (element.tag == der::utc_time && text.size() == 13) {
    text.insert(0, text[0] < '5' ? "20" : "19");
  } else if (element.tag != der::generalized_time) {
    return std::nullopt;
  }
  if (text.size() != 15 || text.back() != 'Z') return std::nullopt;
  if (!std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  const std::string rfc3339 = text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2) + "T" +
                              text.substr(8, 2) + ":" + text.substr(10, 2) + ":" + text.substr(12, 2) + "Z";
  auto time = kube::parse_time(rfc3339);
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

kube::Result<IssuedCertificate> read_certificate(std::string_view pem) {
  if (pem.size() > longest_certificate)
    return kube::fail(kube::Errc::too_large, "the certificate has more than 64 KiB");
  const auto block = read_pem(pem);
  if (!block || block->type != "CERTIFICATE") return not_a_certificate();
  der::Reader outer(block->der);
  const auto certificate = outer.take(der::sequence);
  if (!certificate || !outer.at_end()) return not_a_certificate();
  der::Reader parts(certificate->content);
  const auto body = parts.take(der::sequence);
  if (!body) return not_a_certificate();

  der::Reader fields(body->content);
  if (fields.peek() == der::context_0) static_cast<void>(fields.any());  // version
  const auto serial = fields.take(der::integer);
  const auto algorithm = fields.take(der::sequence);
  const auto issuer = fields.take(der::sequence);
  const auto validity = fields.take(der::sequence);
  const auto subject = fields.take(der::sequence);
  const auto key_info = fields.take(der::sequence);
  if (!serial || !algorithm || !issuer || !validity || !subject || !key_info) return not_a_certificate();

  der::Reader times(validity->content);
  const auto begin = times.any();
  const auto end = times.any();
  if (!begin || !end || !times.at_end()) return not_a_certificate();
  const auto not_before = read_time(*begin);
  const auto not_after = read_time(*end);
  if (!not_before || !not_after) return not_a_certificate();
  auto key = PublicKey::from_der(key_info->whole);
  if (!key) return kube::fail(std::move(key.error()), "the certificate");
  auto name = read_name(subject->content);
  return IssuedCertificate{.not_before = *not_before,
                           .not_after = *not_after,
                           .key = std::move(*key),
                           .name = name ? std::optional(std::move(*name)) : std::nullopt};
}

kube::WallTime renewal_time(const IssuedCertificate& certificate, std::optional<kube::WallTime> received) {
  const kube::WallTime begin = received.value_or(certificate.not_before);
  const kube::WallTime due = begin + (certificate.not_after - begin) * 2 / 3;
  return received ? std::max(due, *received + soonest_renewal) : std::max(due, begin);
}

}  // namespace liqo::core
