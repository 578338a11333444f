// Compares, at every change in any cluster, what a PodDisruptionBudget at home counts with the pods that there are.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "invariants.hpp"

namespace liqo::sim {

/// Checks the evictions that all clusters allow by one budget.
///
/// - Home may count no pod as available that a provider has evicted under a copy, unless it leaves another one out in
///   exchange, whose eviction is lent and which still runs. Otherwise home would allow more than there is.
/// - While nothing but evictions ends pods, each eviction leaves as many available pods as the budget demands.
///
/// Two races are known (docs/known-gaps.md), and evictions in them are excused. One is about a pod that runs at a
/// provider before the number in the copy counts it, or still runs there after it has gone at home. The other is about
/// a lent pod that ends at home.
///
/// Evictions at a provider without a copy are no matter of budgets. Attached to the servers for good; must live as long
/// as the simulator runs.
class EvictionCheck {
 public:
  /// The name under which people evict pods.
  static constexpr std::string_view evictor = "evictor";

  /// `budget`: its key at home; it selects pods with the label `app: shop`.
  EvictionCheck(Cluster& home, const std::vector<std::unique_ptr<Cluster>>& providers, kube::ObjectKey budget);

  /// What went wrong so far; the first of each kind.
  std::vector<Violation> violations() const;
  /// What happened, in one line.
  std::string summary() const;

 private:
  /// A pod at home that is bound to a provider.
  struct Seen {
    std::string name, uid;
    bool counts = false;  ///< home's budget counts it as available
    bool lent = false;    ///< its eviction is lent
    bool runs = false;    ///< it is ready at the provider
  };
  /// How a pod that does not run was evicted.
  enum class Evicted { held, excused };

  void see_home(const kube::testing::FakeChange& change);
  void see_budget(const kube::testing::FakeChange& change);
  void see_local(const kube::testing::FakeChange& change);
  void see_provider(Cluster& provider, const kube::testing::FakeChange& change);
  void see_eviction(Cluster& provider, const kube::testing::FakeChange& change);
  std::vector<Seen> look(Cluster& provider) const;
  /// Pods that home counts although they were evicted under a copy.
  std::vector<std::string> missing(const std::vector<Seen>& pods) const;
  static std::size_t spare(const std::vector<Seen>& pods);
  /// How many pods run at the provider that the copy may not count, without those that have excused others.
  std::size_t uncounted(Cluster& provider, const std::vector<Seen>& pods);
  bool is_lent(const json::object& budget, std::string_view name) const;
  /// Excuses so many evictions that home does not count too many.
  void excuse(Cluster& provider);
  void check(Cluster& provider, std::string_view when);
  /// Checks the number of available pods after an eviction.
  void check_all(std::string_view when);
  void violate(const std::string& invariant, std::string what);
  Cluster* provider_at(std::string_view virtual_node) const;

  Cluster& home_;
  const std::vector<std::unique_ptr<Cluster>>& providers_;
  kube::ObjectKey budget_;
  std::map<std::string, Evicted> evicted_;                  ///< by UID of the pod at home
  std::map<std::string, kube::TimePoint> bound_at_;         ///< by UID of the pod at home
  std::map<std::string, kube::TimePoint> copy_written_at_;  ///< by provider: when home wrote a number last
  std::map<std::string, std::string> violations_;           ///< by invariant
  kube::TimePoint made_at_{};                               ///< the budget
  bool is_exact_ = true;  ///< only evictions have ended pods, and the budget has not changed
  int lent_ = 0, at_home_ = 0, there_ = 0, excused_ = 0, unheld_ = 0;
};

}  // namespace liqo::sim
