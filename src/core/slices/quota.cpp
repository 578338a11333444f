#include "core/slices/quota.hpp"

#include "core/common/difference.hpp"
#include "core/common/owner.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/quota.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

void fill(kube::Object& quota, const kube::Object& slice, const QuotaWish& wish) {
  json::object& spec = quota.mutable_spec();
  if (kube::string_at(spec, {"user"}) != wish.user) spec["user"] = wish.user;
  if (kube::string_at(spec, {"limitsEnforcement"}) != wish.enforcement) spec["limitsEnforcement"] = wish.enforcement;
  if (wish.record) {
    auto written = read_resources(kube::object_at(spec, {"resources"}));
    if (!written || *written != wish.record->granted || !spec.contains("resources"))
      spec["resources"] = write_resources(wish.record->granted);
    quota.set_annotation(api::annotations::negotiated, write_slice_record(*wish.record));
  }
  if (wish.cordoned != api::Quota(quota).is_cordoned()) {
    if (wish.cordoned)
      spec["cordoned"] = true;
    else
      spec.erase("cordoned");
  }
  if (wish.drained)
    quota.set_annotation(api::annotations::drained, "true");
  else if (quota.has_annotation(api::annotations::drained))
    kube::ensure_object(quota.mutable_metadata(), "annotations").erase(api::annotations::drained);
  if (!quota.controller()) quota.add_owner_reference(blocking_owner_of(slice));
}

}  // namespace

kube::Object forge_quota(const kube::Object& slice, const QuotaWish& wish) {
  kube::Object quota = kube::Object::make(api::kinds::quotas, {std::string(slice.ns()), wish.user});
  fill(quota, slice, wish);
  return quota;
}

std::optional<json::object> plan_quota_update(const kube::Object& quota, const kube::Object& slice,
                                              const QuotaWish& wish) {
  kube::Object wanted = quota;
  fill(wanted, slice, wish);
  json::object patch = difference(quota.tree(), wanted.tree());
  if (patch.empty()) return std::nullopt;
  kube::ensure_object(patch, "metadata")["resourceVersion"] = quota.resource_version();
  return patch;
}

bool is_quota_of_another(const kube::Object& quota, const kube::Object& slice) {
  const auto owner = quota.controller();
  return owner && owner->uid != slice.uid();
}

std::optional<json::object> plan_quota_status(const kube::Object& quota, const QuotaUsage& usage) {
  const json::object& bounds = api::Quota(quota).resources();
  Resources used, reserved;
  for (const auto& [name, bound] : bounds) used.emplace(name, kube::Quantity());
  // The status has `pods` as a number of its own, so `used` has it only if the Quota bounds it. A resource that is
  // bounded no longer may still be in use, and is shown.
  const auto shown = [&bounds](const auto& entry) {
    return bounds.contains(entry.first) || (!entry.second.is_zero() && entry.first != "pods");
  };
  for (const auto& entry : usage.used)
    if (shown(entry)) used[entry.first] = entry.second;
  for (const auto& entry : usage.reserved)
    if (shown(entry) && !entry.second.is_zero()) reserved.insert(entry);
  const json::object wanted{
      {"used", write_resources(used)}, {"reserved", write_resources(reserved)}, {"pods", usage.pods}};
  json::object patch = difference(quota.status(), wanted);
  if (patch.empty()) return std::nullopt;
  return json::object{{"metadata", json::object{{"uid", quota.uid()}}}, {"status", std::move(patch)}};
}

}  // namespace liqo::core
