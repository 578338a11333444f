// Putting an installation of Liqo into a cluster, and taking it out.
#pragma once

#include <string>
#include <vector>

#include "session/session.hpp"

namespace liqoctl {

/// Refuses a cluster that is too old, and a user who may not write one of the kinds. Nothing is written.
asio::awaitable<Result<void>> check_cluster(Cluster& cluster, const std::vector<kube::json::value>& manifests);

/// Applies all by server-side apply, in their order, and waits for kinds to be served. A kind of a newer version, which
/// takes more, stays as it is.
asio::awaitable<Result<void>> apply_all(Session& session, Cluster& cluster,
                                        const std::vector<kube::json::value>& manifests);
/// As apply_all, and removes what an earlier version or other values have put there and these do not.
asio::awaitable<Result<void>> apply_installation(Session& session, Cluster& cluster,
                                                 const std::vector<kube::json::value>& manifests);

/// Removes the API of consumers' figures, and the role that it depends on. This comes before the daemon goes: while
/// nobody answers behind that API, Kubernetes removes no namespace.
asio::awaitable<Result<void>> remove_figures(Cluster& cluster);

/// Removes all that apply_installation put there except the kinds: the API of figures, then the daemon, then the rest.
/// Waits for the webhooks to go.
asio::awaitable<Result<void>> remove_installation(Session& session, Cluster& cluster);

/// Removes the kinds, with all objects of them.
asio::awaitable<Result<void>> remove_kinds(Session& session, Cluster& cluster,
                                           const std::vector<kube::json::value>& definitions);

}  // namespace liqoctl
