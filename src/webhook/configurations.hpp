// Keeps the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration of liqod.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "kube/runtime/controller.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"
#include "webhook/configuration_forge.hpp"

namespace liqo::webhook {

namespace asio = boost::asio;

/// Keeps both configurations (src/webhook/configuration_plan.hpp); runs when this process leads. One thread.
class Configurations {
 public:
  Configurations(const kube::Environment& environment, kube::Api& leader_api, kube::InformerSet& home, Reach reach);

  asio::awaitable<void> run() { return controller_.run(); }
  /// Sets the CA that the API server trusts from now on, in PEM.
  void trust(std::string ca_pem);

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// The installation role, which belongs to the namespace; nothing while it does not exist.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> installation();

  kube::Api& leader_api_;
  Reach reach_;
  std::string ca_pem_;
  kube::Log log_;
  kube::InformerHandle mutating_, validating_;
  kube::Controller controller_;
};

}  // namespace liqo::webhook
