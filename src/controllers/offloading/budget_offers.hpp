// Whether one provider lets copies of PodDisruptionBudgets hold.
// Tested by test/unit/controllers/offloading/disruption_budgets_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "kube/client/api.hpp"

namespace liqo::controllers {

namespace asio = boost::asio;

/// What is known of the provider's offer for one twin.
struct BudgetOffer {
  std::string local, remote;
  bool had_copies = false;   ///< the provider has let budgets hold
  bool was_denied = false;   ///< the provider had given no right when it was asked last
  bool was_refused = false;  ///< the last new copy was refused, though it had been offered to let it hold
  std::optional<kube::TimePoint> refused_until;
  kube::TimePoint offered_until{};  ///< until then the provider's offer need not be read again
  std::string told;                 ///< the last Event about a refusal
};

/// Asks a provider whether copies may hold, before anything is written that it would refuse. Who refuses is asked again
/// after an hour, or after some minutes if he does so for now, and an Event on the NamespaceOffloading says so once.
/// One thread.
class BudgetOffers {
 public:
  using Shared = std::shared_ptr<BudgetOffer>;  ///< its twin may be removed while a coroutine uses it

  /// `cluster`: the ID of the provider, whose API outlives this.
  BudgetOffers(std::string cluster, kube::Api& provider, Context context);

  /// Whether the provider gives consumers the right to have budgets, as the Go version and older ones do not.
  /// `is_needed`: it is asked anew if it gave none.
  asio::awaitable<kube::Result<bool>> has_right(std::string remote, bool is_needed);
  /// Whether the provider lets copies hold in the twin now, as it says on that. If not, `refused_until` is set.
  asio::awaitable<kube::Result<bool>> may_hold(Shared twin);
  /// Whether a refusal stands, so that the provider is not to be asked.
  bool is_refused(const BudgetOffer& twin) const;
  /// How long it stands; at least a second.
  kube::Duration pause(const BudgetOffer& twin) const;

  /// Notes that the provider gives no right. That is told the second time in a row, because a right that was just given
  /// may not be known to every API server yet.
  void deny(BudgetOffer& twin, const kube::Failure& failure);
  /// Notes that the provider has refused a new copy.
  void refuse_copy(BudgetOffer& twin, const kube::Failure& failure);
  /// Notes that the provider has taken a new copy.
  void note_copy(BudgetOffer& twin);
  /// Notes that the provider lets no copies hold, for now or for longer, and says so once.
  void refuse(BudgetOffer& twin, const kube::Failure& failure, bool is_for_now = false);
  /// Writes an Event on the NamespaceOffloading.
  void report(const BudgetOffer& twin, const std::string& text);

 private:
  std::string cluster_;
  kube::Api& provider_;
  Context context_;
  kube::InformerHandle offloadings_;
  bool has_right_ = false;         ///< the provider gives it
  kube::TimePoint right_until_{};  ///< has_right_ is known until then
  kube::Log log_;
};

}  // namespace liqo::controllers
