#include "core/slices/slice_node.hpp"

#include <utility>

#include "core/common/declared_features.hpp"
#include "core/common/difference.hpp"
#include "core/common/names.hpp"
#include "core/common/node_labels.hpp"
#include "core/common/owner.hpp"
#include "core/common/set_or_erase.hpp"
#include "core/slices/platform.hpp"
#include "core/slices/request.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::size_t max_labels = 64;
constexpr std::size_t max_classes = 256;

/// The entries that can be labels of a node.
/// `refused`: keys, or "domain/*", that are not taken beside the reserved ones; null = every key is taken, reserved
/// ones too.
json::object usable_labels(const json::object& said, std::string_view what, const std::span<const std::string>* refused,
                           std::vector<std::string>& dropped) {
  json::object usable;
  std::size_t features = 0;
  for (const auto& [name, value] : said) {
    const bool valid = is_label_key(name) && value.is_string() && is_label_value(value.get_string());
    const bool is_refused = valid && refused && is_reserved_node_label(name, value.get_string(), *refused);
    // Features have a bound of their own: they must not keep out what the provider's operator says.
    const bool is_feature = refused && is_feature_key(name);
    const bool has_room = is_feature ? features < max_declared_features : usable.size() - features < max_labels;
    if (valid && !is_refused && has_room && (!is_feature || is_feature_label(name, value.get_string()))) {
      usable[name] = value;
      if (is_feature) ++features;
    } else {
      dropped.push_back(std::string(what) + " " + kube::in_quotes(name));
    }
  }
  return usable;
}

json::object usable_amounts(const json::object& said, std::vector<std::string>& dropped) {
  json::object usable;
  for (const auto& [name, value] : said) {
    const auto quantity = kube::Quantity::from_json(value);
    if (usable.size() < max_slice_resources && is_label_key(name) && quantity && quantity->sign() >= 0)
      usable[name] = value;
    else
      dropped.push_back("resource " + kube::in_quotes(name));
  }
  return usable;
}

json::array usable_classes(const json::array& said, std::string_view key, std::vector<std::string>& dropped) {
  json::array usable;
  for (const json::value& entry : said) {
    const std::string_view name = kube::string_at(entry, {key});
    if (usable.size() == max_classes || !is_dns_subdomain(name)) {
      dropped.push_back(std::string(key) + " " + kube::in_quotes(name));
      continue;
    }
    json::object kept{{key, name}};
    if (kube::bool_at(entry, {"default"})) kept["default"] = true;
    usable.push_back(std::move(kept));
  }
  return usable;
}

/// The object with the wanted entries, and without those that only the last wish had.
json::object replaced(const json::object& have, const json::object& before, const json::object& wanted) {
  json::object result = have;
  for (const auto& [name, value] : before)
    if (!wanted.contains(name)) result.erase(name);
  for (const auto& [name, value] : wanted) result[name] = value;
  return result;
}

/// The labels and the node selector that the provider wants, in the place of those that it wanted last; those of others
/// stay.
void set_labels_and_selector(kube::Object& virtual_node, const kube::Object& slice,
                             std::span<const std::string> refused_labels, std::vector<std::string>& dropped) {
  const json::object& status = slice.status();
  json::object labels = usable_labels(kube::object_at(status, {"nodeLabels"}), "node label", &refused_labels, dropped);
  labels[api::labels::remote_cluster_id] = api::ResourceSlice(slice).provider();
  const json::object selector =
      usable_labels(kube::object_at(status, {"nodeSelector"}), "node selector", nullptr, dropped);
  const auto applied = kube::parse_json(virtual_node.annotation(api::annotations::applied_slice));
  const json::object none;
  const json::object& last_labels = applied ? kube::object_at(*applied, {"labels"}) : none;
  const json::object& last_selector = applied ? kube::object_at(*applied, {"nodeSelector"}) : none;

  json::object& spec = virtual_node.mutable_spec();
  spec["labels"] = replaced(kube::object_at(spec, {"labels"}), last_labels, labels);
  json::object next_selector =
      replaced(kube::object_at(spec, {"offloadingPatch", "nodeSelector"}), last_selector, selector);
  if (!next_selector.empty() || spec.contains("offloadingPatch"))
    set_or_erase(kube::ensure_object(spec, "offloadingPatch"), "nodeSelector", std::move(next_selector));
  virtual_node.set_annotation(api::annotations::applied_slice,
                              json::serialize(json::object{{"labels", labels}, {"nodeSelector", selector}}));
}

