// Admission of the kinds of offloading: NamespaceOffloading, NamespaceMap, VirtualNode, Quota.
#include <algorithm>
#include <map>

#include "core/admission/patch.hpp"
#include "core/admission/tenant_rules.hpp"
#include "core/admission/validations.hpp"
#include "core/common/names.hpp"
#include "core/common/node_selector.hpp"
#include "core/namespaces/desired_mapping.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/vk_options_template.hpp"

namespace liqo::core::admission {
namespace {

/// Why the name is no name for a twin, "" if it is.
std::string refuse_twin(std::string_view name) {
  if (!is_dns_label(name)) return kube::in_quotes(name) + " cannot be the name of a namespace";
  if (name.starts_with(kubernetes_prefix)) return kube::in_quotes(name) + " is a name that Kubernetes keeps for itself";
  return "";
}

}  // namespace

Answer validate_namespace_offloading(const Request& request) {
  if (!request.writes_object()) return Answer::allow();
  const bool is_new = request.operation == Operation::create;
  if (!is_new && request.object.is_deleting()) return Answer::allow();
  if (request.object.name() != api::namespace_offloading_name)
    return Answer::deny("a NamespaceOffloading must be called \"" + std::string(api::namespace_offloading_name) +
                        "\", not " + kube::in_quotes(request.object.name()) + ": there is one for each namespace");
  const json::object& spec = request.object.spec();
  const json::object& before = request.old_object.spec();
  const auto value = [](const json::object& of, std::string_view field, std::string_view standard) {
    const std::string_view text = kube::string_at(of, {field});
    return text.empty() ? standard : text;
  };
  const std::string_view strategy = value(spec, "namespaceMappingStrategy", "DefaultName");
  const std::string_view remote = value(spec, "remoteNamespaceName", "");
  if (is_new && strategy == "SelectedName") {
    if (remote.empty())
      return Answer::deny("spec.remoteNamespaceName is needed for the strategy SelectedName: it names the twins");
    if (const std::string mistake = refuse_twin(remote); !mistake.empty())
      return Answer::deny("spec.remoteNamespaceName " + mistake);
  }
  if (is_new && strategy == "EnforceSameName" && request.ns.starts_with(kubernetes_prefix))
    return Answer::deny("namespace " + request.ns +
                        " cannot have twins of the same name: Kubernetes keeps names that " +
                        "begin with kube- for itself");
  if (const auto selector = NodeSelector::parse(kube::object_at(spec, {"clusterSelector"})); !selector)
    return Answer::invalid("spec.clusterSelector." + selector.error().text());
  if (is_new) return Answer::allow();
  if (strategy != value(before, "namespaceMappingStrategy", "DefaultName"))
    return Answer::deny("spec.namespaceMappingStrategy cannot be changed: the twins have their names. Delete the " +
                        std::string("NamespaceOffloading and create it anew"));
  if (remote != value(before, "remoteNamespaceName", ""))
    return Answer::deny("spec.remoteNamespaceName cannot be changed: the twins have their names. Delete the " +
                        std::string("NamespaceOffloading and create it anew"));
  Answer answer;
  const std::string_view pods = value(spec, "podOffloadingStrategy", "LocalAndRemote");
  if (pods != value(before, "podOffloadingStrategy", "LocalAndRemote") && pods != "LocalAndRemote")
    answer.warnings.push_back("pods that run already stay where they are, even if the strategy " + std::string(pods) +
                              " would not have them");
  if (pods == "Local" && value(before, "podOffloadingStrategy", "LocalAndRemote") != "Local")
    answer.warnings.push_back("with the strategy Local all Secrets of namespace " + request.ns +
                              " are copied to its providers, for workloads there, unless an AllowList or " +
                              "liqo.io/skip-reflection says otherwise");
  return answer;
}

Answer validate_namespace_map(const Request& request) {
  if (Answer answer = check_replica(request); !answer.allowed) return answer;
  if (!request.writes_object()) return Answer::allow();
  const json::value* wanted = kube::find(request.object.spec(), {"desiredMapping"});
  const json::value* before = kube::find(request.old_object.spec(), {"desiredMapping"});
  if (!wanted || wanted->is_null() || (before && *wanted == *before)) return Answer::allow();
  const json::object* entries = wanted->if_object();
  if (!entries) return Answer::invalid("spec.desiredMapping must map names of namespaces to names of their twins");
  const json::object* had = before ? before->if_object() : nullptr;
  if (entries->size() > std::max(max_mappings_taken, had ? had->size() : 0))
    return Answer::invalid("spec.desiredMapping has more than " + std::to_string(max_mappings_taken) +
                           " entries, and a provider makes " + std::to_string(max_twins) +
                           " namespaces for one cluster: offload fewer namespaces");
  std::map<std::string_view, std::string_view> taken;
  for (const auto& [key, value] : *entries) {
    const std::string_view local = key;
    const json::string* twin = value.if_string();
    const std::string where = "spec.desiredMapping[" + kube::printable(kube::cut_text(local, 100)) + "]: ";
    if (!twin) return Answer::invalid(where + "the name of the twin must be text");
    if (const std::string mistake = refuse_twin(*twin); !mistake.empty()) return Answer::deny(where + mistake);
    const auto [other, fresh] = taken.emplace(*twin, local);
    if (!fresh)
      return Answer::deny(where + kube::in_quotes(*twin) + " is the twin of " + kube::in_quotes(other->second) +
                          " already: two namespaces cannot share one");
  }
  return Answer::allow();
}

bool needs_options_template(const Request& request) {
  if (!request.writes_object() || request.operation != Operation::create) return false;
  const auto is_open = [&](std::string_view field) {
    const json::value* said = kube::find(request.object.spec(), {field});
    return !said || said->is_null();
  };
  return is_open("createNode") || is_open("disableNetworkCheck");
}

Answer mutate_virtual_node(const Request& request, const kube::Object* options_template) {
  if (!request.writes_object()) return Answer::allow();
  const kube::Object& virtual_node = request.object;
  Answer answer;
  if (!virtual_node.is_deleting()) {
    const json::value* create = kube::find(virtual_node.spec(), {"createNode"});
    const json::value* check = kube::find(virtual_node.spec(), {"disableNetworkCheck"});
    const bool has_spec = kube::find(virtual_node.tree(), {"spec"}) != nullptr;
    bool creates = true, looks_away = false;
    // The template counts only on create: a later change of it must not remove nodes that are in use.
    if (options_template && request.operation == Operation::create) {
      const api::VkOptionsTemplate defaults(*options_template);
      creates = defaults.create_node().value_or(creates);
      looks_away = defaults.disable_network_check().value_or(looks_away);
    }
    if (!has_spec) {
      json::object spec;
      spec["createNode"] = creates;
      spec["disableNetworkCheck"] = looks_away;
      answer.patch.push_back(json::object{{"op", "add"}, {"path", "/spec"}, {"value", std::move(spec)}});
    } else {
      if (!create || create->is_null()) set_spec_field(answer.patch, virtual_node, "createNode", creates);
      if (!check || check->is_null()) set_spec_field(answer.patch, virtual_node, "disableNetworkCheck", looks_away);
    }
  }
  return answer;
}

Answer validate_virtual_node(const Request& request) {
  if (!request.writes_object() || request.object.is_deleting()) return Answer::allow();
  const bool is_new = request.operation == Operation::create;
  if (is_new)
    if (const auto name = check_node_name(request.object.name()); !name) return Answer::invalid(name.error().text());
  const json::value* hard = kube::find(request.object.spec(), {"resourceQuota", "hard"});
  if (const std::string mistake = check_resources(hard, "spec.resourceQuota.hard"); !mistake.empty())
    return Answer::invalid(mistake);
  const std::string_view had = kube::string_at(request.old_object.spec(), {"clusterID"});
  if (!is_new && !had.empty() && kube::string_at(request.object.spec(), {"clusterID"}) != had)
    return Answer::deny("spec.clusterID cannot be changed: pods of the node run in " + kube::in_quotes(had));
  return Answer::allow();
}

Answer check_node_of(const Request& request, const kube::Object* node, std::span<const std::string> namesakes) {
  if (!namesakes.empty())
    return Answer::deny("there is a VirtualNode of that name already, " + namesakes.front() +
                        ", and both would have one Node: the VirtualNode needs another name, or that one has to go "
                        "first");
  if (!node) return Answer::allow();
  if (node->label(api::labels::type) != api::labels::type_virtual_node)
    return Answer::deny("there is a node " + kube::in_quotes(node->name()) +
                        " already that is not virtual: the VirtualNode needs another name");
  const std::string_view shown = node->label(api::labels::remote_cluster_id);
  const std::string_view cluster = kube::string_at(request.object.spec(), {"clusterID"});
  if (!shown.empty() && shown != cluster)
    return Answer::deny("there is a node " + kube::in_quotes(node->name()) + " already that is of cluster " +
                        kube::in_quotes(shown) + ", and its pods run there: the VirtualNode needs another name, or " +
                        "that node has to be drained and deleted first");
  return Answer::allow();
}

Answer validate_quota(const Request& request, std::span<const std::string> others) {
  if (!request.writes_object()) return Answer::allow();
  const std::string_view user = kube::string_at(request.object.spec(), {"user"});
  if (user.empty()) return Answer::invalid("spec.user is empty: a Quota has to name the user whose pods it counts");
  const json::value* resources = kube::find(request.object.spec(), {"resources"});
  if (const std::string mistake = check_resources(resources, "spec.resources"); !mistake.empty())
    return Answer::invalid(mistake);
  const bool renamed = kube::string_at(request.old_object.spec(), {"user"}) != user;
  if (renamed && !others.empty())
    return Answer::deny("user " + kube::in_quotes(user) + " has a Quota already, " + others.front() +
                        ": two would leave open which one counts");
  return Answer::allow();
}

}  // namespace liqo::core::admission
