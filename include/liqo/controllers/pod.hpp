// The pods of one virtual node: local Pod → ShadowPod → status back.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "kube/runtime/controller.hpp"
#include "liqo/controllers/context.hpp"
#include "liqo/core/forge/pod_status.hpp"
#include "liqo/core/mapping/namespaces.hpp"
#include "liqo/core/pod_plan.hpp"
#include "liqo/core/service_account_token.hpp"

namespace liqo::controllers {

/// Guarantees: a pod is identified by its UID; a finished pod never runs again; nothing is written to the provider for
/// a namespace, and nothing is deleted, before the caches of pods at home and of the twin namespace are complete.
/// What the provider refuses stands in its words in one condition and one Event of the local pod. One thread.
class PodController {
 public:
  PodController(const asio::any_io_executor& executor, core::ForgingContext forging, kube::InformerSet& provider,
                Context context);

  /// Takes the namespaces that have a twin as of now, and starts and stops watching accordingly.
  void set_mapping(core::NamespaceMapping mapping);
  /// Reconciles until cancelled.
  asio::awaitable<void> run() { return controller_.run(); }
  bool is_busy() const { return controller_.is_busy(); }

  /// The pods of this node at home, whether their namespace is mapped or not.
  const kube::Informer& local_pods() const { return *local_pods_; }
  const core::NamespaceMapping& mapping() const { return mapping_; }
  const core::ForgingContext& forging() const { return forging_; }

 private:
  /// The watches of one twin namespace.
  struct Twin {
    std::string remote;
    kube::InformerHandle shadows, pods, tokens;
    bool has_synced() const { return shadows->has_synced() && pods->has_synced() && (!tokens || tokens->has_synced()); }
  };
  /// What is remembered of one local pod.
  struct Memory {
    std::string uid;
    core::PodMemory plan;
    kube::TimePoint shadow_created_at{};
    kube::TimePoint in_doubt_until{};               ///< for `PodMemory::order_in_doubt`
    std::optional<kube::TimePoint> remote_seen_at;  ///< when its remote pod was first seen
    bool told_dropped_fields = false;
    core::IssuedTokens tokens;
  };

  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  asio::awaitable<kube::Outcome> reconcile_unmapped(kube::ObjectKey key, kube::Object local);
  asio::awaitable<kube::Outcome> reconcile_mapped(kube::ObjectKey key, std::string remote_namespace);
  asio::awaitable<kube::Result<void>> create_shadow(const kube::Object& local, kube::ObjectKey remote_key);
  asio::awaitable<kube::Result<void>> update_shadow(const kube::Object& local, const kube::Object& shadow);
  asio::awaitable<kube::Result<void>> delete_shadow(kube::ObjectKey key, kube::ObjectKey remote_key,
                                                    core::pod_action::DeleteShadow action);
  /// Brings the Secret with the pod's tokens up to date; answers when to look again.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> ensure_tokens(kube::ObjectKey key,
                                                                             const kube::Object* local,
                                                                             std::string remote_namespace);
  asio::awaitable<kube::Result<void>> write_status(const kube::Object& local, core::WantedStatus wanted);
  asio::awaitable<kube::Result<void>> remove_local(kube::ObjectKey key, std::string uid);

  Twin* find_twin(const std::string& local_namespace);
  Memory& memory_of(const kube::ObjectKey& key, std::string_view uid);
  void enqueue(const kube::ObjectKey& local_key);
  void enqueue_all();
  /// Every key that local and remote objects of a mapped namespace have.
  void enqueue_twin(const std::string& local_namespace);
  void enqueue_token_pod(const std::string& local, const kube::ObjectKey& secret);
  void start_twin(const std::string& local, const std::string& remote);

  core::ForgingContext forging_;
  kube::InformerSet& provider_;
  Context context_;
  core::StatusContext status_context_;
  core::NamespaceMapping mapping_;
  bool mapping_known_ = false;
  std::map<std::string, Twin, std::less<>> twins_;  ///< by local namespace
  std::unordered_map<kube::ObjectKey, Memory> memory_;
  kube::InformerHandle local_pods_;
  kube::Controller controller_;
  kube::Counter reflected_, failed_;
};

}  // namespace liqo::controllers
