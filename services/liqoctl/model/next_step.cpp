#include "model/next_step.hpp"

#include <algorithm>

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
  if (std::ranges::none_of(progress.peers, provides) || progress.has_offloadings) return {};
  if (progress.virtual_nodes.empty()) return "; next: liqoctl create resourceslice";
  return "; next: liqoctl offload namespace";
}

std::string step_after_peering(std::string_view provider, bool has_slice, bool has_offloadings) {
  if (!has_slice) return "; next: liqoctl create resourceslice NAME --remote-cluster-id " + std::string(provider);
  return has_offloadings ? "" : "; next: liqoctl offload namespace NAME";
}

}  // namespace liqoctl::model
