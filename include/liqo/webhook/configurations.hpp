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

inline constexpr std::string_view configuration_name = "liqo-webhook";
using api::kinds::mutating_configurations;
using api::kinds::validating_configurations;

/// The ClusterRole of the chart to which both configurations belong, so that Kubernetes removes them with it, whatever
/// way Liqo is uninstalled. It gives no rights, and belongs itself to the namespace of Liqo.
inline constexpr std::string_view installation_role = "liqo-installation";

/// How API servers reach this process.
struct Reach {
  std::string url;  ///< https://host[:port] without a path; "" = by the Service
  std::string ns;   ///< of Liqo, and so of the Service
  std::string service = "liqo-webhook";
  std::uint16_t port = 9443;            ///< of the Service
  std::string failure_policy = "Fail";  ///< what becomes of requests while this process does not answer, or Ignore
  kube::json::array selected_namespaces = {};  ///< `matchExpressions` of those asked about as they are made; [] = none
};

/// The configuration of that kind, with every default written out, so that it can be compared with what is stored.
/// Deletions are not asked about, nor that what is being deleted loses its finalizers (unless by a consumer), so that
/// nothing is ever stuck because this process is away; everything else fails while it is, but for a change of a pod's
/// tolerations, which the API server then judges as it is. Of pods and DaemonSets, only those of offloaded namespaces
/// are asked about, and none of kube-system and `reach.ns`; of namespaces only those selected. `ca_pem` is what the API
/// server trusts.
kube::Object forge_configuration(const kube::Resource& kind, const Reach& reach, std::string_view ca_pem);

/// True if the stored object says what `wanted` says; what others add to its metadata does not count.
bool is_as_wanted(const kube::Object& stored, const kube::Object& wanted);

/// Keeps both configurations; runs where this process leads. Makes none while the role is not there: nothing would
/// remove it after an uninstallation, and it fails closed. One thread.
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
