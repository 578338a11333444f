#include "kube/k8s/condition.hpp"

#include <algorithm>

namespace kube {
namespace {

bool has_type(const json::value& entry, std::string_view type) { return string_at(entry, {"type"}) == type; }

}  // namespace

const json::object* find_condition(const json::array& conditions, std::string_view type) {
  for (const json::value& entry : conditions)
    if (has_type(entry, type)) return entry.if_object();
  return nullptr;
}

const json::object* find_condition(const json::object& status, std::string_view type) {
  return find_condition(array_at(status, {"conditions"}), type);
}

bool has_condition(const Object& object, std::string_view type) {
  const json::object* condition = find_condition(object.status(), type);
  return condition && string_at(*condition, {"status"}) == "True";
}

json::object forge_condition(const json::array& present, const Condition& wanted, WallTime now) {
  json::object made{{"type", wanted.type}, {"status", wanted.status}, {"lastTransitionTime", format_time(now)}};
  if (!wanted.reason.empty()) made["reason"] = wanted.reason;
  if (!wanted.message.empty()) made["message"] = wanted.message;
  if (const json::object* before = find_condition(present, wanted.type);
      before && string_at(*before, {"status"}) == wanted.status)
    if (const std::string_view since = string_at(*before, {"lastTransitionTime"}); !since.empty())
      made["lastTransitionTime"] = since;
  return made;
}

void set_condition(json::array& conditions, const json::object& present_status, const Condition& wanted, WallTime now) {
  json::object made = forge_condition(array_at(present_status, {"conditions"}), wanted, now);
  const auto standing =
      std::ranges::find_if(conditions, [&](const json::value& entry) { return has_type(entry, wanted.type); });
  if (standing == conditions.end())
    conditions.push_back(std::move(made));
  else
    *standing = std::move(made);
}

}  // namespace kube
