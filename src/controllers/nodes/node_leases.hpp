// The heartbeats of virtual nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::controllers {

/// The leases by which kube-controller-manager sees that somebody looks after a Node. One thread.
class NodeLeases {
 public:
  explicit NodeLeases(Context context) : context_(context), log_("virtual-node") {}

  /// Renews the lease of a Node with that UID, or makes it.
  asio::awaitable<void> renew(std::string name, std::string uid);
  struct Holder {
    std::string name, uid;
  };
  /// Renews many, some at a time: one that is slow must not make the others late.
  asio::awaitable<void> renew_all(std::vector<Holder> nodes);
  /// The Node goes.
  void forget(const std::string& name) { leases_.erase(name); }

 private:
  Context context_;
  std::map<std::string, kube::Object> leases_;  ///< as written last, by node
  kube::Log log_;
};

}  // namespace liqo::controllers
