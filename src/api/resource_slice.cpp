#include "liqo/api/resource_slice.hpp"

#include "api/condition.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::api {
namespace json = kube::json;

std::string_view ResourceSlice::slice_class() const {
  const std::string_view named = kube::string_at(object_->spec(), {"class"});
  return named.empty() ? "default" : named;
}

std::optional<kube::Condition> ResourceSlice::condition(std::string_view type) const {
  const json::object* found = kube::find_condition(object_->status(), type);
  if (!found) return std::nullopt;
  return kube::Condition{.type = kube::string_at(*found, {"type"}),
                         .status = kube::string_at(*found, {"status"}),
                         .reason = kube::string_at(*found, {"reason"}),
                         .message = kube::string_at(*found, {"message"})};
}

bool ResourceSlice::is_accepted(std::string_view type) const {
  const auto found = condition(type);
  return found && found->status == slice_conditions::accepted;
}

bool ResourceSlice::is_denied(std::string_view type) const {
  const auto found = condition(type);
  return found && found->status == slice_conditions::denied;
}

bool ResourceSlice::is_replica() const {
  return object_->label(labels::replicated) == "true" && object_->has_label(labels::replication_origin);
}

bool ResourceSlice::is_local() const {
  return !object_->has_label(labels::replicated) && !object_->has_label(labels::replication_origin) &&
         !object_->label(labels::remote_cluster_id).empty();
}

std::optional<json::array> with_slice_condition(const kube::Object& slice, const kube::Condition& wanted,
                                                kube::WallTime now) {
  return merge_condition(kube::array_at(slice.status(), {"conditions"}), wanted, TransitionOn::anything, now);
}

std::optional<json::array> without_slice_condition(const kube::Object& slice, std::string_view type) {
  json::array kept;
  const json::array& conditions = kube::array_at(slice.status(), {"conditions"});
  for (const json::value& entry : conditions)
    if (kube::string_at(entry, {"type"}) != type) kept.push_back(entry);
  if (kept.size() == conditions.size()) return std::nullopt;
  return kept;
}

}  // namespace liqo::api
