// What an operator sets about pods that are offloaded, and those that come.
#pragma once

#include <string>

#include "core/common/forging_context.hpp"

namespace liqo::controllers {

/// The options of liqod about pods that are offloaded, and those that come. A default here is that of the option.
struct OffloadingSettings {
  /// Which offloaded pods get tokens for the home API server.
  core::ApiServerMode api_server_mode = core::ApiServerMode::needed;
  std::string api_server_host;  ///< as offloaded pods reach it; "" = kubernetes.default
  std::string api_server_port;
  /// Consumers get no more than their Quotas: ShadowPods are counted when they are created, and ended with their Quota.
  bool enforce_resources = true;
  bool reflect_ips = true;  ///< false: pods at home show no addresses
  int pod_workers = 64;     ///< pods reconciled at a time, per virtual node
};

}  // namespace liqo::controllers
