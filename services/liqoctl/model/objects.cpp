#include "model/objects.hpp"

#include <algorithm>
#include <map>

#include "core/common/names.hpp"
#include "core/common/selector_text.hpp"
#include "core/slices/request.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqoctl::model {
namespace {

namespace labels = liqo::api::labels;

/// Such a pod belongs to its node, and is deleted with the node everywhere.
bool is_of_daemon_set(const Object& pod) {
  const auto owner = pod.controller();
  return owner && owner->kind == "DaemonSet";
}

json::array class_list(const std::vector<std::string>& names, std::string_view key) {
  json::array out;
  for (const std::string& name : names) {
    json::object entry{{key, name}};
    if (out.empty()) entry["default"] = true;
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

kube::Result<void> check_name(std::string_view name, std::size_t max_size) {
  if (liqo::core::is_dns_subdomain(name) && name.size() <= max_size) return {};
  return kube::fail(kube::Errc::invalid_input, "'" + kube::printable(name.substr(0, 260)) +
                                                   "' cannot be a name: at most " + std::to_string(max_size) +
                                                   " of a-z, 0-9, '-' and '.', a letter or digit at both ends");
}

kube::Result<void> check_key(std::string_view key) {
  const auto parsed = kube::ObjectKey::parse(key);
  if (parsed && liqo::core::is_dns_label(parsed->ns) && liqo::core::is_dns_subdomain(parsed->name)) return {};
  return kube::fail(kube::Errc::invalid_input, "'" + kube::printable(key.substr(0, 320)) +
                                                   "' is not namespace/name, e.g. liqo/virtual-kubelet-default");
}

json::object forge_list(json::array items) {
  return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

Object forge_resource_slice(const SliceRequest& request) {
  Object out = Object::make(liqo::api::kinds::resource_slices, {request.ns, request.name});
  out.set_label(labels::remote_cluster_id, request.provider);
  out.set_label(labels::replication_destination, request.provider);
  out.set_label(labels::replication, "true");
  out.set_annotation(liqo::api::annotations::create_virtual_node,
                     request.create_virtual_node.value_or(true) ? "true" : "false");
  auto& spec = out.mutable_spec();
  spec["class"] = request.slice_class.empty() ? liqo::core::default_class : request.slice_class;
  spec["providerClusterID"] = request.provider;
  if (!request.resources.empty()) spec["resources"] = request.resources;
  return out;
}

std::string refuse_namesakes(const Object& wanted, const std::vector<Object>& namesakes) {
  for (const Object& other : namesakes) {
    if (other.name() != wanted.name() || other.ns() == wanted.ns()) continue;
    const std::string name = kube::printable(other.name());
    const std::string cluster = kube::printable(kube::string_at(other.spec(), {"clusterID"}));
    return "there is a VirtualNode " + name + " of cluster " + cluster + " already (in " + kube::printable(other.ns()) +
           "), and both would have one Node: choose another name, or delete that one first (liqoctl delete "
           "virtualnode " +
           name + " --remote-cluster-id " + cluster + ")";
  }
  return "";
}

Object forge_virtual_node(const VirtualNodeRequest& request) {
  Object out = Object::make(liqo::api::kinds::virtual_nodes, {request.ns, request.name});
  out.set_label(labels::remote_cluster_id, request.provider);
  if (!request.slice.empty()) out.set_label(labels::resource_slice_name, request.slice);
  auto& spec = out.mutable_spec();
  spec["clusterID"] = request.provider;
  if (request.create_node) spec["createNode"] = *request.create_node;
  if (request.disable_network_check) spec["disableNetworkCheck"] = *request.disable_network_check;
  spec["kubeconfigSecretRef"] = json::object{{"name", request.kubeconfig_secret}};
  spec["resourceQuota"] = json::object{{"hard", request.resources}};
  if (!request.labels.empty()) spec["labels"] = request.labels;
  const auto classes = [&](std::string_view field, const std::vector<std::string>& names, std::string_view key) {
    if (!names.empty()) spec[field] = class_list(names, key);
  };
  classes("storageClasses", request.storage_classes, "storageClassName");
  classes("ingressClasses", request.ingress_classes, "ingressClassName");
  classes("loadBalancerClasses", request.load_balancer_classes, "loadBalancerClassName");
  if (const std::size_t slash = request.options_template.find('/'); slash != std::string::npos)
    spec["vkOptionsTemplateRef"] = json::object{{"namespace", request.options_template.substr(0, slash)},
                                                {"name", request.options_template.substr(slash + 1)}};
  json::object patch;
  if (!request.node_selector.empty()) patch["nodeSelector"] = request.node_selector;
  if (!request.runtime_class.empty()) patch["runtimeClassName"] = request.runtime_class;
  if (!patch.empty()) spec["offloadingPatch"] = std::move(patch);
  return out;
}

void take_from_slice(VirtualNodeRequest& request, const Object& slice) {
  const json::object& status = slice.status();
  request.slice = slice.name();
  request.resources = kube::object_at(status, {"resources"});
  request.labels = kube::object_at(status, {"nodeLabels"});
  request.node_selector = kube::object_at(status, {"nodeSelector"});
  const auto names = [&](std::string_view field, std::string_view key) {
    std::vector<std::string> out;
    for (const json::value& entry : kube::array_at(status, {field})) {
      std::string name(kube::string_at(entry, {key}));
      if (name.empty()) continue;
      if (kube::bool_at(entry, {"default"})) {
        out.insert(out.begin(), std::move(name));
      } else {
        out.push_back(std::move(name));
      }
    }
    return out;
  };
  request.storage_classes = names("storageClasses", "storageClassName");
  request.ingress_classes = names("ingressClasses", "ingressClassName");
  request.load_balancer_classes = names("loadBalancerClasses", "loadBalancerClassName");
}

kube::Result<Object> forge_namespace_offloading(const OffloadingRequest& request) {
  Object out = Object::make(liqo::api::kinds::namespace_offloadings,
                            {request.ns, std::string(liqo::api::namespace_offloading_name)});
  auto& spec = out.mutable_spec();
  json::array terms;
  for (const std::string& selector : request.cluster_selectors) {
    if (selector.empty()) continue;
    KUBE_TRY(requirements, liqo::core::parse_selector(selector), "--selector");
    terms.push_back(json::object{{"matchExpressions", std::move(requirements)}});
  }
  // A spec without a selector means every virtual node.
  if (!terms.empty()) spec["clusterSelector"] = json::object{{"nodeSelectorTerms", std::move(terms)}};
  spec["namespaceMappingStrategy"] = request.mapping_strategy;
  spec["podOffloadingStrategy"] = request.pod_strategy;
  if (!request.remote_name.empty()) spec["remoteNamespaceName"] = request.remote_name;
  return out;
}

namespace {

/// "zone=a", "zone in (a,b)", "!gpu": a requirement as kubectl writes it.
std::string requirement_in_words(const json::value& requirement) {
  const std::string key(kube::string_at(requirement, {"key"})), op(kube::string_at(requirement, {"operator"}));
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  const json::array& listed = kube::array_at(requirement, {"values"});
  std::vector<std::string> words;
  for (const json::value& value : listed)
    if (const auto* word = value.if_string()) words.emplace_back(*word);
  const std::string values = kube::join(words, ",");
  if (listed.size() == 1 && op == "In") return key + "=" + values;
  if (listed.size() == 1 && op == "NotIn") return key + "!=" + values;
  return key + " " + (op == "In" ? "in" : op == "NotIn" ? "notin" : op) + " (" + values + ")";
}

std::string term_in_words(const json::value& term) {
  const json::array& requirements = kube::array_at(term, {"matchExpressions"});
  if (requirements.empty()) return "fields of the Node";
  return kube::join(requirements | std::views::transform(requirement_in_words), ",");
}

/// The name of a node, with those of its labels by which users choose nodes.
std::string node_in_words(const Object& node) {
  std::vector<std::string> told;
  for (const auto& [key, value] : node.labels()) {
    const std::string_view domain = liqo::core::domain_of(key);
    const bool place = std::string_view(key).starts_with("topology.kubernetes.io/");
    const bool usual =
        liqo::core::is_below(domain, "kubernetes.io") || liqo::core::is_below(domain, "liqo.io") || key == "type";
    if ((usual && !place && key != labels::remote_cluster_id) || !value.is_string()) continue;
    told.push_back(std::string(key) + "=" + std::string(value.get_string()));
  }
  return std::string(node.name()) + (told.empty() ? "" : " (" + kube::join(told, ", ") + ")");
}

}  // namespace

std::vector<std::string> selectors_of(const Object& offloading) {
  std::vector<std::string> terms;
  for (const json::value& term : kube::array_at(offloading.spec(), {"clusterSelector", "nodeSelectorTerms"}))
    terms.push_back(term_in_words(term));
  return terms;
}

std::string selector_in_words(const Object& offloading) {
  return kube::printable(kube::join(selectors_of(offloading), " or "));
}

std::string nodes_in_words(const std::vector<Object>& nodes) {
  return kube::printable(kube::join(nodes | std::views::transform(node_in_words), "; "));
}

std::string pods_in_words(const std::vector<Object>& pods) {
  constexpr std::size_t max_named = 3, max_namespaces = 5;
  std::map<std::string, std::vector<std::string>, std::less<>> by_namespace;
  for (const Object& pod : pods)
    if (!pod.is_deleting() && !liqo::api::is_final_phase(liqo::api::phase_of(pod)) && !is_of_daemon_set(pod))
      by_namespace[std::string(pod.ns())].emplace_back(pod.name());
  std::string out;
  std::size_t told = 0;
  for (auto& [ns, names] : by_namespace) {
    if (told++ == max_namespaces)
      return out + " and in " + std::to_string(by_namespace.size() - max_namespaces) + " more";
    std::ranges::sort(names);
    out += (out.empty() ? "" : ", ") + ns + " (" + kube::join_some(names, max_named) + ")";
  }
  return out;
}

kube::Result<std::string> with_twin_names(std::string_view policy, std::string_view consumer,
                                          const std::vector<std::string>& names) {
  KUBE_TRY(parsed, kube::parse_json(policy.empty() ? "{}" : policy));
  json::object* keys = parsed.if_object();
  json::value* listed = keys ? &(*keys)["twinNames"] : nullptr;
  if (listed && listed->is_null()) *listed = json::array{"*-" + std::string(consumer)};
  if (!listed || !listed->is_array())
    return kube::fail(kube::Errc::invalid_input, "it must be a JSON object, and twinNames in it a list");
  json::array& allowed = listed->get_array();
  for (const std::string& name : names)
    if (std::ranges::find(allowed, json::value(name)) == allowed.end()) allowed.emplace_back(name);
  return json::serialize(parsed);
}

kube::Result<json::object> pairs(const std::vector<std::string>& given, const std::string& flag) {
  json::object out;
  for (const std::string& several : given) {
    std::string_view rest = several;
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
      const std::size_t equal = pair.find('=');
      if (equal == 0 || equal == std::string_view::npos)
        return kube::fail(kube::Errc::invalid_input, flag + ": '" + std::string(pair) + "' is not key=value");
      out[pair.substr(0, equal)] = pair.substr(equal + 1);
    }
  }
  return out;
}

}  // namespace liqoctl::model
