#include "core/offloading/pod_scheduling.hpp"

#include <algorithm>

#include "core/common/node_selector.hpp"
#include "core/common/selector_text.hpp"
#include "core/offloading/placement.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

using api::PodOffloadingStrategy;

bool is_mirror(const json::object& pod) {
  return kube::find(pod, {"metadata", "annotations", "kubernetes.io/config.mirror"}) != nullptr;
}

bool names_node(const json::value& term) {
  return std::ranges::any_of(kube::array_at(term, {"matchFields"}), [](const json::value& field) {
    return kube::string_at(field, {"key"}) == "metadata.name" && kube::string_at(field, {"operator"}) == "In";
  });
}

bool is_of_daemon_set(const json::object& pod) {
  const auto& owners = kube::array_at(pod, {"metadata", "ownerReferences"});
  return std::ranges::any_of(owners, [](const json::value& owner) {
    return kube::bool_at(owner, {"controller"}) && kube::string_at(owner, {"kind"}) == "DaemonSet" &&
           kube::string_at(owner, {"apiVersion"}).starts_with("apps/");
  });
}

/// Whether the DaemonSet controller has chosen the node, which it writes as a requirement in matchFields: the pod can
/// run on no other.
bool is_pinned_by_daemon_set(const json::object& pod) {
  const bool owned = is_of_daemon_set(pod);
  const auto& terms = kube::array_at(pod, {"spec", "affinity", "nodeAffinity", required_terms, "nodeSelectorTerms"});
  return owned && !terms.empty() && std::ranges::all_of(terms, names_node);
}

json::object on_virtual_nodes(std::string_view op) {
  return requirement(api::labels::type, op, {json::value(api::labels::type_virtual_node)});
}

void append(json::object& term, std::string_view list, const json::array& entries) {
  if (entries.empty()) return;
  json::array& present = kube::ensure_array(term, list);
  for (const json::value& entry : entries) present.push_back(entry);
}

/// The terms that the strategy demands, {} if it demands none.
json::array imposed_terms(const api::NamespaceOffloading& offloading) {
  const json::array& selected = kube::array_at(offloading.cluster_selector(), {"nodeSelectorTerms"});
  const bool remote_only = offloading.pod_strategy() == PodOffloadingStrategy::remote;
  if (selected.empty()) {
    if (!remote_only) return {};
    return {json::object{{"matchExpressions", json::array{on_virtual_nodes("In")}}}};
  }
  json::array imposed;
  for (const json::value& term : selected) {
    if (!matches_something(term)) continue;
    json::object made = term.get_object();
    if (remote_only) append(made, "matchExpressions", {on_virtual_nodes("In")});
    imposed.push_back(std::move(made));
  }
  if (!remote_only) imposed.push_back(json::object{{"matchExpressions", json::array{on_virtual_nodes("NotIn")}}});
  // No cluster is selected and no local node is allowed. A term that matches nothing keeps the pod pending.
  if (imposed.empty()) imposed.push_back(json::object());
  return imposed;
}

bool includes(const json::value& term, const json::value& other, std::string_view list) {
  const json::array& has = kube::array_at(term, {list});
  return std::ranges::all_of(kube::array_at(other, {list}),
                             [&has](const json::value& wanted) { return std::ranges::find(has, wanted) != has.end(); });
}

/// Whether every node that `own` selects is selected by `imposed`, because each term of `own` includes one of
/// `imposed`. A pod that was patched before then stays as it is.
bool say_already(const json::array& own, const json::array& imposed) {
  return !own.empty() && std::ranges::all_of(own, [&imposed](const json::value& term) {
    return !matches_something(term) || std::ranges::any_of(imposed, [&term](const json::value& other) {
      return matches_something(other) && includes(term, other, "matchExpressions") &&
             includes(term, other, "matchFields");
    });
  });
}

/// Every term of the pod combined with every imposed one.
json::array combine(const json::array& own, const json::array& imposed) {
  json::array combined;
  for (const json::value& term : own) {
    if (!matches_something(term)) continue;
    for (const json::value& other : imposed) {
      if (!matches_something(other)) continue;
      json::object both = term.get_object();
      append(both, "matchExpressions", kube::array_at(other, {"matchExpressions"}));
      append(both, "matchFields", kube::array_at(other, {"matchFields"}));
      combined.push_back(std::move(both));
    }
  }
  if (combined.empty()) combined.push_back(json::object());
  return combined;
}

json::object add(std::string path, json::value value) {
  return {{"op", "add"}, {"path", std::move(path)}, {"value", std::move(value)}};
}

