#include "core/reflection/forge.hpp"

#include "core/common/meta.hpp"
#include "core/policy/orders.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;

kube::Object forge_copy(const kube::Resource& resource, const kube::Object& local, const kube::ObjectKey& key,
                        const core::ForgingContext& ctx) {
  kube::Object copy = kube::Object::make(resource, key);
  json::object& metadata = copy.mutable_metadata();
  metadata["labels"] = core::reflected_labels(local, ctx);
  metadata["annotations"] = core::reflected_annotations(local, ctx);
  if (const auto kind = core::twin_kind(resource.plural)) core::leave_at_home(metadata, *kind, ctx.kept_keys);
  return copy;
}

void copy_fields(const json::object& from, json::object& to, std::span<const std::string_view> fields) {
  for (std::string_view field : fields)
    if (const json::value* value = from.if_contains(field); value && !value->is_null()) to[field] = *value;
}

bool is_applied(const kube::Object& live, const kube::Object& wanted) {
  constexpr std::string_view digest = api::annotations::reflected_digest;
  return live.annotation(digest) == wanted.annotation(digest);
}

Comparison compare_data(const kube::Object& live, const kube::Object& wanted, std::span<const std::string_view> maps) {
  const bool is_fixed = kube::bool_at(live.tree(), {"immutable"});
  bool has_all = is_fixed || !kube::bool_at(wanted.tree(), {"immutable"});
  bool is_exact = is_fixed == kube::bool_at(wanted.tree(), {"immutable"});
  for (std::string_view map : maps) {
    const json::object &of_live = kube::object_at(live.tree(), {map}),
                       &of_wanted = kube::object_at(wanted.tree(), {map});
    has_all = has_all && core::covers(of_live, of_wanted);
    is_exact = is_exact && of_live == of_wanted;
  }
  if (!is_fixed) return has_all ? Comparison::same : Comparison::differs;
  // No key of an immutable object can be removed, so it has to be replaced. A copy that was applied is not replaced for
  // another owner's key: a provider's webhook that adds one to each object would have it replaced for ever.
  return is_exact || (has_all && is_applied(live, wanted)) ? Comparison::same : Comparison::replace;
}

json::object surplus_data(const kube::Object& live, const kube::Object& wanted,
                          std::span<const std::string_view> maps) {
  json::object patch;
  if (kube::bool_at(live.tree(), {"immutable"})) return patch;
  for (std::string_view map : maps)
    for (const auto& [key, value] : kube::object_at(live.tree(), {map}))
      if (!kube::object_at(wanted.tree(), {map}).contains(key)) kube::ensure_object(patch, map)[key] = nullptr;
  return patch;
}

}  // namespace liqo::core::reflection
