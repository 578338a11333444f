// The APIService of the metric agent: it makes API servers send consumers' requests to us, and names the CA of our
// certificate.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "kube/runtime/controller.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::figures {

namespace asio = boost::asio;

/// Keeps the APIService; runs where this process leads. Makes it once there is a certificate: before somebody answers,
/// it would hold up the removal of every namespace. Makes none while the ClusterRole `api::metric_agent_role`, its
/// owner, is not there, and leaves alone one that is for another Service. Deletes it as soon as the namespace of the
/// Service is being removed: Kubernetes would wait for its answers before that namespace goes, and its owner with it.
/// One thread.
class ApiServiceKeeper {
 public:
  /// `ns` is that of the Service.
  ApiServiceKeeper(const kube::Environment& environment, kube::Api& leader_api, kube::InformerSet& home,
                   std::string ns);

  asio::awaitable<void> run() { return controller_.run(); }
  /// Sets the certificates that API servers are to trust, in PEM.
  void trust(std::string ca_pem);

 private:
  asio::awaitable<kube::Outcome> reconcile();
  /// The spec of the wanted APIService.
  kube::json::object wanted_spec() const;

  kube::Api& leader_api_;
  std::string ns_, ca_pem_;
  kube::Log log_;
  kube::InformerHandle services_, space_;
  kube::Controller controller_;
};

}  // namespace liqo::figures
