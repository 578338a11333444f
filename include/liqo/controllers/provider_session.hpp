// Everything that runs for one VirtualNode: the link to its provider, health, pods and reflected objects.
#pragma once

#include <memory>
#include <string>

#include "kube/async/task_group.hpp"
#include "liqo/controllers/pod.hpp"
#include "liqo/controllers/provider_link.hpp"
#include "liqo/core/forge/node.hpp"
#include "liqo/reflector/reflector.hpp"

namespace liqo::controllers {

/// One virtual node's traffic with its provider, in a task group of its own: what fails or hangs here reaches no other
/// session. Made anew when the kubeconfig or the offloading patch changes; it holds no state that a restart loses.
class ProviderSession {
 public:
  ProviderSession(const asio::any_io_executor& executor, std::string tenant_namespace, core::ForgingContext forging,
                  std::unique_ptr<ProviderLink> link, Context context);

  /// Starts watching and reconciling. Call stop() before destroying.
  void start();
  asio::awaitable<void> stop();

  /// What probes of the provider's API server say.
  const core::ProviderHealth& health() const { return health_; }
  /// Called when the health changes in a way that the Node shows.
  void on_health_change(std::function<void()> handler) { health_changed_ = std::move(handler); }
  PodController& pods() { return pods_; }
  ProviderLink& link() { return *link_; }
  bool is_busy() const { return pods_.is_busy() || config_maps_.is_busy(); }

 private:
  asio::awaitable<void> probe();
  void read_mapping();

  Context context_;
  std::unique_ptr<ProviderLink> link_;
  kube::Api api_;
  kube::InformerSet provider_;
  kube::InformerHandle namespace_maps_;
  PodController pods_;
  reflector::Reflector config_maps_;
  std::map<std::string, std::string> reflected_;  ///< namespaces given to the reflector, local to remote
  core::ProviderHealth health_;
  std::function<void()> health_changed_;
  kube::async::TaskGroup group_;
  kube::Log log_;
};

}  // namespace liqo::controllers
