#include "model/volume/stranded_pods.hpp"

#include <algorithm>
#include <optional>

#include "core/common/node_selector.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "model/objects.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
using kube::string_at;
using liqo::api::PodOffloadingStrategy;

constexpr std::size_t max_named = 5;

bool is_virtual(const kube::Object& node) {
  return node.label(liqo::api::labels::type) == liqo::api::labels::type_virtual_node;
}

/// Whether the StatefulSet makes the claim, as TEMPLATE-NAME-NUMBER.
bool makes_claim(const kube::Object& set, std::string_view claim) {
  return std::ranges::any_of(kube::array_at(set.spec(), {"volumeClaimTemplates"}), [&](const json::value& one) {
    const std::string begin = std::string(string_at(one, {"metadata", "name"})) + "-" + std::string(set.name()) + "-";
    return claim.starts_with(begin) && claim.size() > begin.size() &&
           claim.find_first_not_of("0123456789", begin.size()) == std::string_view::npos;
  });
}

bool mounts_claim(const kube::Object& workload, std::string_view claim) {
  return std::ranges::any_of(
      kube::array_at(workload.spec(), {"template", "spec", "volumes"}),
      [&](const json::value& volume) { return string_at(volume, {"persistentVolumeClaim", "claimName"}) == claim; });
}

bool is_selected(const kube::Object& node, const json::object& cluster_selector) {
  const auto selector = liqo::core::NodeSelector::parse(cluster_selector);
  return selector && (selector->empty() || selector->matches(node.name(), node.labels()));
}

/// The flags by which `liqoctl offload namespace` keeps the names of twins as they are now. "" = it needs none.
std::string mapping_flags(const liqo::api::NamespaceOffloading& wish) {
  using liqo::api::NamespaceMappingStrategy;
  switch (wish.mapping_strategy()) {
    case NamespaceMappingStrategy::default_name:
      return {};
    case NamespaceMappingStrategy::enforce_same_name:
      return " --namespace-mapping-strategy EnforceSameName";
    case NamespaceMappingStrategy::selected_name:
      break;
  }
  return " --namespace-mapping-strategy SelectedName --remote-namespace-name " +
         std::string(wish.remote_namespace_name());
}

/// The flags by which `liqoctl offload namespace` keeps the cluster selector as it is now. If the selector does not
/// select the node, a flag that does is added. No value if flags cannot express that.
std::optional<std::string> selector_flags(const kube::Object& offloading, const kube::Object& node) {
  using liqo::core::NodeSelector;
  const json::object& selector = liqo::api::NamespaceOffloading(offloading).cluster_selector();
  std::vector<std::string> terms = selectors_of(offloading);
  OffloadingRequest request;
  request.ns = offloading.ns();
  request.cluster_selectors = terms;
  const auto made = forge_namespace_offloading(request);
  if (!made) return std::nullopt;
  const auto wanted = NodeSelector::parse(selector);
  const auto said = NodeSelector::parse(liqo::api::NamespaceOffloading(*made).cluster_selector());
  if (!wanted || !said || *wanted != *said) return std::nullopt;
  if (is_virtual(node) && !is_selected(node, selector)) {
    const std::string_view cluster = node.label(liqo::api::labels::remote_cluster_id);
    if (cluster.empty()) return std::nullopt;
    terms.push_back(std::string(liqo::api::labels::remote_cluster_id) + "=" + std::string(cluster));
  }
  std::string flags;
  for (const std::string& term : terms) {
    if (term.contains('\'')) return std::nullopt;
    flags += " --selector '" + term + "'";
  }
  return flags;
}

/// The command or fields that let pods of an offloaded namespace run on the node, and take nothing from them.
std::string way_out_of(const kube::Object& offloading, const kube::Object& node) {
  const liqo::api::NamespaceOffloading wish(offloading);
  const std::string strategy =
      is_virtual(node) && wish.pod_strategy() == PodOffloadingStrategy::remote ? "Remote" : "LocalAndRemote";
  const std::string ns(offloading.ns());
  if (const auto selectors = selector_flags(offloading, node))
    return "liqoctl offload namespace " + ns + " --pod-offloading-strategy " + strategy + mapping_flags(wish) +
           *selectors;
  return "podOffloadingStrategy " + strategy +
         " and a clusterSelector with this node (kubectl edit namespaceoffloading " + std::string(offloading.name()) +
         " -n " + ns + ")";
}

}  // namespace

bool may_run_on(const kube::Object& node, const kube::Object* offloading) {
  if (!offloading) return !is_virtual(node);
  const liqo::api::NamespaceOffloading wish(*offloading);
  if (!is_virtual(node)) return wish.pod_strategy() != PodOffloadingStrategy::remote;
  if (wish.pod_strategy() == PodOffloadingStrategy::local) return false;
  return is_selected(node, wish.cluster_selector());
}

std::vector<std::string> makers_of(const std::vector<kube::Object>& workloads, std::string_view claim) {
  std::vector<std::string> makers;
  for (const kube::Object& one : workloads)
    if (makes_claim(one, claim) || mounts_claim(one, claim))
      makers.push_back(std::string(one.kind()) + " " + std::string(one.name()));
  return makers;
}

std::string describe_stranded(const kube::Object& node, const kube::ObjectKey& claim, const kube::Object* offloading,
                              const std::vector<std::string>& makers) {
  if (may_run_on(node, offloading)) return {};
  const std::string pods =
      makers.empty() ? "pods that use the claim" : "the pods of " + kube::join_some(makers, max_named);
  std::string why = "is not offloaded";
  std::string way_out = "liqoctl offload namespace " + claim.ns;
  if (offloading) {
    const auto strategy = liqo::api::NamespaceOffloading(*offloading).pod_strategy();
    why = strategy == PodOffloadingStrategy::remote && !is_virtual(node) ? "has the strategy Remote"
          : strategy == PodOffloadingStrategy::local                     ? "has the strategy Local"
                                                                         : "has a cluster selector without this node";
    way_out = way_out_of(*offloading, node);
  }
  return "after the move to node " + std::string(node.name()) + ", " + pods + " will find no node, because namespace " +
         claim.ns + " " + why + ": " + way_out + " lets them run there";
}

}  // namespace liqoctl::model
