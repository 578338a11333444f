// The notes of `peer` and `authenticate` on the ForeignCluster of a provider, which liqod makes.
#pragma once

#include <string>

#include "session/session.hpp"

namespace liqoctl {

/// Waits until liqod has made the ForeignCluster of the provider, and returns its key.
asio::awaitable<Result<kube::ObjectKey>> wait_for_foreign_cluster(Session& session, Cluster& consumer,
                                                                  std::string provider_id);

/// Notes the namespace of the provider's Liqo, in which liqod finds the Lease of its leader.
asio::awaitable<Result<void>> declare_remote_namespace(Session& session, Session::Pair pair);

}  // namespace liqoctl
