#include "controllers/namespaces/reported_twins.hpp"

#include <utility>

#include "core/namespaces/desired_mapping.hpp"
#include "core/namespaces/withdrawn_twins.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kept_twins.hpp"
#include "liqo/api/namespace_map.hpp"

namespace liqo::controllers {

ReportedTwins::ReportedTwins(kube::InformerHandle& maps, const OfferedNodes& offered, Handlers handlers)
    : offered_(offered),
      handlers_(std::move(handlers)),
      reported_(
          maps, map_of,
          [this](const kube::ObjectKey& key, const Map* before, const Map* now) { map_changed(key, before, now); },
          handlers_.all_changed) {
  for (const auto& [key, map] : reported_.all()) recount(key.name);
}

std::vector<core::ReportedTwin> ReportedTwins::of(const std::string& ns) const {
  std::vector<core::ReportedTwin> reported;
  for (const kube::ObjectKey& key : counted_) {
    const Map* map = reported_.find(key);
    if (!map) continue;
    const auto found = map->twins.find(ns);
    const Map::Twin twin = found == map->twins.end() ? Map::Twin() : found->second;
    reported.push_back({.cluster = key.name,
                        .asked = twin.asked,
                        .phase = twin.phase,
                        .message = twin.message,
                        .kept = twin.kept,
                        .is_deleting = map->is_deleting,
                        .is_full = map->asked >= core::max_mappings});
  }
  return reported;
}

std::vector<std::string> ReportedTwins::awaiting(std::string_view cluster) const {
  std::vector<std::string> awaiting;
  for (const kube::ObjectKey& key : counted_) {
    const Map* map = key.name == cluster ? reported_.find(key) : nullptr;
    if (!map) continue;
    for (const auto& [ns, twin] : map->twins)
      if (!twin.asked.empty() && twin.phase != "Accepted") awaiting.push_back(ns);
  }
  return awaiting;
}

bool ReportedTwins::recount(std::string_view cluster) {
  bool changed = std::erase_if(counted_, [&](const kube::ObjectKey& key) { return !reported_.find(key); }) > 0;
  for (const auto& [key, map] : reported_.all()) {
    if (key.name != cluster) continue;
    if (map.is_outgoing && offered_.may_be_home(cluster, key.ns))
      changed |= counted_.insert(key).second;
    else
      changed |= counted_.erase(key) > 0;
  }
  return changed;
}

ReportedTwins::Map ReportedTwins::map_of(const kube::Object& object) {
  const api::NamespaceMap map(object);
  Map known{.is_outgoing = map.is_outgoing_to(object.name()), .is_deleting = object.is_deleting()};
  for (auto& entry : map.current_mapping())
    known.twins[entry.local] = {
        .asked = {}, .phase = std::move(entry.phase), .message = std::move(entry.message), .kept = {}};
  for (auto& entry : map.desired_mapping()) {
    known.asked += !entry.remote.empty();
    known.twins[entry.local].asked = std::move(entry.remote);
  }
  for (const std::string& ns : core::twins_in(object, api::annotations::holds_data)) {
    Map::Twin& twin = known.twins[ns];
    twin.kept = twin.message;
  }
  return known;
}

void ReportedTwins::map_changed(const kube::ObjectKey& key, const Map* before, const Map* now) {
  const auto is_full = [](const Map& map) { return map.asked >= core::max_mappings; };
  if (recount(key.name) || !before || !now || before->is_deleting != now->is_deleting ||
      is_full(*before) != is_full(*now))
    return handlers_.all_changed();
  for (const auto& [ns, twin] : now->twins)
    if (const auto found = before->twins.find(ns); found == before->twins.end() || found->second != twin)
      handlers_.changed(ns);
  for (const auto& [ns, twin] : before->twins)
    if (!now->twins.contains(ns)) handlers_.changed(ns);
}

}  // namespace liqo::controllers
