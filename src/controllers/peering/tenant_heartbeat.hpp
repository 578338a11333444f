// The heartbeats of consumers.
// Tested by test/unit/controllers/peering/tenant_upkeep_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/common/context.hpp"

namespace liqo::controllers {

/// Makes the Lease in which a consumer writes its heartbeat, and cordons a Tenant whose consumer has been silent for
/// too long, if that is configured. One thread.
class TenantHeartbeat {
 public:
  /// `tenants` outlive it.
  TenantHeartbeat(const kube::InformerHandle& tenants, Context context);

  /// Looks at the heartbeat of an active Tenant; returns when to look again, nothing = it need not.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> watch(kube::Object tenant);
  /// Forgets a Tenant that is gone.
  void forget(std::string_view uid);

 private:
  struct Heartbeat {
    std::string time;  ///< as the consumer has written it
    kube::WallTime seen{};
    kube::TimePoint kept_next{};  ///< when it may be recorded on the Tenant again
  };
  /// When the present heartbeat of the Lease was first seen, as far as that is known.
  kube::WallTime seen(const kube::Object& tenant, const kube::Object& lease, kube::WallTime now);
  /// Records the heartbeat on the Tenant, if there is a patch: at most once in the time between two heartbeats.
  asio::awaitable<kube::Result<void>> keep(kube::Object tenant, std::optional<kube::json::object> patch);

  const kube::InformerHandle& tenants_;
  Context context_;
  std::map<std::string, Heartbeat, std::less<>> last_;  ///< of each Tenant, by its UID
};

}  // namespace liqo::controllers
