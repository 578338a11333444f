#include "kube/k8s/finalizer.hpp"

namespace kube {

std::optional<json::object> finalizer_patch(const Object& object, std::string_view finalizer, bool wanted) {
  if (object.has_finalizer(finalizer) == wanted) return std::nullopt;
  json::array finalizers;
  for (const json::value& entry : array_at(object.tree(), {"metadata", "finalizers"}))
    if (!entry.is_string() || entry.get_string() != finalizer) finalizers.push_back(entry);
  if (wanted) finalizers.emplace_back(finalizer);
  return json::object{{"metadata", json::object{{"uid", object.uid()},
                                                {"resourceVersion", object.resource_version()},
                                                {"finalizers", std::move(finalizers)}}}};
}

}  // namespace kube
