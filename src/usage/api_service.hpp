// Keeps the APIService of the metric agent: it makes API servers send consumers' requests to us, and has the CA of our
// certificate.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "core/usage/api_service_plan.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::usage {

namespace asio = boost::asio;

/// The parts of the process that the keeper uses; all of them outlive it.
struct ApiServiceContext : kube::Environment {
  kube::Api& leader_api;
  kube::InformerSet& home;
  kube::EventRecorder& events;
  std::function<bool()> is_ready;  ///< whether this process could answer
  std::string ns;                  ///< of the Service
};

/// Keeps the APIService while this process leads. Makes it once there is a certificate and this process is ready:
/// without a server that answers it would block the removal of every namespace. Removes it for a time if the API server
/// cannot reach the agent, and for good if API servers have no front proxy (core::plan_api_service); an Event on the
/// Service reports both. Makes none while its owner, the ClusterRole `api::metric_agent_role`, does not exist. Leaves
/// an APIService for another Service alone. Deletes it as soon as the namespace of the Service is being removed:
/// otherwise Kubernetes would wait for its answers before it removes that namespace and the owner. One thread.
class ApiServiceKeeper {
 public:
  explicit ApiServiceKeeper(ApiServiceContext context);

  asio::awaitable<void> run();
  /// Sets the certificates that API servers are to trust, in PEM.
  void trust(std::string ca_pem);

 private:
  asio::awaitable<kube::Outcome> reconcile();
  core::ApiServiceSnapshot look_at(const std::optional<kube::Object>& found) const;
  /// The spec of the wanted APIService.
  kube::json::object wanted_spec() const;
  asio::awaitable<kube::Result<void>> carry_out(core::ApiServiceStep step, std::optional<kube::Object> found);
  asio::awaitable<kube::Result<void>> write(std::optional<kube::Object> found);
  asio::awaitable<kube::Result<void>> remove(core::ApiServiceStep step, std::optional<kube::Object> found);
  /// Sends an Event on the Service, which is where an operator of the agent looks; returns whether there is one.
  asio::awaitable<bool> report(std::string sentence);

  ApiServiceContext context_;
  std::string ca_pem_;
  core::ApiServiceMemory memory_;
  bool other_servers_ = false;  ///< API servers have come or gone since the last look
  bool reported_no_front_proxy_ = false;
  kube::Log log_;
  kube::InformerHandle services_, space_, front_proxy_map_, api_servers_;
  kube::Controller controller_;
};

}  // namespace liqo::usage
