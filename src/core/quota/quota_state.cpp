#include "core/quota/quota_state.hpp"

namespace liqo::core {

std::string refuse_demand(const QuotaState& state, const Resources& demand, bool figures) {
  for (const auto& [name, asked] : demand) {
    if (asked.is_zero()) continue;
    const auto hard = state.hard.find(name);
    if (hard == state.hard.end()) {
      if (name == "pods") continue;
      return "quota " + state.quota.text() + " grants no " + name + ": the pod asks for " + asked.readable() +
             ", and the resource is not part of the slice";
    }
    const kube::Quantity used = amount(state.used, name);
    if (used + asked <= hard->second) continue;
    if (!figures) return "quota " + state.quota.text() + " has not enough " + name;
    const kube::Quantity free = used < hard->second ? hard->second - used : kube::Quantity(0, asked.format());
    return "quota " + state.quota.text() + " has not enough " + name + ": asked " + asked.readable() + ", used " +
           used.readable() + " of " + hard->second.readable() + ", free " + free.readable();
  }
  return "";
}

}  // namespace liqo::core
