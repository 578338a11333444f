// The notices about providers that ForeignClusters have, and that the Nodes of their virtual nodes show.
// Tested by test/unit/controllers/nodes/network_check_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "controllers/common/context.hpp"
#include "core/nodes/node.hpp"
#include "core/peering/silence.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Keeps a notice for each cluster whose ForeignCluster has one. Of several ForeignClusters for one cluster the oldest
/// gives the notice, as it does for the status; is_lost() believes any of them. One thread.
class PeerNotices {
 public:
  struct Notice {
    std::string withdrawal;     ///< the message if the cluster has taken our rights away
    core::SilenceNote silence;  ///< the message if the cluster does not act
    core::ProviderHealth::Network network = core::ProviderHealth::Network::unchecked;
    bool operator==(const Notice&) const = default;
  };
  /// `changed` is called with the ID of a cluster whose notice has changed. Must not suspend.
  PeerNotices(const Context& context, std::function<void(const std::string& cluster)> changed);

  /// The notice about a cluster; null = none.
  const Notice* find(const std::string& cluster) const;
  /// Whether people have declared the cluster permanently unreachable.
  bool is_lost(std::string_view cluster) const;

 private:
  void see(const kube::ObjectKey& foreign);
  void take(const std::string& cluster);

  std::function<void(const std::string&)> changed_;
  std::map<std::string, std::string> clusters_;  ///< cluster IDs of ForeignClusters, by name
  std::map<std::string, Notice> notices_;        ///< by cluster
  kube::InformerHandle foreign_clusters_;
};

}  // namespace liqo::controllers
