#include "core/namespaces/resource_quota.hpp"

#include "core/common/difference.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

json::object marks_of(std::string_view consumer) {
  return {{api::labels::app_managed_by, api::labels::app_managed_by_liqo}, {api::labels::remote_cluster_id, consumer}};
}

}  // namespace

Resources hard_of(const kube::Object& quota) {
  return read_resources(kube::object_at(quota.spec(), {"hard"})).value_or(Resources());
}

kube::Object forge_resource_quota(const kube::ObjectKey& key, std::string_view consumer, const Resources& hard) {
  kube::Object quota = kube::Object::make(api::kinds::resource_quotas, key);
  quota.set_labels(marks_of(consumer));
  quota.mutable_spec()["hard"] = write_resources(hard);
  return quota;
}

std::optional<json::object> plan_resource_quota(const kube::Object& quota, std::string_view consumer,
                                                const Resources& hard,
                                                const std::function<bool(std::string_view name)>& is_over) {
  json::object metadata, changes;
  if (json::object marks = changed_entries(quota.labels(), marks_of(consumer)); !marks.empty())
    metadata["labels"] = std::move(marks);
  const Resources present = hard_of(quota);
  for (const auto& [name, bound] : hard)
    if (const auto found = present.find(name); found == present.end() || found->second != bound)
      changes[name] = bound.text();
  for (const auto& [name, bound] : kube::object_at(quota.spec(), {"hard"}))
    if (is_over(name)) changes[name] = nullptr;
  if (metadata.empty() && changes.empty()) return std::nullopt;
  metadata["resourceVersion"] = quota.resource_version();
  json::object patch{{"metadata", std::move(metadata)}};
  if (!changes.empty()) patch["spec"] = json::object{{"hard", std::move(changes)}};
  return patch;
}

}  // namespace liqo::core
