// Reconciles the pods of one virtual node: makes a ShadowPod for each local Pod, and writes its status back.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "controllers/common/context.hpp"
#include "controllers/links/provider_budget.hpp"
#include "controllers/links/twin_watches.hpp"
#include "controllers/offloading/awaited_pods.hpp"
#include "controllers/offloading/mapped_pod.hpp"
#include "controllers/offloading/offloading_node.hpp"
#include "controllers/offloading/pod_certificates.hpp"
#include "controllers/offloading/pod_ends.hpp"
#include "controllers/offloading/pod_orders.hpp"
#include "controllers/offloading/pod_status_writer.hpp"
#include "controllers/offloading/pod_tokens.hpp"
#include "controllers/offloading/pod_twins.hpp"
#include "controllers/offloading/pod_warnings.hpp"
#include "controllers/offloading/pods_without_room.hpp"
#include "controllers/offloading/refused_pods.hpp"
#include "controllers/offloading/trust_copies.hpp"
#include "controllers/offloading/unmapped_pods.hpp"
#include "core/namespaces/namespace_mapping.hpp"

namespace liqo::controllers {

/// Guarantees: a pod is identified by its UID, and a finished pod never runs again. Nothing is written to the provider
/// for a namespace, and nothing is deleted, before the caches of pods at home and of the twin namespace are complete.
/// One condition and one Event of the local pod show, in the provider's words, what it refuses; likewise what its
/// Events warn of while the remote pod is not ready. One thread.
class PodController {
 public:
  /// The objects that it refers to outlive the controller.
  using Provider = PodProvider;
  PodController(core::ForgingContext forging, Provider provider, ProviderBudget& budget, Context context);
  ~PodController();

  /// Sets the namespaces that have a twin now, and starts and stops the watches of twins accordingly.
  void set_mapping(core::NamespaceMapping mapping) {
    twins_.set_mapping(std::move(mapping));
    trust_.see_mapping();
  }
  /// Sets the declared addresses of the provider. Until the first call the addresses that pods show at home stay as
  /// they are.
  void set_addresses(core::PeerAddresses addresses);
  /// The message for pods whose provider has taken our rights away; "" = it has not.
  void set_withdrawal(std::string withdrawal);
  /// Takes in the note about a provider that does not act, for the pods that wait for it.
  void set_silence(core::SilenceNote silence) { awaited_.set_silence(std::move(silence)); }
  /// Reconciles until cancelled: while this process leads.
  asio::awaitable<void> run();
  /// Asks the provider why pods are not ready, until cancelled: while this process leads.
  asio::awaitable<void> run_questions() { return warnings_.run(); }
  bool is_busy() const { return node_.controller.is_busy(); }

  /// Whether a pod that would fit on the Node waits because its last order was refused for lack of room, or did so
  /// until a moment ago.
  bool has_no_room() const { return room_.is_full(); }
  /// How many pods wait because their last order was refused for lack of room.
  std::size_t pods_without_room() const { return room_.count(); }
  /// Sets what is called when `has_no_room` may have changed.
  void on_room_change(std::function<void()> handler) { room_.on_change(std::move(handler)); }
  /// Sets whether the Node has the taint that keeps new pods away. Pods that ran and are refused end only once it has:
  /// their owners then make others elsewhere, and without the taint those would come here again. `is_reported`: the
  /// provider itself reports it.
  void set_closed(bool closed, bool is_reported) { room_.set_closed(closed, is_reported); }

  /// The pods of this node at home, whether their namespace is mapped or not.
  const kube::Informer& local_pods() const { return *node_.local_pods; }
  /// The pods in the twin of a namespace; null if that cache is not complete.
  const kube::Informer* twin_pods(const std::string& local_namespace, std::string_view remote_namespace) const {
    return twins_.pods(local_namespace, remote_namespace);
  }
  const core::NamespaceMapping& mapping() const { return twins_.mapping(); }
  const core::ForgingContext& forging() const { return node_.forging; }

 private:
  /// A work key without a pod name stands for the twin of the namespace.
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Reconciles a pod, and then writes into its status what it waits for.
  asio::awaitable<kube::Outcome> reconcile_pod(kube::ObjectKey key);
  /// A pod and its remote pod; nothing if it no longer matters why the latter is not ready.
  std::optional<PodWarnings::Pair> waiting_pair(const kube::ObjectKey& key);
  /// The handlers for changes in the twins.
  TwinReader reader();

  OffloadingNode node_;
  DaemonSetNotices daemon_sets_;
  MissingTokens missing_tokens_;
  HomeTokens home_tokens_;
  TokenSecrets token_secrets_;
  PodTokens tokens_;
  PodWarnings warnings_;
  PodTwins twins_;
  TrustCopies trust_;
  PodCertificates certificates_;
  PodStatusWriter statuses_;
  RefusedPods refused_;
  PodsWithoutRoom room_;
  AwaitedPods awaited_;
  PodOrders orders_;
  PodEnds ends_;
  UnmappedPods unmapped_;
  MappedPod::Services services_;
  TwinWatches::Membership reader_;
};

}  // namespace liqo::controllers
