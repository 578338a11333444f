// The status of a ForeignCluster: role, modules and conditions, made from the objects of one peer. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/peering/silence.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The objects of one peer in this cluster.
struct PeerState {
  std::optional<kube::Object> tenant;        ///< the peer is a consumer
  std::optional<kube::Object> identity;      ///< of type ControlPlane: the peer is a provider
  std::vector<kube::Object> configurations;  ///< of the network, in any namespace
  std::vector<kube::Object> virtual_nodes;
  std::vector<kube::Object> nodes;         ///< those of the virtual nodes
  bool has_credentials = false;            ///< there is a ControlPlane kubeconfig Secret
  std::string server;                      ///< the URL in that Secret
  std::optional<bool> api_server_answers;  ///< unset = not known yet
  std::string trouble;                     ///< why nothing is replicated, a sentence; "" = something is
  std::chrono::seconds clock_ahead{0};     ///< the skew of its API server's clock that is reported; 0 = none
  std::string withdrawal;  ///< describe_withdrawal(), if the provider has taken our rights away; "" = it has not
  SilenceNote silence;     ///< what is reported of a provider that does not act
};

/// Whether this cluster has any object of the peer; a ForeignCluster that Liqo made is deleted with the last one.
bool has_anything(const PeerState& peer);

/// The new status, made from that of `foreign_cluster`. Conditions keep their transition time while their status is the
/// same, and their order is fixed, so that an unchanged peer gives an equal status. Fields that this program does not
/// know stay.
kube::json::object forge_foreign_cluster_status(const kube::Object& foreign_cluster, const PeerState& peer,
                                                kube::WallTime now);

/// The sentence shown at home about a provider that refuses everything in our tenant namespace there.
std::string describe_withdrawal(std::string_view cluster, std::string_view remote_namespace);
/// That sentence, as the status of a ForeignCluster has it; "" = the provider lets us work.
std::string withdrawal_note(const kube::Object& foreign_cluster);

/// The warning that the peering is older than declarations of addresses, if `next` says so and `standing` does not yet;
/// "" = no warning.
std::string newly_unchecked(const kube::Object& standing, const kube::Object& next);

/// The ForeignCluster to create for a cluster ID, marked as made by Liqo.
kube::Object forge_foreign_cluster(const std::string& cluster_id);
/// Whether Liqo made it (and not a person or the Go version).
bool is_made_by_us(const kube::Object& foreign_cluster);

}  // namespace liqo::core
