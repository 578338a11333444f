// What the ForeignClusters tell of providers that the Nodes of their virtual nodes show.
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

/// Keeps a notice of each cluster that a ForeignCluster says something about. Of several ForeignClusters for one
/// cluster the oldest gives the notice, here as for its status; is_lost() believes any of them. One thread.
class PeerNotices {
 public:
  struct Notice {
    std::string withdrawal;     ///< what there is to say where the cluster has taken our rights away
    core::SilenceNote silence;  ///< what there is to say where the cluster does not act
    core::ProviderHealth::Network network = core::ProviderHealth::Network::unchecked;
    bool operator==(const Notice&) const = default;
  };
  /// `changed` is called with the ID of a cluster of which something else is told now. Must not suspend.
  PeerNotices(const Context& context, std::function<void(const std::string& cluster)> changed);

  /// What is told of a cluster; null = nothing.
  const Notice* find(const std::string& cluster) const;
  /// Whether people have declared the cluster permanently unreachable.
  bool is_lost(std::string_view cluster) const;

 private:
  void see(const kube::ObjectKey& foreign);
  void take(const std::string& cluster);

  std::function<void(const std::string&)> changed_;
  std::map<std::string, std::string> clusters_;  ///< of ForeignClusters, by their names
  std::map<std::string, Notice> notices_;        ///< by cluster
  kube::InformerHandle foreign_clusters_;
};

}  // namespace liqo::controllers
