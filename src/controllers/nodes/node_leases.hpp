// The heartbeats of virtual nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::controllers {

/// The leases by which kube-controller-manager sees that a Node is looked after. One thread.
class NodeLeases {
 public:
  explicit NodeLeases(Context context) : context_(context), log_("virtual-node") {}

  /// Renews or creates the lease of the Node with that UID.
  asio::awaitable<void> renew(std::string name, std::string uid);
  struct Holder {
    std::string name, uid;
  };
  /// Renews many leases, some at a time: a slow one must not make the others late.
  asio::awaitable<void> renew_all(std::vector<Holder> nodes);
  /// Forgets a Node that is being removed.
  void forget(const std::string& name) { leases_.erase(name); }

 private:
  Context context_;
  std::map<std::string, kube::Object> leases_;  ///< as written last, by node
  kube::Log log_;
};

}  // namespace liqo::controllers
