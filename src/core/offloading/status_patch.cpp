// Computes the strategic merge patch from the status that a pod has to the wanted one.
#include "core/common/difference.hpp"
#include "core/common/json_values.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/k8s/condition.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// Fields that liqod writes, so a missing one in the wanted status is removed. `startTime` is never removed.
constexpr std::string_view owned_fields[] = {
    "phase", "reason", "message", "podIP", "hostIP", "containerStatuses", "initContainerStatuses"};
/// Lists that a strategic merge patch would merge by the key `ip`.
constexpr std::string_view address_lists[] = {"podIPs", "hostIPs"};

bool is_absent(const json::value* value) { return !value || is_empty(*value); }

/// Absent, null and empty are the same: the API server does not store empty values.
bool is_same(const json::value* have, const json::value* wanted) {
  if (is_absent(have) || is_absent(wanted)) return is_absent(have) && is_absent(wanted);
  return *have == *wanted;
}

json::value condition_patch(const json::object* have, const json::object& wanted) {
  json::object patch;
  for (std::string_view key :
       {"status", "reason", "message", "lastTransitionTime", "lastProbeTime", "observedGeneration"}) {
    const json::value* before = have ? have->if_contains(key) : nullptr;
    const json::value* after = wanted.if_contains(key);
    if (is_same(before, after)) continue;
    patch[key] = is_absent(after) ? json::value(nullptr) : *after;
  }
  if (!patch.empty()) patch["type"] = kube::string_at(wanted, {"type"});
  return patch;
}

json::array conditions_patch(const json::array& have, const json::array& wanted) {
  json::array patch;
  for (const json::value& entry : wanted) {
    const json::object* condition = entry.if_object();
    if (!condition) continue;
    json::value change = condition_patch(kube::find_condition(have, kube::string_at(entry, {"type"})), *condition);
    if (!change.get_object().empty()) patch.push_back(std::move(change));
  }
  for (const json::value& entry : have) {
    const std::string_view type = kube::string_at(entry, {"type"});
    if (!type.empty() && !kube::find_condition(wanted, type))
      patch.push_back(json::object{{"$patch", "delete"}, {"type", type}});
  }
  return patch;
}

}  // namespace

std::optional<json::object> status_patch(const kube::Object& local, const WantedStatus& wanted) {
  const json::object& have = local.status();
  json::object status;
  for (const auto& [key, value] : wanted.status) {
    if (key == "conditions" || key == "podIPs" || key == "hostIPs") continue;
    if (!is_same(have.if_contains(key), &value)) status[key] = value;
  }
  for (std::string_view key : owned_fields)
    if (!wanted.status.contains(key) && !is_absent(have.if_contains(key))) status[key] = nullptr;
  for (std::string_view key : address_lists) {
    const json::value* addresses = wanted.status.if_contains(key);
    if (is_same(have.if_contains(key), addresses)) continue;
    if (is_absent(addresses)) {
      status[key] = nullptr;
      continue;
    }
    json::array replaced{json::object{{"$patch", "replace"}}};
    for (const json::value& entry : kube::array_at(wanted.status, {key})) replaced.push_back(entry);
    status[key] = std::move(replaced);
  }
  if (json::array conditions =
          conditions_patch(kube::array_at(have, {"conditions"}), kube::array_at(wanted.status, {"conditions"}));
      !conditions.empty())
    status["conditions"] = std::move(conditions);

  json::object metadata;
  if (json::object labels = changed_entries(local.labels(), wanted.labels); !labels.empty())
    metadata["labels"] = std::move(labels);
  if (json::object annotations = changed_entries(local.annotations(), wanted.annotations); !annotations.empty())
    metadata["annotations"] = std::move(annotations);
  if (status.empty() && metadata.empty()) return std::nullopt;
  metadata["uid"] = local.uid();
  json::object patch{{"metadata", std::move(metadata)}};
  if (!status.empty()) patch["status"] = std::move(status);
  return patch;
}

}  // namespace liqo::core
