#include "reflection_states.hpp"

namespace liqo::sim {

using kube::TimePoint;

std::map<std::string, std::vector<State>> read_states(Cluster& cluster, const kube::Resource& resource,
                                                      std::string_view ns) {
  std::map<std::string, std::vector<State>> states;
  for (const kube::testing::FakeChange& change : cluster.server.store().table(resource).log) {
    if (change.key.ns != ns) continue;
    std::vector<State>& of_name = states[change.key.name];
    if (of_name.empty()) of_name.push_back({TimePoint::min(), change.at, nullptr});
    of_name.back().until = change.at;
    const bool is_gone = change.type == kube::testing::ChangeType::deleted;
    of_name.push_back({change.at, TimePoint::max(), is_gone ? nullptr : change.after});
  }
  return states;
}

bool overlaps(const State& state, TimePoint from, TimePoint until) {
  return state.from <= until && state.until >= from;
}

}  // namespace liqo::sim
