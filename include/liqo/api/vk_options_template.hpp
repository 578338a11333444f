// Typed reading of a VkOptionsTemplate: what of it holds for the virtual nodes that follow it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "liqo/api/virtual_node.hpp"

namespace liqo::api {

/// The one of the Liqo namespace that VirtualNodes follow which name none.
inline constexpr std::string_view default_options_template = "virtual-kubelet-default";

/// Where the one lies that a VirtualNode follows: the one that it names, else the usual one.
struct OptionsTemplateKey {
  kube::ObjectKey key;
  bool is_usual = false;  ///< it need not be there
};
inline OptionsTemplateKey options_template_of(const kube::Object& virtual_node, std::string_view liqo_namespace) {
  const kube::ObjectKey usual{std::string(liqo_namespace), std::string(default_options_template)};
  kube::ObjectKey key = VirtualNode(virtual_node).options_template();
  if (key.name.empty()) key = usual;
  if (key.ns.empty()) key.ns = liqo_namespace;
  return {.key = key, .is_usual = key == usual};
}

/// A view; lives as long as the object. What is absent or of the wrong type reads as empty.
class VkOptionsTemplate {
 public:
  explicit VkOptionsTemplate(const kube::Object& object) : object_(&object) {}

  std::vector<std::string> labels_not_reflected() const { return strings("labelsNotReflected"); }
  std::vector<std::string> annotations_not_reflected() const { return strings("annotationsNotReflected"); }
  std::vector<std::string> extra_args() const { return strings("extraArgs"); }
  /// What a VirtualNode has that says nothing itself when it is made; nullopt = nothing is said here either.
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
    std::vector<std::string> found;
    for (const kube::json::value& entry : kube::array_at(object_->spec(), {field}))
      if (entry.is_string()) found.emplace_back(entry.get_string());
    return found;
  }

  const kube::Object* object_;
};

}  // namespace liqo::api
