#include "forge.hpp"

#include "liqo/core/forge/meta.hpp"

namespace liqo::reflection {
namespace json = kube::json;
namespace {

bool is_nothing(const json::value* value) {
  if (!value || value->is_null()) return true;
  if (const auto* object = value->if_object()) return object->empty();
  if (const auto* array = value->if_array()) return array->empty();
  return false;
}

}  // namespace

kube::Object forge_copy(const kube::Resource& resource, const kube::Object& local, std::string remote_name,
                        std::string_view remote_namespace, const core::ForgingContext& ctx) {
  kube::Object copy = kube::Object::make(resource, {std::string(remote_namespace), std::move(remote_name)});
  json::object& metadata = copy.mutable_metadata();
  metadata["labels"] = core::reflected_labels(local, ctx);
  metadata["annotations"] = core::reflected_annotations(local, ctx);
  return copy;
}

void copy_fields(const kube::Object& from, kube::Object& to, std::span<const std::string_view> fields) {
  for (std::string_view field : fields)
    if (const json::value* value = from.tree().if_contains(field); value && !value->is_null())
      to.tree()[field] = *value;
}

bool is_same_field(const json::value* left, const json::value* right) {
  if (is_nothing(left) || is_nothing(right)) return is_nothing(left) && is_nothing(right);
  return *left == *right;
}

}  // namespace liqo::reflection
