// The APIService of the metric agent: it makes API servers send consumers' requests to us, and names the CA of our
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

/// What the keeper uses; all of it outlives it.
struct ApiServiceContext : kube::Environment {
  kube::Api& leader_api;
  kube::InformerSet& home;
  kube::EventRecorder& events;
  std::function<bool()> is_ready;  ///< whether this process could answer
  std::string ns;                  ///< of the Service
};

/// Keeps the APIService; runs where this process leads. Makes it once there is a certificate and this process is ready:
/// before somebody answers, it would hold up the removal of every namespace. Takes it away for a time where the API
/// server does not reach what is behind it, and for good where API servers have no front proxy
/// (core::plan_api_service), and tells both by an Event on the Service. Makes none while the ClusterRole
/// `api::metric_agent_role`, its owner, is not there, and leaves alone one that is for another Service. Deletes it as
/// soon as the namespace of the Service is being removed: Kubernetes would wait for its answers before that namespace
/// goes, and its owner with it. One thread.
class ApiServiceKeeper {
 public:
  explicit ApiServiceKeeper(ApiServiceContext context);

  asio::awaitable<void> run();
  /// Sets the certificates that API servers are to trust, in PEM.
  void trust(std::string ca_pem);

 private:
  asio::awaitable<kube::Outcome> reconcile();
  core::ApiServiceLook look_at(const std::optional<kube::Object>& found) const;
  /// The spec of the wanted APIService.
  kube::json::object wanted_spec() const;
  asio::awaitable<kube::Result<void>> carry_out(core::ApiServiceStep step, std::optional<kube::Object> found);
  asio::awaitable<kube::Result<void>> write(std::optional<kube::Object> found);
  asio::awaitable<kube::Result<void>> remove(core::ApiServiceStep step, std::optional<kube::Object> found);
  /// Where the operator of figures looks; returns whether there is a Service to tell it by.
  asio::awaitable<bool> tell(std::string sentence);

  ApiServiceContext context_;
  std::string ca_pem_;
  core::ApiServiceMemory memory_;
  bool other_servers_ = false;  ///< API servers have come or gone since the last look
  bool is_told_no_front_proxy_ = false;
  kube::Log log_;
  kube::InformerHandle services_, space_, front_proxy_map_, api_servers_;
  kube::Controller controller_;
};

}  // namespace liqo::usage
