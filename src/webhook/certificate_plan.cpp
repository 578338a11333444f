#include "webhook/certificate_plan.hpp"

#include <algorithm>
#include <ranges>

#include "core/peering/renewal.hpp"
#include "kube/base/text.hpp"

namespace liqo::webhook {
namespace {

using namespace std::chrono_literals;
using kube::WallTime;
using kube::net::CertificateInfo;
using kube::net::KeyAndCertificate;

constexpr std::string_view authority_name = "liqo.io webhooks";
// The current authority, and older ones whose certificates may still be in use.
constexpr std::size_t max_authorities = 4;
// The names of all replicas together: they are merged if replicas have different settings.
constexpr std::size_t max_names = 32;

WallTime::duration in_wall_time(kube::Duration duration) {
  return std::chrono::duration_cast<WallTime::duration>(duration);
}

WallTime made_at(const CertificateInfo& info) { return info.not_before + in_wall_time(kube::net::backdating); }

WallTime due_at(const CertificateInfo& info) {
  return core::renewal_time(made_at(info), info.not_after, made_at(info));
}

bool has_all(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  return std::ranges::all_of(wanted,
                             [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); });
}

void add_new(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const std::string& name : more)
    if (names.size() < max_names && std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// The parts of the Secret that can still be used.
struct Inventory {
  std::vector<std::string> authorities;   // those that have not expired
  std::optional<CertificateInfo> signs;   // the first authority, if its key is there
  std::optional<CertificateInfo> serves;  // the certificate, if its key fits, it is valid and its authority is known
  bool has_names = false;                 // whether it has all wanted names
};

Inventory look_at(const CertificateState& have, const CertificateSettings& settings, WallTime now) {
  Inventory found;
  for (std::string& pem : kube::net::split_certificates(have.authority)) {
    const auto info = kube::net::read_certificate(pem);
    if (info && info->not_after > now) found.authorities.push_back(std::move(pem));
  }
  if (!found.authorities.empty() && !have.authority_key.empty()) {
    const auto ours = kube::net::key_matches(have.authority_key, found.authorities.front());
    auto info = kube::net::read_certificate(found.authorities.front());
    if (ours && *ours && info) found.signs = std::move(*info);
  }
  auto info = kube::net::read_certificate(have.certificate);
  const auto fits = info ? kube::net::key_matches(have.key, have.certificate) : kube::Result<bool>(false);
  const bool is_known = std::ranges::any_of(found.authorities, [&have](const std::string& authority) {
    const auto is_signed = kube::net::is_signed_by(have.certificate, authority);
    return is_signed && *is_signed;
  });
  if (info && fits && *fits && is_known && info->not_after > now) {
    found.has_names = has_all(info->subject.dns_names, settings.dns_names) &&
                      has_all(info->subject.ip_addresses, settings.ip_addresses);
    found.serves = std::move(*info);
  }
  return found;
}

kube::Result<void> renew_authority(CertificateState& state, Inventory& found, const CertificateSettings& settings,
                                   WallTime now) {
  KUBE_TRY(made, kube::net::make_authority(authority_name, now, settings.lifetime * 4), "making an authority");
  found.authorities.insert(found.authorities.begin(), made.certificate_pem);
  state.authority = kube::join(found.authorities | std::views::take(max_authorities), "");
  state.authority_key = std::move(made.key_pem);
  return {};
}

kube::Result<void> renew_certificate(CertificateState& state, const Inventory& found,
                                     const CertificateSettings& settings, WallTime now) {
  kube::net::CertificateSubject subject;
  subject.common_name = settings.dns_names.empty() ? std::string(authority_name) : settings.dns_names.back();
  // A common name has 64 characters at most, and only people read it.
  subject.common_name.resize(std::min<std::size_t>(subject.common_name.size(), 64));
  subject.dns_names = settings.dns_names;
  subject.ip_addresses = settings.ip_addresses;
  if (found.serves) {
    add_new(subject.dns_names, found.serves->subject.dns_names);
    add_new(subject.ip_addresses, found.serves->subject.ip_addresses);
  }
  const KeyAndCertificate authority{.key_pem = state.authority_key,
                                    .certificate_pem = kube::net::split_certificates(state.authority).front()};
  KUBE_TRY(made, kube::net::issue_server_certificate(authority, subject, now, settings.lifetime),
           "making a serving certificate");
  state.certificate = std::move(made.certificate_pem);
  state.key = std::move(made.key_pem);
  return {};
}

}  // namespace

kube::Result<CertificatePlan> plan_certificates(const CertificateState& have, const CertificateSettings& settings,
                                                WallTime now) {
  Inventory found = look_at(have, settings, now);
  const auto settle = in_wall_time(std::min<kube::Duration>(settings.lifetime / 10, 5min));
  CertificatePlan plan{.usable = found.serves.has_value(), .change = std::nullopt, .look_again = now + settle};
  CertificateState next = have;

  if (!found.serves) {
    // Nothing is served yet, so there is no certificate for which an overlap would be needed.
    if (!found.signs || now >= due_at(*found.signs)) KUBE_TRYV(renew_authority(next, found, settings, now));
    KUBE_TRYV(renew_certificate(next, found, settings, now));
    plan.change = std::move(next);
    return plan;
  }
  // Replicas with different names would otherwise write in turns without a pause.
  const bool lacks_names = !found.has_names && now >= made_at(*found.serves) + 1min;
  const bool certificate_due = now >= due_at(*found.serves) || lacks_names;
  const bool authority_due = found.signs ? now >= due_at(*found.signs) : certificate_due;
  if (authority_due) {
    KUBE_TRYV(renew_authority(next, found, settings, now));
    plan.change = std::move(next);
    return plan;
  }
  if (!certificate_due) {
    plan.look_again = found.signs ? std::min(due_at(*found.serves), due_at(*found.signs)) : due_at(*found.serves);
    if (!found.has_names) plan.look_again = std::min(plan.look_again, made_at(*found.serves) + 1min);
    return plan;
  }
  // The first authority is in the configurations from the start, so its certificate needs no wait.
  const bool is_settled = found.authorities.size() == 1 || now >= made_at(*found.signs) + settle;
  if (!is_settled) {
    plan.look_again = made_at(*found.signs) + settle;
    return plan;
  }
  KUBE_TRYV(renew_certificate(next, found, settings, now));
  plan.change = std::move(next);
  return plan;
}

}  // namespace liqo::webhook
