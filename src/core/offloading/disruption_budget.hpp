// PodDisruptionBudgets of home at one provider: the number in a copy, and the evictions that the provider gets.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

using PodNames = std::set<std::string, std::less<>>;

/// A pod at home that the budget selects, that is bound to a virtual node of the provider, and that neither is deleted
/// nor has finished.
struct BudgetPod {
  std::string name;
  bool is_ready = false;  ///< at home
};

/// The copy of a budget as the provider shows it.
struct BudgetCopy {
  std::int64_t min_available = 0;
  bool is_in_force = false;  ///< what is evicted there now was decided by its spec, and `healthy` was counted since
  std::int64_t healthy = 0;  ///< pods there
  PodNames wanted;           ///< pods that are to be evicted there
  PodNames leaving;          ///< pods whose evictions the provider has allowed and has not seen to begin
};

/// What home knows of a budget and of its copy at one provider.
struct BudgetView {
  std::vector<BudgetPod> pods;
  std::int64_t allowed = 0;  ///< evictions that home allows now, without those that are lent
  PodNames lent;             ///< the pods among `pods` whose evictions are lent to the provider
  std::optional<BudgetCopy> copy;
};

/// The steps of one round, in this order: lend, write the copy, take back. If lending fails, the copy must not be
/// written with a smaller number than it has.
struct BudgetPlan {
  PodNames lend;                   ///< put into the status at home
  std::int64_t min_available = 0;  ///< of the copy, whether or not lending succeeds
  PodNames take_back;              ///< leave the status at home once may_take_back() says so
};

/// An eviction is lent as an API server allows one: the pod comes into `status.disruptedPods` of the budget at home, so
/// that home does not count it as healthy. Home lends what the provider wants to evict and home allows; the copy
/// allows as many evictions as are lent, so those of all clusters together are never more than home allows.
BudgetPlan plan_budget(const BudgetView& view);

/// Whether the lent evictions may be taken back: the provider allows no more of them, and home knows of all that it has
/// allowed. `ready_there`: the pods that are ready and not deleted there, as of after the copy came into force or was
/// gone.
bool may_take_back(const BudgetView& view, const BudgetPlan& plan, const PodNames& ready_there);
/// Whether it can be so, before the pods there are read.
bool could_take_back(const BudgetView& view, const BudgetPlan& plan);

/// How long an eviction is lent if nobody takes it back, as when this cluster's liqod is gone: longer than any provider
/// may let a copy hold. An entry of `status.disruptedPods` that an API server has made is never in the future.
inline constexpr std::chrono::minutes lent_for{90};
/// The time below which an entry does not count as lent: clocks of API servers may be ahead.
inline constexpr std::chrono::minutes lent_at_least{5};

/// The evictions that a budget allows, by its status; 0 if that is not of its spec.
std::int64_t allowed_now(const kube::Object& budget);
/// The pods among these whose evictions home has lent.
PodNames lent_pods(const kube::Object& budget, const std::vector<BudgetPod>& pods, kube::WallTime now);
/// The budget with these evictions lent, for its status. The pods are within what it allows.
kube::Object lend(kube::Object budget, const PodNames& pods, kube::WallTime now);
/// The budget without these lent evictions, for its status.
kube::Object take_back(kube::Object budget, const PodNames& pods);

/// Reads the copy.
BudgetCopy read_budget_copy(const kube::Object& copy);
/// Whether a provider lets copies hold in a twin, as its Namespace there says.
enum class BudgetsInTwin {
  refused,  ///< it does not, as the Go version and older ones
  lifted,   ///< not now: they have held a drain for as long as they may
  held,
};
BudgetsInTwin budgets_in_twin(const kube::Object& twin);

/// Whether the budget selects pods, so that it can have a copy. One without a selector selects none.
bool is_copied(const kube::Object& budget);
/// The copy in the namespace `twin`: an integer, because percentages and maxUnavailable need the scale of what owns the
/// pods, and ShadowPods have none.
kube::Object forge_budget_copy(const kube::Object& budget, const ClusterPair& clusters, std::string_view twin,
                               std::int64_t min_available);
/// `live` as it is to be written to equal `wanted`; nothing if it does already.
std::optional<kube::Object> plan_budget_copy(const kube::Object& live, const kube::Object& wanted);

/// The selector of meta/v1 as kubectl writes one; "" matches everything.
std::string selector_text(const kube::json::object& selector);

}  // namespace liqo::core
