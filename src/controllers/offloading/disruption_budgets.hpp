// Copies the PodDisruptionBudgets of offloaded namespaces to one provider, and lends it evictions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/offloading/budget_offers.hpp"
#include "core/namespaces/namespace_mapping.hpp"
#include "core/offloading/disruption_budget.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps a copy of each budget that selects pods of this provider, if that lets consumers have budgets. The copy lets
/// nothing be evicted until the provider has said on it which pods are on cordoned nodes; then home lends evictions of
/// these (core/offloading/disruption_budget.hpp), and takes them back once the provider has no use for them.
///
/// Guarantees: evictions at home and at all providers together never exceed what a budget allows, because home's API
/// server decides each with the version of the budget: what is lent is taken from the same count as evictions at home.
/// The number in the copy is only lowered after home has stored what is lent. A new copy is written only where the
/// provider offers to let it hold (BudgetOffers). One thread.
class DisruptionBudgets {
 public:
  /// Access to the provider; its API and caches outlive this.
  struct Provider {
    kube::Api& api;
    kube::InformerSet& caches;
    std::function<bool()> may_begin;  ///< whether reading the provider may begin
  };
  /// `cluster`: the ID of the provider.
  DisruptionBudgets(std::string cluster, Provider provider, Context context);

  void set_mapping(const core::NamespaceMapping& mapping);
  /// Works until cancelled: while this process leads.
  asio::awaitable<void> run() { return controller_.run(); }
  /// Without the right to read budgets at home there is nothing to do.
  bool is_busy() const { return controller_.has_synced() && controller_.is_busy(); }

 private:
  struct Twin {
    std::string local, remote;
    kube::InformerHandle copies;  ///< none while there is nothing to watch
    bool was_read = false;        ///< copies of an earlier process were looked for
    bool is_bare = false;         ///< no copies of ours were there when they were looked for or watched last
    BudgetOffers::Shared offer;
    kube::TimePoint no_replace_until{};  ///< the provider has refused to have a copy changed
    /// Until when budgets wait that the provider has others of the same name of.
    std::map<std::string, kube::TimePoint, std::less<>> namesakes;
    /// Until then the provider may still carry out a write of a copy whose answer is not known, or an eviction that a
    /// removed copy has allowed.
    kube::TimePoint doubt_until{};
  };
  using Shared = std::shared_ptr<Twin>;  ///< it may be removed while a coroutine uses it
  /// What one budget needs next.
  struct Round {
    kube::Object budget;
    std::optional<kube::Object> copy;
    core::BudgetView view;
    core::BudgetPlan plan;
  };
  using Later = std::optional<kube::Duration>;

  void fill();
  void see_node(const kube::Change& node);
  void see_pod(const kube::Change& pod);
  void enqueue(const std::string& ns) { controller_.enqueue({ns, {ns, {}}}); }
  bool is_current(const Shared& twin) const;
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Opens the watch of copies; false = there is none to be had now.
  asio::awaitable<kube::Result<bool>> open(Shared twin, bool is_needed);
  /// The budgets of a namespace that select pods of the provider, or have a copy.
  std::vector<std::string> budgets_of(const Twin& twin) const;
  std::vector<core::BudgetPod> pods_of(const kube::Object& budget) const;
  /// Looks at everything anew: use it after each await.
  Round look(const Twin& twin, kube::Object budget) const;
  kube::Object copy_of(const Twin& twin, const Round& round) const;
  /// One round for one budget; returns when the next one is due without a change.
  asio::awaitable<kube::Result<Later>> hold(Shared twin, std::string name);
  asio::awaitable<kube::Result<Later>> hold_live(Shared twin, kube::Object budget);
  asio::awaitable<kube::Result<bool>> lend(Round& round);
  asio::awaitable<kube::Result<Later>> write_copy(Shared twin, Round round);
  asio::awaitable<kube::Result<Later>> take_back(Shared twin, Round round);
  /// Takes back what was lent for copies that are no more, because their budgets are not copied now or the provider
  /// lets none hold. Returns when to go on.
  asio::awaitable<kube::Result<Later>> take_back_rest(Shared twin);
  asio::awaitable<kube::Result<void>> remove_others(Shared twin);
  /// Notes that the provider has refused a write, and returns when it is to be tried again.
  Later note_refusal(Twin& twin, const Round& round, const kube::Failure& failure);

  std::string cluster_;
  Provider provider_;
  Context context_;
  BudgetOffers offers_;
  kube::InformerHandle budgets_, nodes_;
  std::map<std::string, kube::InformerHandle> pods_;  ///< of each virtual node of the provider
  std::map<std::string, Shared> twins_;               ///< by local namespace
  kube::TimePoint next_lending_{};                    ///< not before then
  std::optional<kube::TimePoint> no_lending_until_;   ///< this process has no right to
  kube::Controller controller_;
  kube::Log log_;
};

}  // namespace liqo::controllers
