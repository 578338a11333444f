// The provider's half of custom kinds: binds further ClusterRoles of a consumer in its twins, and bounds the pods that
// may run there because of them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/namespaces/judged_roles.hpp"
#include "core/namespaces/twin_pod_count.hpp"
#include "core/policy/pod_policy.hpp"
#include "kube/runtime/controller.hpp"
#include "quota/pod_surroundings.hpp"

namespace liqo::controllers {

/// Guarantees, for consumers whose policy names ClusterRoles: a role is bound in a twin only while it passes
/// `core::judge_tenant_role`, and only if a ResourceQuota counts the pods. The ResourceQuotas of all twins together let
/// no more run than is granted (`core::plan_twin_pods`), and are removed after the last such RoleBinding. A role that
/// cannot be bound is reported by an Event on the tenant namespace, and tried again. One thread.
class TwinPodBounds final : public Runnable {
 public:
  explicit TwinPodBounds(Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  using Roles = JudgedRoles::Roles;
  /// One pass over the twins of a consumer.
  struct Pass {
    std::string tenant, consumer;
    core::Resources granted = {};
    std::vector<core::TwinPods> twins = {};
    std::map<std::string, std::string> versions = {};  ///< of the ResourceQuotas that the plan is made from
    bool again = false;                                ///< something has changed meanwhile
    bool waits = false;                                ///< until a kind is counted
  };
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Result<void>> unbind(const Pass& pass, const Roles& roles);
  asio::awaitable<kube::Result<void>> bound_pods(Pass& pass, const std::set<std::string>& kinds);
  /// Whether kube-controller-manager is to be reminded of the kinds that it does not count.
  bool is_recounted(const kube::Object& quota, const std::set<std::string>& kinds);
  asio::awaitable<kube::Result<void>> remove_bounds(const Pass& pass);
  asio::awaitable<kube::Result<void>> bind(const Pass& pass, Roles& roles);
  /// Whether the policy of the consumer names the ClusterRole now.
  bool is_named(const std::string& tenant, const std::string& role) const;
  Pass begin(const kube::Object& tenant);
  void report(const kube::Object& tenant, const std::vector<std::string>& problems);
  void recount(const kube::ObjectKey& key);
  /// Counts all pods of a twin again.
  void recount_twin(const std::string& ns);
  void see_namespace(const kube::Change& change);
  /// Forgets the ClusterRoles that no policy names any more.
  void forget_roles();
  /// The tenant namespace of the consumer whose twin a namespace is, or was last; "" = it is no twin.
  std::string tenant_of(const std::string& ns) const;
  void enqueue(const std::string& tenant);

  Context context_;
  kube::InformerHandle shadows_, pods_, namespaces_, bindings_, bounds_, grants_;
  JudgedRoles judged_;
  std::optional<quota::PodSurroundings> surroundings_;     ///< set once a consumer has roles
  std::map<std::string, std::vector<std::string>> roles_;  ///< tenant namespace to the ClusterRoles of its policy
  std::map<std::string, std::string> twins_;               ///< namespace to the tenant namespace of its consumer
  core::TwinPodCount count_;                               ///< of the ShadowPods of consumers with roles
  std::map<std::string, core::Resources> last_used_;       ///< of each twin, used when it is leaving
  struct Uncounted {
    kube::TimePoint at{};    ///< when kube-controller-manager was reminded last
    kube::Duration pause{};  ///< until it is again
  };
  std::map<std::string, Uncounted> uncounted_;   ///< by twin
  std::map<std::string, std::string> reported_;  ///< by tenant namespace
  /// RoleBindings that could not be made: when, and why.
  std::map<kube::ObjectKey, std::pair<kube::TimePoint, std::string>> refused_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
