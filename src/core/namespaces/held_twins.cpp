#include "core/namespaces/held_twins.hpp"

#include <algorithm>

namespace liqo::core {

HeldTwins held_twins(std::span<const storage::RemoteData> data, std::string_view cluster, const WantedTwins& current) {
  HeldTwins held;
  for (const storage::RemoteData& one : data) {
    if (one.cluster != cluster) continue;
    // The volume may be for another claim by now: its data is in the twin that the record names.
    const auto twin = one.twin.empty()
                          ? current.find(one.claim.ns)
                          : std::ranges::find(current, one.twin, [](const auto& entry) { return entry.second; });
    if (twin != current.end()) held[twin->first].push_back(one);
  }
  return held;
}

void keep_held(TwinWish& wish, const HeldTwins& held, const WantedTwins& current) {
  for (const auto& [ns, data] : held) {
    wish.twins.insert_or_assign(ns, current.find(ns)->second);
    wish.leaving.erase(ns);
  }
  cut_to_max(wish.twins, current);
}

std::string why_held(std::string_view ns, std::span<const storage::RemoteData> data) {
  return "the remote namespace stays, because volumes hold data there: those of " + storage::in_words(data) +
         "; offload the namespace there again to use it, move it by liqoctl move volume, or delete it by liqoctl "
         "unoffload namespace " +
         std::string(ns) + " --delete-volumes";
}

}  // namespace liqo::core