/// Sets the terms at the innermost level that exists, so that the patch changes nothing else.
json::object add_terms(const json::object& pod, json::array terms) {
  const auto has = [&pod](std::initializer_list<std::string_view> path) {
    const json::value* found = kube::find(pod, path);
    return found && found->is_object();
  };
  const std::string affinity = "/spec/affinity";
  const std::string node = affinity + "/nodeAffinity";
  const std::string required = node + "/" + std::string(required_terms);
  json::object selector{{"nodeSelectorTerms", std::move(terms)}};
  if (has({"spec", "affinity", "nodeAffinity", required_terms}))
    return add(required + "/nodeSelectorTerms", std::move(selector["nodeSelectorTerms"]));
  if (has({"spec", "affinity", "nodeAffinity"})) return add(required, std::move(selector));
  json::object node_affinity{{required_terms, std::move(selector)}};
  if (has({"spec", "affinity"})) return add(node, std::move(node_affinity));
  return add(affinity, json::object{{"nodeAffinity", std::move(node_affinity)}});
}

}  // namespace

bool tolerates_virtual_nodes(const json::object& pod) {
  return std::ranges::any_of(kube::array_at(pod, {"spec", "tolerations"}), [](const json::value& toleration) {
    const std::string_view key = kube::string_at(toleration, {"key"});
    const std::string_view op = kube::string_at(toleration, {"operator"});
    const std::string_view effect = kube::string_at(toleration, {"effect"});
    const json::value* seconds = kube::find(toleration, {"tolerationSeconds"});
    if (seconds && !seconds->is_null()) return false;  // tolerates for a time only
    if (!effect.empty() && effect != "NoExecute") return false;
    if (op == "Exists") return key.empty() || key == api::virtual_node_taint;
    return key == api::virtual_node_taint && kube::string_at(toleration, {"value"}) == "true";
  });
}

kube::Result<json::array> plan_pod_scheduling(const json::object& pod, const api::NamespaceOffloading& offloading) {
  json::array patch;
  if (offloading.pod_strategy() == PodOffloadingStrategy::local) return patch;
  if (kube::string_at(pod, {"spec", "runtimeClassName"}) == api::liqo_runtime_class) return patch;
  if (is_mirror(pod) || is_pinned_by_daemon_set(pod)) return patch;

  KUBE_TRYV(NodeSelector::parse(offloading.cluster_selector()), "the clusterSelector of NamespaceOffloading " +
                                                                    offloading.object().key().text() +
                                                                    " is invalid; correct it and create the pod again");

  if (!tolerates_virtual_nodes(pod)) {
    json::object toleration{{"key", api::virtual_node_taint}, {"operator", "Exists"}, {"effect", "NoExecute"}};
    const json::value* present = kube::find(pod, {"spec", "tolerations"});
    if (present && present->is_array())
      patch.push_back(add("/spec/tolerations/-", std::move(toleration)));
    else
      patch.push_back(add("/spec/tolerations", json::array{std::move(toleration)}));
  }
  json::array terms = imposed_terms(offloading);
  if (terms.empty()) return patch;
  const auto& own = kube::array_at(pod, {"spec", "affinity", "nodeAffinity", required_terms, "nodeSelectorTerms"});
  if (say_already(own, terms)) return patch;
  if (!own.empty()) {
    if (own.size() * terms.size() > max_node_selector_terms)
      return kube::fail(kube::Errc::too_large, std::to_string(own.size()) + " node affinity terms of the pod and " +
                                                   std::to_string(terms.size()) + " of NamespaceOffloading " +
                                                   offloading.object().key().text() + " make more than " +
                                                   std::to_string(max_node_selector_terms) + " together; use fewer");
    terms = combine(own, terms);
  }
  patch.push_back(add_terms(pod, std::move(terms)));
  return patch;
}

kube::Result<json::array> plan_daemon_set_scheduling(const json::object& daemon_set,
                                                     const api::NamespaceOffloading& offloading) {
  if (offloading.pod_strategy() != PodOffloadingStrategy::remote) return json::array();
  auto patch = plan_pod_scheduling(kube::object_at(daemon_set, {"spec", "template"}), offloading);
  if (!patch) return patch;
  for (json::value& step : *patch) {
    json::value& path = step.as_object()["path"];
    path = "/spec/template" + std::string(path.as_string());
  }
  return patch;
}

json::array keep_toleration(const json::object& before, const json::object& after) {
  json::array patch;
  const json::value* present = kube::find(after, {"spec", "tolerations"});
  const bool has_list = present && present->is_array();
  for (const json::value& toleration : kube::array_at(before, {"spec", "tolerations"})) {
    if (kube::string_at(toleration, {"key"}) != api::virtual_node_taint) continue;
    if (has_list && std::ranges::find(present->get_array(), toleration) != present->get_array().end()) continue;
    patch.push_back(has_list || !patch.empty() ? add("/spec/tolerations/-", toleration)
                                               : add("/spec/tolerations", json::array{toleration}));
  }
  return patch;
}

bool goes_with_node(const kube::Object& pod, std::string_view since) {
  // Times of Kubernetes are in UTC and of one length, so their texts compare like times.
  return !since.empty() && !pod.is_deleting() && is_of_daemon_set(pod.tree()) && pod.creation_timestamp() >= since;
}

}  // namespace liqo::core
