#include "core/conditions.hpp"

namespace liqo::core {
namespace json = kube::json;

const json::object* find_condition(const json::array& conditions, std::string_view type) {
  for (const json::value& entry : conditions)
    if (kube::string_at(entry, {"type"}) == type) return entry.if_object();
  return nullptr;
}

const json::object* find_condition(const json::object& status, std::string_view type) {
  return find_condition(kube::array_at(status, {"conditions"}), type);
}

void set_condition(json::array& conditions, const json::object& present_status, const Condition& wanted,
                   kube::WallTime now) {
  json::object made{{"type", wanted.type}, {"status", wanted.status}};
  if (!wanted.reason.empty()) made["reason"] = wanted.reason;
  if (!wanted.message.empty()) made["message"] = wanted.message;
  const json::object* present = find_condition(present_status, wanted.type);
  const bool same = present && kube::string_at(*present, {"status"}) == wanted.status &&
                    !kube::string_at(*present, {"lastTransitionTime"}).empty();
  made["lastTransitionTime"] =
      same ? std::string(kube::string_at(*present, {"lastTransitionTime"})) : kube::format_time(now);
  for (json::value& entry : conditions) {
    if (kube::string_at(entry, {"type"}) != wanted.type) continue;
    entry = std::move(made);
    return;
  }
  conditions.push_back(std::move(made));
}

}  // namespace liqo::core
