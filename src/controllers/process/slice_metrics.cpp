#include "controllers/process/slice_metrics.hpp"

#include <set>

#include "core/quota/amounts.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {

SliceMetrics::SliceMetrics(kube::InformerSet& home, kube::Metrics& metrics)
    : metrics_(metrics),
      slices_(home.acquire({.resource = api::kinds::resource_slices})),
      usage_(
          slices_, [this](const kube::Object& slice) { return read(slice); },
          [this](const kube::ObjectKey& key, const auto* before, const auto* now) {
            if (is_shown_ && !(before && now && *before == *now)) update(key.name);
          }) {}

std::optional<SliceMetrics::Usage> SliceMetrics::read(const kube::Object& slice) {
  const api::ResourceSlice view(slice);
  if (!view.is_local()) return std::nullopt;
  ++reads_;
  Usage usage{.cluster = std::string(slice.label(api::labels::remote_cluster_id)),
              .is_accepted = view.is_accepted(api::slice_conditions::resources),
              .amounts = {}};
  // A resource that was granted without being requested has a name that the provider chose.
  std::set<std::string> names(core::common_resources.begin(), core::common_resources.end());
  for (const auto& asked : view.requested()) names.emplace(asked.key());
  for (const std::string& resource : names)
    usage.amounts.push_back({.resource = resource,
                             .requested = core::amount_of(view.requested(), resource),
                             .granted = core::amount_of(view.granted(), resource)});
  return usage;
}

void SliceMetrics::set(const kube::ObjectKey& key, const Usage& usage) {
  kube::Labels labels{{"cluster_id", usage.cluster}, {"slice", key.name}};
  std::map<kube::Labels, double> requested, granted;
  const std::map<kube::Labels, double> accepted{{labels, usage.is_accepted ? 1 : 0}};
  for (const Amounts& amounts : usage.amounts) {
    labels["resource"] = amounts.resource;
    if (amounts.requested) requested[labels] = *amounts.requested;
    if (amounts.granted) granted[labels] = *amounts.granted;
  }
  Gauges& gauges = gauges_
                       .try_emplace(key, Gauges{.requested = {metrics_, families::slice_requested},
                                                .granted = {metrics_, families::slice_granted},
                                                .accepted = {metrics_, families::slice_accepted}})
                       .first->second;
  gauges.requested.show(requested);
  gauges.granted.show(granted);
  gauges.accepted.show(accepted);
}

void SliceMetrics::update(const std::string& name) {
  std::erase_if(gauges_, [&](const auto& entry) {
    const auto* usage = entry.first.name == name ? usage_.find(entry.first) : nullptr;
    return entry.first.name == name && (!usage || !*usage);
  });
  for (const auto& [key, usage] : usage_.all())
    if (key.name == name && usage) set(key, *usage);
}

void SliceMetrics::show(bool shown) {
  if (shown == is_shown_) return;
  is_shown_ = shown;
  gauges_.clear();
  if (!shown) return;
  for (const auto& [key, usage] : usage_.all())
    if (usage) set(key, *usage);
}

}  // namespace liqo::controllers
