// Typed reading of a VkOptionsTemplate: what of it holds for the virtual nodes that follow it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::api {

/// The one of the Liqo namespace that VirtualNodes follow which name none.
inline constexpr std::string_view default_options_template = "virtual-kubelet-default";

/// A view; lives as long as the object. What is absent or of the wrong type reads as empty.
class VkOptionsTemplate {
 public:
  explicit VkOptionsTemplate(const kube::Object& object) : object_(&object) {}

  std::vector<std::string> labels_not_reflected() const { return strings("labelsNotReflected"); }
  std::vector<std::string> annotations_not_reflected() const { return strings("annotationsNotReflected"); }
  std::vector<std::string> extra_args() const { return strings("extraArgs"); }
  /// By kind in lower case: `workers` and `type`.
  const kube::json::object& reflectors_config() const { return kube::object_at(object_->spec(), {"reflectorsConfig"}); }

 private:
  std::vector<std::string> strings(std::string_view field) const {
    std::vector<std::string> found;
    for (const kube::json::value& entry : kube::array_at(object_->spec(), {field}))
      if (entry.is_string()) found.emplace_back(entry.get_string());
    return found;
  }

  const kube::Object* object_;
};

}  // namespace liqo::api
