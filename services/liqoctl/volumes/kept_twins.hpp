// Twins that a provider keeps against this cluster's wish, because they hold data that nothing here accounts for.
// Tested by test/cluster/faults/test_restored_etcd.py.
#pragma once

#include <string>
#include <vector>

#include "session/session.hpp"

namespace liqoctl {

/// One of them.
struct KeptTwin {
  kube::ObjectKey map;  ///< the NamespaceMap that says so
  std::string cluster, ns;
  std::string why;  ///< liqod's sentence
};
/// Those of a namespace, at a provider; "" = of any. Empty where this user may not see NamespaceMaps.
asio::awaitable<Result<std::vector<KeptTwin>>> find_kept_twins(Cluster& cluster, std::string ns, std::string provider);

/// Gives up the data in them, so that they are deleted; `wait`: until they are asked for no more.
asio::awaitable<Result<void>> give_up_twins(Session& session, Cluster& cluster, std::vector<KeptTwin> twins, bool wait);

}  // namespace liqoctl
