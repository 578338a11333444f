// The session of one VirtualNode: its own connection to the provider, health, and pods.
// Tested by test/unit/controllers/sessions/provider_sessions_test.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "controllers/sessions/provider_cluster.hpp"
#include "core/nodes/node.hpp"
#include "core/nodes/probe.hpp"

namespace liqo::controllers {

/// The traffic of one virtual node with its provider, by its own credentials, in its own task group. Its caches are
/// shared with the provider's other virtual nodes. It is restarted when any of its inputs change: the kubeconfig, the
/// provider's cluster ID, the offloading patch, what pods leave out, whether tokens are withheld, or the addresses of
/// the API server here. It has no state that a restart loses.
class ProviderSession {
 public:
  ProviderSession(core::ForgingContext forging, std::shared_ptr<ProviderLink> link,
                  std::shared_ptr<ProviderCluster> cluster, Context context);

  /// Starts reconciling. Call stop() before destroying.
  void start();
  asio::awaitable<void> stop();

  /// The provider, by its cluster ID.
  const std::string& provider() const { return provider_; }
  /// The results of probing the provider's API server.
  const core::ProviderHealth& health() const { return health_; }
  /// Why the provider cannot be read although it answers, as a sentence, as of the last probe; "" = it can.
  const std::string& blockage() const { return blockage_; }
  /// Whether the provider accepts these credentials and can be reached over this connection, as far as is known.
  bool is_usable() const { return !refused_ && (!health_.probed || core::is_alive(health_)); }
  /// Called when the health changes in a way that the Node shows, and with is_usable().
  void on_health_change(std::function<void()> handler) { health_changed_ = std::move(handler); }
  /// The error that ended one of its workers, so that the session has to be restarted; "" = all run.
  const std::string& loss() const { return workers_.loss(); }
  /// Sets the handler that is called when loss() becomes non-empty.
  void on_loss(std::function<void()> handler) { workers_.on_loss(std::move(handler)); }
  PodController& pods() { return pods_; }
  const PodController& pods() const { return pods_; }
  /// The connection. A caller that uses it over an await keeps the pointer: the session may be gone by then.
  std::shared_ptr<ProviderLink> link() const { return link_; }
  const std::shared_ptr<ProviderCluster>& cluster() const { return cluster_; }
  bool is_busy() const { return pods_.is_busy(); }

 private:
  asio::awaitable<void> probe();
  /// Reads the version of the provider's Kubernetes; true if it has changed.
  asio::awaitable<bool> read_version();

  Context context_;
  std::string provider_;
  std::shared_ptr<ProviderCluster> cluster_;
  std::shared_ptr<ProviderLink> link_;
  kube::Api provider_api_;
  PodController pods_;
  core::ProviderHealth health_;
  bool refused_ = false;
  std::string blockage_;
  std::function<void()> health_changed_;
  SessionWorkers workers_;
  kube::Log log_;
};

}  // namespace liqo::controllers