/// The amounts and the classes that the provider offers.
void set_offer(json::object& spec, const json::object& status, std::vector<std::string>& dropped) {
  kube::ensure_object(spec, "resourceQuota")["hard"] = usable_amounts(kube::object_at(status, {"resources"}), dropped);
  set_or_erase(spec, "storageClasses",
               usable_classes(kube::array_at(status, {"storageClasses"}), "storageClassName", dropped));
  set_or_erase(spec, "ingressClasses",
               usable_classes(kube::array_at(status, {"ingressClasses"}), "ingressClassName", dropped));
  set_or_erase(spec, "loadBalancerClasses",
               usable_classes(kube::array_at(status, {"loadBalancerClasses"}), "loadBalancerClassName", dropped));
}

}  // namespace

bool wants_virtual_node(const kube::Object& slice) {
  if (!slice.has_annotation(api::annotations::create_virtual_node)) return true;
  const std::string_view said = slice.annotation(api::annotations::create_virtual_node);
  return !said.empty() && kube::lower_case(said) != "false";
}

bool is_node_of(const kube::Object& virtual_node, const kube::Object& slice) {
  return is_controlled_by(virtual_node, slice);
}

void take_place(kube::Object& slice) {
  json::object labels = kube::object_at(slice.status(), {"nodeLabels"});
  for (const auto& [from, to] :
       {std::pair{api::labels::provider_zone, zone_label}, std::pair{api::labels::provider_region, region_label}})
    if (const std::string place(kube::string_at(labels, {from})); !place.empty() && !labels.contains(to))
      labels[to] = place;
  if (!labels.empty()) slice.mutable_status()["nodeLabels"] = std::move(labels);
}

SliceNodePlan plan_slice_node(const kube::Object& slice, std::string_view kubeconfig_secret,
                              const kube::Object* existing, std::span<const std::string> refused_labels) {
  using namespace slice_node_action;
  SliceNodePlan plan;
  if (existing && !is_node_of(*existing, slice) &&
      (existing->controller() || existing->label(api::labels::resource_slice_name) != slice.name())) {
    plan.action = Refuse{"VirtualNode " + std::string(slice.name()) + " exists and is not of this ResourceSlice; " +
                         "delete one of the two, or set the annotation " +
                         std::string(api::annotations::create_virtual_node) + " to \"false\""};
    return plan;
  }
  const std::string_view cluster = api::ResourceSlice(slice).provider();
  const kube::Object before =
      existing ? *existing
               : kube::Object::make(api::kinds::virtual_nodes, {std::string(slice.ns()), std::string(slice.name())});
  kube::Object wanted = before;
  wanted.set_label(api::labels::remote_cluster_id, cluster);
  wanted.set_label(api::labels::resource_slice_name, slice.name());
  if (!wanted.controller()) wanted.add_owner_reference(blocking_owner_of(slice));
  json::object& spec = wanted.mutable_spec();
  spec["clusterID"] = cluster;
  kube::ensure_object(spec, "kubeconfigSecretRef")["name"] = kubeconfig_secret;
  set_labels_and_selector(wanted, slice, refused_labels, plan.dropped);
  // The spec is taken again, because set_labels_and_selector() may have moved it.
  set_offer(wanted.mutable_spec(), slice.status(), plan.dropped);

  if (!existing) {
    plan.action = Create{std::move(wanted)};
    return plan;
  }
  json::object patch = difference(before.tree(), wanted.tree());
  if (patch.empty()) return plan;
  kube::ensure_object(patch, "metadata")["resourceVersion"] = before.resource_version();
  plan.action = Patch{std::move(patch)};
  return plan;
}

}  // namespace liqo::core
