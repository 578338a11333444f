// Typed reading of a VkOptionsTemplate: options for the virtual nodes that follow it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "liqo/api/virtual_node.hpp"

namespace liqo::api {

/// The name of the VkOptionsTemplate in the Liqo namespace that VirtualNodes follow if they name none.
inline constexpr std::string_view default_options_template = "virtual-kubelet-default";

/// The key of the VkOptionsTemplate that a VirtualNode follows.
struct OptionsTemplateKey {
  kube::ObjectKey key;
  bool is_default = false;  ///< it need not exist
};
/// The key that the VirtualNode names, with the Liqo namespace if it names no other; else the key of the default.
inline OptionsTemplateKey options_template_of(const kube::Object& virtual_node, std::string_view liqo_namespace) {
  const kube::ObjectKey default_key{std::string(liqo_namespace), std::string(default_options_template)};
  kube::ObjectKey key = VirtualNode(virtual_node).options_template();
  if (key.name.empty()) key = default_key;
  if (key.ns.empty()) key.ns = liqo_namespace;
  return {.key = key, .is_default = key == default_key};
}

/// A view; lives as long as the object. What is absent or of the wrong type reads as empty.
class VkOptionsTemplate {
 public:
  explicit VkOptionsTemplate(const kube::Object& object) : object_(&object) {}

  std::vector<std::string> labels_not_reflected() const { return strings("labelsNotReflected"); }
  std::vector<std::string> annotations_not_reflected() const { return strings("annotationsNotReflected"); }
  std::vector<std::string> extra_args() const { return strings("extraArgs"); }
  /// For VirtualNodes that leave the field open when they are created; nullopt = the template leaves it open, too.
  std::optional<bool> create_node() const { return truth("createNode"); }
  std::optional<bool> disable_network_check() const { return truth("disableNetworkCheck"); }
  const kube::json::object& node_extra_labels() const { return kube::object_at(object_->spec(), {"nodeExtraLabels"}); }
  const kube::json::object& node_extra_annotations() const {
    return kube::object_at(object_->spec(), {"nodeExtraAnnotations"});
  }
  /// By kind in lower case: `workers` and `type`.
  const kube::json::object& reflectors_config() const { return kube::object_at(object_->spec(), {"reflectorsConfig"}); }

 private:
  std::optional<bool> truth(std::string_view field) const {
    const kube::json::value* said = kube::find(object_->spec(), {field});
    return said && said->is_bool() ? std::optional(said->get_bool()) : std::nullopt;
  }
  std::vector<std::string> strings(std::string_view field) const {
    return kube::strings_in(kube::array_at(object_->spec(), {field}));
  }

  const kube::Object* object_;
};

}  // namespace liqo::api
