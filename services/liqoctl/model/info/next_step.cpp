#include "model/info/next_step.hpp"

#include <algorithm>

#include "core/slices/slice_node.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"

namespace liqoctl::model {
namespace {

constexpr std::size_t max_named = 3;

/// Whether pods of this cluster can run there.
bool provides(const kube::Object& peer) { return kube::string_at(peer.status(), {"role"}).contains("Provider"); }

}  // namespace

std::string next_step(const Progress& progress) {
  if (progress.peers.empty()) {
    if (progress.peering_users.empty())
      return "; next, to let another cluster run pods here: liqoctl generate peering-user, and to run pods in another "
             "one: liqoctl peer";
    return "; next: " + kube::printable(kube::join_some(progress.peering_users, max_named)) +
           " peers with the kubeconfig of its peering user (there: liqoctl peer)";
  }
  const auto providers = std::ranges::count_if(progress.peers, provides);
  if (providers == 0) return {};
  const auto one = std::ranges::find_if(progress.peers, provides);
  return step_after_peering(providers == 1 ? kube::string_at(one->spec(), {"clusterID"}) : "ID", progress);
}

std::string step_after_peering(std::string_view provider, const Progress& progress) {
  const std::string there = " NAME --remote-cluster-id " + kube::printable(provider);
  // The virtual node of a new slice may not be there yet.
  const bool has_node =
      !progress.virtual_nodes.empty() || std::ranges::any_of(progress.slices, liqo::core::wants_virtual_node);
  if (!has_node)
    return std::string("; next: liqoctl create ") + (progress.slices.empty() ? "resourceslice" : "virtualnode") + there;
  return progress.has_offloadings ? "" : "; next: liqoctl offload namespace NAME";
}

}  // namespace liqoctl::model
