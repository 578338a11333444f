// Objects that a command names without their namespace, or by the cluster that they belong to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "session/session.hpp"

namespace liqoctl {

/// The object of that name: in the namespace of `-n` if that is given, else in any namespace. If `peer` is not empty,
/// only with its label. Errors: Errc::missing, and Errc::invalid_input if there are several.
asio::awaitable<Result<kube::ObjectKey>> find_one(Cluster& cluster, kube::Resource resource, std::string name,
                                                  std::string peer = {});

/// The ForeignClusters of the cluster, the oldest first. Of several about one peer, liqod uses the oldest.
asio::awaitable<Result<std::vector<Object>>> list_peers(Cluster& cluster);
/// Fails if that is no peer, and names the peers that there are.
asio::awaitable<Result<void>> check_peer(Cluster& cluster, std::string peer);
/// The tenant namespace of a peer. Errors: those of Cluster::existing_tenant_namespace(), and those of check_peer() if
/// it is no peer.
asio::awaitable<Result<std::string>> find_tenant_namespace(Cluster& cluster, std::string peer);
/// "milano is not a peer: the peers are milan".
std::string describe_unknown_peer(const std::string& name, const std::vector<Object>& peers);
/// The ForeignCluster of a peer that liqod uses. One that a user has created may have any name.
asio::awaitable<Result<std::optional<Object>>> find_peer(Cluster& cluster, std::string peer);

}  // namespace liqoctl
