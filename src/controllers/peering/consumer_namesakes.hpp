// Users of this cluster that have the name of a consumer.
// Tested by test/unit/controllers/peering/tenant_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "controllers/common/context.hpp"

namespace liqo::controllers {

/// Finds out whether a user or group of this cluster has the cluster ID of a consumer as its name: the consumer would
/// inherit its rights. A consumer that was once admitted keeps its name. One thread.
class ConsumerNamesakes {
 public:
  /// `cluster_bindings`: those that liqod makes; they outlive it.
  ConsumerNamesakes(const kube::InformerHandle& cluster_bindings, Context context);

  /// Whether the consumer of a Tenant has such a namesake; if so, an Event and the log report it.
  asio::awaitable<kube::Result<bool>> has_any(kube::Object tenant);
  /// Forgets a Tenant that is gone.
  void forget(std::string_view uid);

 private:
  /// The binding that gives rights to a namesake; "" if there is none. Bindings in namespaces of the consumer are the
  /// consumer's.
  asio::awaitable<kube::Result<std::string>> find(std::string consumer);
  /// Logs the binding for which a Tenant is refused, if it has changed since it was last logged.
  void report(const kube::Object& tenant, std::string binding);

  const kube::InformerHandle& cluster_bindings_;
  Context context_;
  kube::InformerHandle consumer_namespaces_;
  std::map<std::string, std::string, std::less<>> reported_;  ///< bindings in the log, by the UID of the Tenant
  kube::Log log_{"tenant"};
};

}  // namespace liqo::controllers
