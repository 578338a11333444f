#include "model/stranded_pods.hpp"

#include <algorithm>

#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/core/node_selector.hpp"

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

}  // namespace

bool may_run_on(const kube::Object& node, const kube::Object* offloading) {
  if (!offloading) return !is_virtual(node);
  const liqo::api::NamespaceOffloading wish(*offloading);
  if (!is_virtual(node)) return wish.pod_strategy() != PodOffloadingStrategy::remote;
  if (wish.pod_strategy() == PodOffloadingStrategy::local) return false;
  const auto selector = liqo::core::NodeSelector::parse(wish.cluster_selector());
  return selector && (selector->empty() || selector->matches(node.name(), node.labels()));
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
    way_out += strategy == PodOffloadingStrategy::local || !is_virtual(node)
                   ? " --pod-offloading-strategy LocalAndRemote"
                   : " --selector '' --pod-offloading-strategy " +
                         std::string(strategy == PodOffloadingStrategy::remote ? "Remote" : "LocalAndRemote");
  }
  return "after the move to node " + std::string(node.name()) + ", " + pods + " will find no node, because namespace " +
         claim.ns + " " + why + ": " + way_out + " lets them run there";
}

}  // namespace liqoctl::model
