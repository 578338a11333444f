// The daemon of a cluster: its version, and whether it runs.
#pragma once

#include "session/session.hpp"
#include "session/wait.hpp"

namespace liqoctl {

/// The image of liqod (or of the Go version's controller-manager) in Liqo's namespace. "" if there is no such
/// Deployment, for example because liqod runs outside of the cluster.
asio::awaitable<Result<std::string>> read_liqod_image(Cluster& cluster);
/// The tag of that image; "" if it has none, or only a digest.
asio::awaitable<Result<std::string>> read_liqod_version(Cluster& cluster);

/// Whether every replica is ready; if not, what holds it up.
asio::awaitable<Result<WaitState>> look_at_daemon(Cluster& cluster);
/// Waits until every replica is ready. Meanwhile it reports what holds them up.
asio::awaitable<Result<void>> wait_for_daemon(Session& session, Cluster& cluster);

}  // namespace liqoctl
