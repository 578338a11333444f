#include "core/namespaces/namespace_selection.hpp"

#include <algorithm>

#include "core/common/names.hpp"
#include "core/common/selector_text.hpp"
#include "core/namespaces/belonging.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace labels = api::labels;
namespace {

kube::Result<json::object> one_term(std::string_view selector) {
  KUBE_TRY(requirements, parse_selector(selector));
  return json::object{{"matchExpressions", std::move(requirements)}};
}

/// A namespace with the one label that every API server sets.
kube::Object plain_namespace(std::string_view name) {
  kube::Object made = kube::Object::make(kube::resources::namespaces, {"", std::string(name)});
  made.set_label("kubernetes.io/metadata.name", name);
  return made;
}

}  // namespace

kube::Result<NamespaceSelection> NamespaceSelection::read(NamespaceSelectionTexts texts,
                                                          std::string_view liqo_namespace) {
  NamespaceSelection made;
  if (texts.selector.empty()) return made;
  KUBE_TRY(term, one_term(texts.selector));
  made.requirements_ = kube::array_at(term, {"matchExpressions"});
  KUBE_TRY(selector, NodeSelector::parse({{"nodeSelectorTerms", json::array{std::move(term)}}}));
  made.labels_ = std::move(selector);
  std::vector<std::string_view> others(std::begin(kubernetes_namespaces), std::end(kubernetes_namespaces));
  others.insert(others.end(), {"default", liqo_namespace});
  for (const std::string_view kept : others)
    if (made.matches(plain_namespace(kept)))
      return kube::fail(kube::Errc::invalid_input,
                        "'" + texts.selector + "' selects namespace " + std::string(kept) +
                            ", which stays in this cluster: select by a label that only namespaces have which are "
                            "to be offloaded");
  json::array terms;
  for (const std::string& cluster : texts.clusters) {
    KUBE_TRY(clusters, one_term(cluster));
    terms.push_back(std::move(clusters));
  }
  if (!terms.empty()) made.cluster_selector_["nodeSelectorTerms"] = std::move(terms);
  KUBE_TRYV(NodeSelector::parse(made.cluster_selector_));
  made.texts_ = std::move(texts);
  return made;
}

bool NamespaceSelection::selects(const kube::Object& ns, std::string_view liqo_namespace) const {
  return matches(ns) && !ns.is_deleting() && why_not_selected(ns, liqo_namespace).empty();
}

kube::Object NamespaceSelection::forge_offloading(std::string_view ns) const {
  kube::Object made = kube::Object::make(api::kinds::namespace_offloadings,
                                         {std::string(ns), std::string(api::namespace_offloading_name)});
  made.set_annotation(api::annotations::namespace_selector, texts_.selector);
  json::object& spec = made.mutable_spec();
  spec["namespaceMappingStrategy"] = texts_.mapping_strategy;
  spec["podOffloadingStrategy"] = texts_.pod_strategy;
  if (!cluster_selector_.empty()) spec["clusterSelector"] = cluster_selector_;
  return made;
}

std::string why_kept_here(const kube::Object& ns, std::string_view liqo_namespace) {
  const std::string name = "namespace " + std::string(ns.name());
  if (std::ranges::find(kubernetes_namespaces, ns.name()) != std::end(kubernetes_namespaces))
    return name + " is Kubernetes' own, and stays in this cluster";
  if (ns.name() == liqo_namespace) return name + " is Liqo's own, and stays in this cluster";
  if (is_tenant_namespace(ns)) return name + " is that of a peering, and stays in this cluster";
  return "";
}

std::string why_not_selected(const kube::Object& ns, std::string_view liqo_namespace) {
  const std::string name = "namespace " + std::string(ns.name());
  if (ns.has_label(labels::remote_cluster_id) && !is_tenant_namespace(ns))
    return name + " is that of another cluster, and goes no further";
  if (std::string kept = why_kept_here(ns, liqo_namespace); !kept.empty()) return kept;
  return ns.name().starts_with(kubernetes_prefix) ? name + " has a name that Kubernetes keeps for itself" : "";
}

bool is_of_selection(const kube::Object& offloading) {
  return offloading.has_annotation(api::annotations::namespace_selector);
}

}  // namespace liqo::core
