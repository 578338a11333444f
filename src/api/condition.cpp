#include "api/condition.hpp"

namespace liqo::api {
namespace json = kube::json;

std::optional<json::array> merge_condition(const json::array& live, const kube::Condition& wanted,
                                           TransitionOn transition, kube::WallTime now) {
  json::array conditions;
  bool found = false;
  bool changed = false;
  for (const json::value& entry : live) {
    const bool same_type = entry.is_object() && kube::string_at(entry, {"type"}) == wanted.type;
    if (!entry.is_object() || (found && same_type)) {
      changed = true;
      continue;
    }
    if (!same_type) {
      conditions.push_back(entry);
      continue;
    }
    found = true;
    json::object kept = entry.get_object();
    const bool same_status = kube::string_at(entry, {"status"}) == wanted.status;
    if (!same_status || kube::string_at(entry, {"reason"}) != wanted.reason ||
        kube::string_at(entry, {"message"}) != wanted.message) {
      changed = true;
      kept["status"] = wanted.status;
      if (!same_status || transition == TransitionOn::anything) kept["lastTransitionTime"] = kube::format_time(now);
      kept["reason"] = wanted.reason;
      kept["message"] = wanted.message;
    }
    conditions.push_back(std::move(kept));
  }
  if (!found) {
    changed = true;
    conditions.push_back(json::object{{"type", wanted.type},
                                      {"status", wanted.status},
                                      {"lastTransitionTime", kube::format_time(now)},
                                      {"reason", wanted.reason},
                                      {"message", wanted.message}});
  }
  if (!changed) return std::nullopt;
  return conditions;
}

}  // namespace liqo::api
