// Everything that runs for one VirtualNode: the link to its provider, health, pods and reflected objects.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "liqo/controllers/home_endpoint_watch.hpp"
#include "liqo/controllers/options_templates.hpp"
#include "liqo/controllers/pod.hpp"
#include "liqo/controllers/provider_link.hpp"
#include "liqo/controllers/secret_references.hpp"
#include "liqo/controllers/session_workers.hpp"
#include "liqo/core/forge/node.hpp"
#include "liqo/reflector/reflector.hpp"

namespace liqo::controllers {

/// One virtual node's traffic with its provider, in a task group of its own: what fails or hangs here reaches no other
/// session. Made anew when the kubeconfig, the offloading patch or what pods leave out changes; it holds no state that
/// a restart loses.
class ProviderSession {
 public:
  ProviderSession(const asio::any_io_executor& executor, std::string tenant_namespace, core::ForgingContext forging,
                  std::unique_ptr<ProviderLink> link, std::shared_ptr<ProviderBudget> budget, Context context);

  /// Starts watching and reconciling. Call stop() before destroying.
  void start();
  asio::awaitable<void> stop();

  /// What probes of the provider's API server say.
  const core::ProviderHealth& health() const { return health_; }
  /// Called when the health changes in a way that the Node shows.
  void on_health_change(std::function<void()> handler) { health_changed_ = std::move(handler); }
  /// Why the session cannot go on, a sentence: the provider shows more than is held of it. "" = it can.
  std::string overflow() const;
  /// Called when overflow() has something to say.
  void on_overflow(std::function<void()> handler) { overflown_ = std::move(handler); }
  /// By what a worker of it has ended, so that the session has to be made anew. "" = all run.
  const std::string& loss() const { return workers_.loss(); }
  /// Called when loss() has something to say.
  void on_loss(std::function<void()> handler) { workers_.on_loss(std::move(handler)); }
  PodController& pods() { return pods_; }
  const PodController& pods() const { return pods_; }
  /// The connection, to be shared by whoever uses it over an await: the session may be gone by then.
  std::shared_ptr<ProviderLink> link() const { return link_; }
  bool is_busy() const;

 private:
  asio::awaitable<void> probe();
  void read_mapping();
  /// Notes a VirtualNode of this provider; false where it is of another one.
  bool take_sibling(const kube::ObjectKey& key);
  /// The oldest virtual node of the provider says what is reflected and what copies leave out, and its session makes
  /// them.
  void read_rules();
  /// What holds for one VirtualNode, itself and its VkOptionsTemplate considered.
  struct Rules {
    core::ReflectionFilters filters;
    reflection::TemplatePolicies policies;
    bool operator==(const Rules&) const = default;
  };
  kube::Result<Rules> rules_of(const kube::Object& virtual_node) const;
  /// Takes what the VirtualNode that decides says; `nodes` are all of this provider.
  void take_rules(const kube::Object& decides, const std::vector<kube::Object>& nodes);
  /// Has the namespaces reflected that are mapped, where this session is the one that does so.
  void reflect_mapped();
  void tell_references(const std::string& ns);
  void warn(const kube::Object& virtual_node, std::string_view reason, std::string message);
  /// Tells the pods which addresses are declared, once what says so is known. Answers whether it is.
  bool read_addresses();
  asio::awaitable<void> read_addresses_first();
  asio::awaitable<void> read_rules_first();

  Context context_;
  std::shared_ptr<ProviderLink> link_;
  kube::Api api_;
  std::shared_ptr<ProviderBudget> budget_;
  kube::StoreBudget stores_;
  kube::InformerSet provider_;
  kube::InformerHandle namespace_maps_, virtual_nodes_;
  OptionsTemplates templates_;
  kube::InformerHandle foreign_clusters_, configurations_, ips_;  ///< what is declared about the provider's addresses
  std::string tenant_namespace_;
  PodController pods_;
  SecretReferences references_;
  HomeEndpointWatch endpoints_;
  /// One for each kind of the table. One that is off has no namespaces.
  struct Reflecting {
    std::unique_ptr<reflector::Reflector> reflector;
    bool is_on = false;
  };
  std::vector<Reflecting> reflectors_;
  std::map<std::string, std::string> reflected_;      ///< namespaces given to the reflectors, local to remote
  std::map<kube::ObjectKey, kube::Object> siblings_;  ///< the VirtualNodes of this provider
  bool reflects_ = false;  ///< copies are shared by all virtual nodes of the provider: the session of one keeps them
  std::optional<Rules> rules_;  ///< that hold for copies; none: they are not known, and nothing is reflected
  std::string warned_;          ///< what was last told of them
  core::ProviderHealth health_;
  std::function<void()> health_changed_, overflown_;
  SessionWorkers workers_;
  kube::Log log_;
};

}  // namespace liqo::controllers
