#include "core/nodes/node_extras.hpp"

#include "core/common/names.hpp"
#include "core/common/node_labels.hpp"
#include "core/nodes/wanted_node.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/vk_options_template.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// A bound against mistakes: each extra is written to every Node.
constexpr std::size_t max_extras = 64;

bool is_usable_label(std::string_view key, const json::value& value) {
  return is_label_key(key) && value.is_string() && is_label_value(value.get_string()) &&
         !is_reserved_node_label(key, value.get_string(), {});
}

bool is_usable_annotation(std::string_view key, const json::value& value) {
  return is_label_key(key) && value.is_string() && key != api::annotations::applied_node;
}

void add(json::object& spec, std::string_view field, const json::object& extras) {
  if (extras.empty()) return;
  json::object& entries = kube::ensure_object(spec, field);
  for (const auto& [key, value] : extras)
    if (!entries.contains(key)) entries[key] = value;
}

}  // namespace

TemplateExtras node_extras(const kube::Object& options_template) {
  const api::VkOptionsTemplate view(options_template);
  TemplateExtras extras;
  const auto usable = [&](const json::object& said, std::string_view field, auto is_usable) {
    json::object out;
    for (const auto& [key, value] : said) {
      if (out.size() < max_extras && is_usable(key, value))
        out[key] = value;
      else
        extras.refused.push_back(std::string(field) + " " + kube::in_quotes(key));
    }
    return out;
  };
  extras.usable.labels = usable(view.node_extra_labels(), "nodeExtraLabels", is_usable_label);
  extras.usable.annotations = usable(view.node_extra_annotations(), "nodeExtraAnnotations", is_usable_annotation);
  return extras;
}

NodeExtras applied_extras(const kube::Object& node) {
  const AppliedKeys applied = read_applied(node);
  NodeExtras extras;
  for (const json::value& key : applied.labels)
    if (key.is_string() && node.has_label(key.get_string()))
      extras.labels[key.get_string()] = node.label(key.get_string());
  for (const json::value& key : applied.annotations)
    if (key.is_string() && node.has_annotation(key.get_string()))
      extras.annotations[key.get_string()] = node.annotation(key.get_string());
  return extras;
}

kube::Object with_extras(kube::Object virtual_node, const NodeExtras& extras) {
  add(virtual_node.mutable_spec(), "labels", extras.labels);
  add(virtual_node.mutable_spec(), "annotations", extras.annotations);
  return virtual_node;
}

}  // namespace liqo::core
