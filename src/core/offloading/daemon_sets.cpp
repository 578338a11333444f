#include "core/offloading/daemon_sets.hpp"

#include <algorithm>

#include "core/common/node_selector.hpp"
#include "core/common/selector_text.hpp"
#include "core/offloading/placement.hpp"
#include "core/offloading/pod_scheduling.hpp"
#include "core/quota/pod_requests.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

json::object not_virtual() {
  return requirement(api::labels::type, "NotIn", {json::value(api::labels::type_virtual_node)});
}

const json::object& template_of(const kube::Object& daemon_set) {
  return kube::object_at(daemon_set.spec(), {"template"});
}

/// The required node affinity of the template, made if there is none.
json::object& affinity_of(kube::Object& daemon_set) {
  json::object& spec = kube::ensure_object(kube::ensure_object(daemon_set.mutable_spec(), "template"), "spec");
  return kube::ensure_object(kube::ensure_object(kube::ensure_object(spec, "affinity"), "nodeAffinity"),
                             required_terms);
}

/// Takes the required node affinity out, and what is empty without it.
void drop_affinity(kube::Object& daemon_set) {
  json::object& spec = kube::ensure_object(kube::ensure_object(daemon_set.mutable_spec(), "template"), "spec");
  json::object& affinity = kube::ensure_object(spec, "affinity");
  json::object& of_nodes = kube::ensure_object(affinity, "nodeAffinity");
  of_nodes.erase(required_terms);
  if (of_nodes.empty()) affinity.erase("nodeAffinity");
  if (affinity.empty()) spec.erase("affinity");
}

/// Takes the requirement out of a term; returns whether it was there.
bool take_out(json::value& term, const json::object& wanted) {
  if (kube::array_at(term, {"matchExpressions"}).empty()) return false;
  json::array& expressions = term.as_object()["matchExpressions"].as_array();
  const auto gone = std::ranges::remove(expressions, json::value(wanted));
  const bool was_there = !gone.empty();
  expressions.erase(gone.begin(), gone.end());
  return was_there;
}

}  // namespace

bool sits_on(const kube::Object& daemon_set, std::string_view node_name, const json::object& node_labels) {
  const json::object& pod_template = template_of(daemon_set);
  return tolerates_virtual_nodes(pod_template) && takes_node(pod_template, node_name, node_labels);
}

Resources books(const kube::Object& daemon_set) {
  auto needs = read_pod_needs(kube::object_at(template_of(daemon_set), {"spec"}));
  if (!needs) return {};
  apply_defaults(*needs);
  return pod_requests(*needs);
}

std::optional<kube::Object> daemon_set_of(const kube::Object& pod) {
  const auto owner = pod.controller();
  if (!owner || owner->kind != "DaemonSet" || !owner->api_version.starts_with("apps/") || owner->uid.empty())
    return std::nullopt;
  kube::Object daemon_set = kube::Object::make(daemon_sets, {std::string(pod.ns()), owner->name});
  daemon_set.mutable_metadata()["uid"] = owner->uid;
  return daemon_set;
}

std::string describe_daemon_set_elsewhere(const kube::ObjectKey& daemon_set) {
  return "this DaemonSet has one pod on each virtual node, not on each node of the other cluster, and it books room "
         "there: if that is not meant, keep it off by node affinity liqo.io/type NotIn [virtual-node] (liqoctl exclude "
         "daemonsets " +
         daemon_set.text() + ")";
}

bool keep_off_virtual_nodes(kube::Object& daemon_set) {
  const json::object wanted = not_virtual();
  json::array& terms = kube::ensure_array(affinity_of(daemon_set), "nodeSelectorTerms");
  if (terms.empty()) {
    terms.emplace_back(json::object{{"matchExpressions", json::array{json::value(wanted)}}});
    return true;
  }
  bool changed = false;
  for (json::value& term : terms) {
    if (!matches_something(term)) continue;
    json::array& expressions = kube::ensure_array(term.get_object(), "matchExpressions");
    if (std::ranges::find(expressions, json::value(wanted)) != expressions.end()) continue;
    expressions.emplace_back(wanted);
    changed = true;
  }
  return changed;
}

bool let_onto_virtual_nodes(kube::Object& daemon_set) {
  const json::object wanted = not_virtual();
  if (kube::array_at(template_of(daemon_set), {"spec", "affinity", "nodeAffinity", required_terms, "nodeSelectorTerms"})
          .empty())
    return false;
  json::array& terms = kube::ensure_array(affinity_of(daemon_set), "nodeSelectorTerms");
  bool changed = false, takes_every_node = false;
  for (json::value& term : terms) {
    if (!take_out(term, wanted)) continue;
    changed = true;
    takes_every_node = takes_every_node || !matches_something(term);
  }
  if (takes_every_node) drop_affinity(daemon_set);
  return changed;
}

std::string who_keeps(const kube::Object& daemon_set) {
  if (const auto owner = daemon_set.controller())
    return std::string(owner->kind) + " " + std::string(owner->name) + " owns it";
  if (daemon_set.label("addonmanager.kubernetes.io/mode") == "Reconcile") return "the cluster's addon manager keeps it";
  if (!daemon_set.label("kubernetes.azure.com/managedby").empty()) return "AKS keeps it";
  if (!daemon_set.annotation("objectset.rio.cattle.io/id").empty()) return "the addons of K3s or RKE2 keep it";
  const auto& managers = kube::array_at(daemon_set.metadata(), {"managedFields"});
  const bool is_of_eks = std::ranges::any_of(
      managers, [](const json::value& entry) { return kube::string_at(entry, {"manager"}) == "eks"; });
  return is_of_eks ? "it is an addon of EKS" : "";
}

}  // namespace liqo::core
