// Options of an operator for pods that are offloaded, and for those that consumers offload here.
#pragma once

#include <string>

#include "core/common/forging_context.hpp"

namespace liqo::controllers {

/// The options of liqod for pods that are offloaded, and for those that consumers offload here. A default here is that
/// of the option.
struct OffloadingSettings {
  /// Which offloaded pods get tokens for the home API server.
  core::ApiServerMode api_server_mode = core::ApiServerMode::needed;
  /// Whether offloaded pods get tokens that name an audience other than the home API server.
  core::AudienceTokens audience_tokens = core::AudienceTokens::always;
  /// Which cluster's trust bundles offloaded pods mount.
  core::TrustBundles trust_bundles = core::TrustBundles::home;
  /// Which cluster's signers make the certificates of offloaded pods.
  core::PodCertificates pod_certificates = core::PodCertificates::home;
  std::string api_server_host;  ///< as offloaded pods reach it; "" = kubernetes.default
  std::string api_server_port;
  /// Whether Quotas bind consumers: ShadowPods are counted when they are created, and end with their Quota.
  bool enforce_resources = true;
  bool reflect_ips = true;  ///< false: pods at home show no addresses
  int pod_workers = 64;     ///< pods reconciled at the same time, per virtual node

  /// Whether some offloaded pods may get tokens of this cluster, for which liqod needs the right to make them.
  bool makes_tokens() const {
    return api_server_mode != core::ApiServerMode::never || audience_tokens != core::AudienceTokens::never;
  }
};

}  // namespace liqo::controllers
