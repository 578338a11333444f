// The status of a ForeignCluster: role, modules and conditions from what there is of one peer. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Everything of one peer that this cluster has. Null and empty: there is none.
struct PeerState {
  std::optional<kube::Object> tenant;        ///< the peer is a consumer
  std::optional<kube::Object> identity;      ///< of type ControlPlane: the peer is a provider
  std::vector<kube::Object> configurations;  ///< of the network, in any namespace
  std::vector<kube::Object> virtual_nodes;
  std::vector<kube::Object> nodes;         ///< those of the virtual nodes
  bool has_credentials = false;            ///< there is a ControlPlane kubeconfig Secret
  std::string server;                      ///< the URL in that Secret
  std::optional<bool> api_server_answers;  ///< nothing: not known yet
  std::chrono::seconds clock_ahead{0};     ///< of its API server, as it is told; 0 = nothing to tell
  std::string withdrawal;  ///< describe_withdrawal(), where the provider has taken our rights away; "" = it has not
};

/// Whether anything of the peer is left; a ForeignCluster that Liqo made goes with the last of it.
bool has_anything(const PeerState& peer);

/// The status, made from the one that stands in `foreign_cluster`: conditions keep their transition time as long as
/// their status is the same, and stand in a fixed order, so that an unchanged peer gives an equal status. What this
/// program does not know of stays.
kube::json::object forge_foreign_cluster_status(const kube::Object& foreign_cluster, const PeerState& peer,
                                                kube::WallTime now);

/// What is told at home of a provider that refuses everything in our tenant namespace there.
std::string describe_withdrawal(std::string_view cluster, std::string_view remote_namespace);
/// What the status of a ForeignCluster says of that; "" = the provider lets us work.
std::string withdrawal_note(const kube::Object& foreign_cluster);

/// The warning that is due with this status: the peering is older than declarations of addresses, which the status that
/// stands does not say yet. "" = none.
std::string newly_unchecked(const kube::Object& standing, const kube::Object& next);

/// The ForeignCluster to create for a cluster ID, marked as made by Liqo.
kube::Object forge_foreign_cluster(const std::string& cluster_id);
/// Whether Liqo made it (and not a person or the Go version).
bool is_made_by_us(const kube::Object& foreign_cluster);

}  // namespace liqo::core
