// The MutatingWebhookConfiguration and the ValidatingWebhookConfiguration of this program: what the API server asks us
// about, and how it trusts us.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "kube/runtime/controller.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// The Service in front of the webhook port.
inline constexpr std::string_view service_name = "liqo-webhook";
using api::kinds::mutating_configurations;
using api::kinds::validating_configurations;

/// How API servers reach this process.
struct Reach {
  std::string url;                      ///< https://host[:port] without a path; "" = by the Service
  std::string ns;                       ///< of Liqo, and so of the Service
  std::uint16_t port = 9443;            ///< of the Service
  std::string failure_policy = "Fail";  ///< what becomes of requests while this process does not answer, or Ignore
  kube::json::array selected_namespaces = {};  ///< `matchExpressions` of those asked about as they are made; [] = none
};

/// The configuration of that kind, with every default written out, so that it can be compared with what is stored.
/// Deletions are not asked about, and neither is the removal of finalizers from an object that is being deleted, unless
/// by a consumer, so that nothing hangs while this process is away. All other requests fail while it is away, except
/// changes of a pod's tolerations, which pass unreviewed. Of pods and DaemonSets, only those of offloaded namespaces
/// are asked about, and none of kube-system and `reach.ns`; of namespaces only those selected. `ca_pem` is what the API
/// server trusts.
kube::Object forge_configuration(const kube::Resource& kind, const Reach& reach, std::string_view ca_pem);

/// Keeps both configurations (src/webhook/configuration_plan.hpp); runs where this process leads. One thread.
class Configurations {
 public:
  Configurations(const kube::Environment& environment, kube::Api& leader_api, kube::InformerSet& home, Reach reach);

  asio::awaitable<void> run() { return controller_.run(); }
  /// What the API server is to trust from now on, PEM.
  void trust(std::string ca_pem);

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// The role, belonging to the namespace; nothing while it is not there.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> installation();
  void enqueue_all();

  kube::Api& leader_api_;
  Reach reach_;
  std::string ca_pem_;
  kube::Log log_;
  kube::InformerHandle mutating_, validating_;
  kube::Controller controller_;
};

}  // namespace liqo::webhook
