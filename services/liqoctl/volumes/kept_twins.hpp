// Twins that a provider keeps although this cluster no longer wants them, because they hold data that no object here
// accounts for.
// Tested by test/cluster/faults/test_restored_etcd.py.
#pragma once

#include <string>
#include <vector>

#include "session/session.hpp"

namespace liqoctl {

/// A kept twin.
struct KeptTwin {
  kube::ObjectKey map;  ///< the NamespaceMap that shows it
  std::string cluster, ns;
  std::string why;  ///< the message of liqod
};
/// The kept twins of a namespace at a provider; "" = of any. Empty if this user may not list NamespaceMaps.
asio::awaitable<Result<std::vector<KeptTwin>>> find_kept_twins(Cluster& cluster, std::string ns, std::string provider);

/// Gives up the data in them, so that they are deleted. With `wait`, it waits until they are no longer desired.
asio::awaitable<Result<void>> give_up_twins(Session& session, Cluster& cluster, std::vector<KeptTwin> twins, bool wait);

}  // namespace liqoctl
