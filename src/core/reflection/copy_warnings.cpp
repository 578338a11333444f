#include "core/reflection/copy_warnings.hpp"

#include <algorithm>
#include <utility>

#include "core/offloading/remote_warning.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core::reflection {
namespace {

using namespace std::chrono_literals;

/// A warning that goes on becomes an Event again after this time.
constexpr kube::Duration reported_for = 10min;
/// The most warnings in that time, about one object and about one twin: a provider must not flood the Events of home.
constexpr int max_of_object = 4;
constexpr std::size_t max_of_twin = 64;

}  // namespace

std::vector<CopyWarning> copy_warnings(std::span<const kube::json::value> events) {
  std::vector<CopyWarning> out;
  for (const kube::json::value& event : events) {
    const auto about = [&](std::string_view field) {
      return std::string(kube::string_at(event, {"involvedObject", field}));
    };
    CopyWarning warning{.event = std::string(kube::string_at(event, {"metadata", "uid"})),
                        .version = kube::version_number(kube::string_at(event, {"metadata", "resourceVersion"})),
                        .kind = about("kind"),
                        .name = about("name"),
                        .uid = about("uid"),
                        .words = words_of_event(event),
                        .time = time_of_event(event)};
    const bool is_of_pod = warning.kind == kube::resources::pods.kind || warning.kind == api::kinds::shadow_pods.kind;
    if (kube::string_at(event, {"type"}) != "Warning" || is_of_pod) continue;
    if (warning.event.empty() || warning.uid.empty() || warning.name.empty() || warning.words.empty()) continue;
    out.push_back(std::move(warning));
  }
  return out;
}

std::string copy_warning_message(std::string_view provider, const CopyWarning& warning) {
  return "cluster " + std::string(provider) + " warns of its copy: " + warning.words;
}

bool CopyWarnings::is_news(const CopyWarning& warning, kube::TimePoint now) const {
  if (warning.version <= looked_) return false;
  if ((!first_ || warning.version <= *first_) && warning.time < since_) return false;
  const auto is_recent = [&](const Reported& known) { return now - known.at < reported_for; };
  if (const auto known = reported_.find(warning.event); known != reported_.end() && is_recent(known->second))
    return false;
  const auto of_object = std::ranges::count_if(
      reported_, [&](const auto& known) { return known.second.object == warning.uid && is_recent(known.second); });
  const auto of_twin = std::ranges::count_if(reported_, [&](const auto& known) { return is_recent(known.second); });
  return of_object < max_of_object && std::cmp_less(of_twin, max_of_twin);
}

void CopyWarnings::note_reported(const CopyWarning& warning, kube::TimePoint now) {
  reported_.insert_or_assign(warning.event, Reported{.object = warning.uid, .at = now});
}

void CopyWarnings::postpone(const CopyWarning& warning) {
  postponed_ = std::min(postponed_.value_or(warning.version), warning.version);
}

void CopyWarnings::looked(std::uint64_t version, kube::TimePoint now) {
  if (!first_) first_ = version;
  const auto postponed = std::exchange(postponed_, std::nullopt);
  // The version counts even if it is lower than the last one: a restored database gives versions again.
  looked_ = postponed ? std::min(version, *postponed - 1) : version;
  std::erase_if(reported_, [&](const auto& known) { return now - known.second.at >= reported_for; });
}

}  // namespace liqo::core::reflection
