// Installs Liqo in a cluster, and removes it.
#pragma once

#include <string>
#include <vector>

#include "session/session.hpp"

namespace liqoctl {

/// Refuses a cluster that is too old, and a user who may not write one of the kinds. Writes nothing.
asio::awaitable<Result<void>> check_cluster(Cluster& cluster, const std::vector<kube::json::value>& manifests);

/// Applies all manifests by server-side apply, in their order, and waits until their kinds are served. A CRD of a newer
/// version, which allows more, stays as it is.
asio::awaitable<Result<void>> apply_all(Session& session, Cluster& cluster,
                                        const std::vector<kube::json::value>& manifests);
/// Applies all manifests like apply_all(), and removes the objects of an earlier version or of other values that these
/// lack.
asio::awaitable<Result<void>> apply_installation(Session& session, Cluster& cluster,
                                                 const std::vector<kube::json::value>& manifests);

/// Removes the API of consumers' usage, and the role that it depends on. This comes before the daemon is removed: while
/// that API has no server, Kubernetes removes no namespace.
asio::awaitable<Result<void>> remove_usage_api(Cluster& cluster);

/// Removes everything that apply_installation() created except the CRDs: the API of usage, then the daemon, then the
/// rest. Waits until the webhooks are gone.
asio::awaitable<Result<void>> remove_installation(Session& session, Cluster& cluster);

/// Removes the CRDs, and with them all objects of their kinds.
asio::awaitable<Result<void>> remove_kinds(Session& session, Cluster& cluster,
                                           const std::vector<kube::json::value>& definitions);

}  // namespace liqoctl
