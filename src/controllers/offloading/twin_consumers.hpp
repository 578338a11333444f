// Finds the consumer of a twin in this cluster, and the settings in the tenant namespace of that consumer.
// Tested by test/unit/controllers/offloading/shadow_pod_test.cpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "controllers/common/context.hpp"
#include "core/common/ip.hpp"
#include "core/policy/pod_policy.hpp"

namespace liqo::controllers {

/// Looks up the consumers of twins in shared caches. One thread.
class TwinConsumers {
 public:
  explicit TwinConsumers(Context context);

  /// Takes in a change of a namespace. Returns the consumers whose policy may have changed, besides that of the twin
  /// itself; nothing if no policy has changed.
  std::optional<std::set<std::string>> observe(const kube::Change& change);
  /// The cluster ID of the consumer that a twin namespace belongs to, "" if it is no twin.
  std::string consumer_of(std::string_view twin) const;
  /// The policy of the consumer that a twin namespace belongs to, valid until the next change of a namespace. A policy
  /// that cannot be parsed counts as the default one here; admission admits nothing new by it.
  const core::PodPolicy& policy_of(const std::string& twin);

  /// Whether api_server_mapping() can be called.
  bool knows_addresses() const;
  /// How the pod reaches the API server of its home from here. Errors: that server is in the network of the consumer,
  /// which is not ready.
  kube::Result<core::IpMapping> api_server_mapping(const kube::Object& shadow) const;

 private:
  kube::InformerHandle namespaces_, configurations_;
  std::unordered_map<std::string, core::PodPolicy> policies_;  ///< by twin, until what decides it changes
};

}  // namespace liqo::controllers
