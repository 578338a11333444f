#include "core/namespaces/twin_states.hpp"

#include <map>

#include "core/namespaces/held_twins.hpp"

namespace liqo::core {

std::vector<TwinState> twin_states(const TwinsSight& sight) {
  std::map<std::string, TwinState> states;
  std::map<std::string, std::string> asked_twins;  // by cluster
  for (const ReportedTwin& twin : sight.reported) {
    const bool is_asked = !twin.asked.empty() && !twin.is_deleting;
    if (is_asked) asked_twins[twin.cluster] = twin.asked;
    states[twin.cluster] = {.map = twin.cluster,
                            .required = is_asked,
                            .phase = twin.phase,
                            .message = twin.message,
                            .is_crowded_out = !is_asked && !twin.is_deleting && twin.is_full};
  }
  // The NamespaceMap is named after the cluster, also if it is still to come.
  for (const std::string& cluster : sight.selected) {
    TwinState& state = states[cluster];
    state.map = cluster;
    state.required = true;
  }
  if (!sight.is_wish_known) asked_twins.clear();
  if (sight.is_wish_known)
    for (const ReportedTwin& twin : sight.reported)
      if (!twin.kept.empty()) states[twin.cluster].held = twin.kept;
  for (const auto& [cluster, twin] : asked_twins) {
    const bool is_wanted = sight.selected.contains(cluster);
    if (is_wanted && (sight.remote_name.empty() || twin == sight.remote_name)) continue;
    const HeldTwins held = held_twins(sight.data, cluster, {{sight.ns, twin}});
    if (held.empty()) continue;
    TwinState& state = states[cluster];
    state.required = is_wanted;
    state.held = (is_wanted ? "it still has the name " + twin + "; " : "") + why_held(sight.ns, held.begin()->second);
  }
  std::vector<TwinState> list;
  list.reserve(states.size());
  for (auto& [cluster, state] : states) list.push_back(std::move(state));
  return list;
}

}  // namespace liqo::core
