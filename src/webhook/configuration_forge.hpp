// The MutatingWebhookConfiguration and the ValidatingWebhookConfiguration of liqod: which requests the API server sends
// for review, and which CA it trusts.
// Tested by test/unit/webhook/configurations_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/base/json.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::webhook {

/// The Service in front of the webhook port.
inline constexpr std::string_view service_name = "liqo-webhook";
using api::kinds::mutating_configurations;
using api::kinds::validating_configurations;

/// How API servers reach this process.
struct Reach {
  std::string url;                             ///< https://host[:port] without a path; "" = by the Service
  std::string ns;                              ///< of Liqo, and so of the Service
  std::uint16_t port = 9443;                   ///< of the Service
  std::string failure_policy = "Fail";         ///< for requests while this process does not answer; or Ignore
  kube::json::array selected_namespaces = {};  ///< `matchExpressions` of those reviewed when created; [] = none
};

/// The configuration of that kind, with every default written out, so that it can be compared with the stored one.
/// Deletions are not reviewed, and neither is the removal of finalizers from an object that is being deleted, unless a
/// consumer does it: so nothing hangs while this process is down. All other requests fail while it is down, except
/// changes of a pod's tolerations, which pass unreviewed. Pods and DaemonSets are reviewed only in offloaded
/// namespaces, and never in kube-system and `reach.ns`; namespaces only if they are selected. `ca_pem`: the CA that the
/// API server trusts.
kube::Object forge_configuration(const kube::Resource& kind, const Reach& reach, std::string_view ca_pem);

}  // namespace liqo::webhook
