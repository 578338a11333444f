#include "controllers/offloading/budget_offers.hpp"

#include <algorithm>
#include <utility>

#include "core/offloading/disruption_budget.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/self_review.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::kinds::disruption_budgets;

/// The pause after a provider lets no copies hold: in general, and if it does not for now.
constexpr kube::Duration refused_pause = 1h, lifted_pause = 5min;
/// The pause after the provider gives no right for the first time.
constexpr kube::Duration early_pause = 10s;
/// How long an answer is good for: that the provider lets copies hold, and that it gives the right to have them.
constexpr kube::Duration offer_trusted_for = 5s, right_trusted_for = 10min;
constexpr std::size_t max_words = 300;

}  // namespace

BudgetOffers::BudgetOffers(std::string cluster, kube::Api& provider, Context context)
    : cluster_(std::move(cluster)),
      provider_(provider),
      context_(context),
      offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})),
      log_(kube::Log("disruption-budgets").with("cluster", cluster_)) {}

asio::awaitable<kube::Result<bool>> BudgetOffers::has_right(std::string remote, bool is_needed) {
  // All twins have the same rights, so the others need not be asked about.
  if (context_.clock.now() < right_until_ && (has_right_ || !is_needed)) co_return has_right_;
  auto may_read = co_await kube::may_do(provider_, {{"namespace", remote},
                                                    {"verb", "list"},
                                                    {"group", disruption_budgets.group},
                                                    {"resource", disruption_budgets.plural}});
  // Who may not even ask has no right, either.
  if (!may_read && !may_read.error().is_forbidden()) co_return std::unexpected(std::move(may_read.error()));
  has_right_ = may_read && *may_read;
  right_until_ = context_.clock.now() + (has_right_ ? right_trusted_for : refused_pause);
  co_return has_right_;
}

asio::awaitable<kube::Result<bool>> BudgetOffers::may_hold(Shared twin) {
  if (is_refused(*twin)) co_return false;
  if (context_.clock.now() < twin->offered_until) co_return true;
  auto live = co_await kube::find_live(provider_, kube::resources::namespaces, {"", twin->remote});
  if (!live && !live.error().is_forbidden()) co_return kube::fail(std::move(live.error()), "reading the twin");
  const kube::TimePoint now = context_.clock.now();
  if (live && (!*live || (*live)->is_deleting())) {
    // A write would be refused, and the mapping will say so.
    twin->refused_until = now + lifted_pause;
    co_return false;
  }
  const core::BudgetsInTwin offer = live ? core::budgets_in_twin(**live) : core::BudgetsInTwin::refused;
  if (offer == core::BudgetsInTwin::held) {
    twin->offered_until = now + offer_trusted_for;
    co_return true;
  }
  if (offer == core::BudgetsInTwin::lifted)
    refuse(*twin, {kube::Errc::invalid_input, "they have held the drain of a node for as long as they may"}, true);
  else
    refuse(*twin, {kube::Errc::invalid_input, "its policy has no disruptionBudgets"});
  co_return false;
}

bool BudgetOffers::is_refused(const BudgetOffer& twin) const {
  return twin.refused_until && context_.clock.now() < *twin.refused_until;
}

kube::Duration BudgetOffers::pause(const BudgetOffer& twin) const {
  const kube::TimePoint now = context_.clock.now();
  return std::max<kube::Duration>(twin.refused_until.value_or(now) - now, 1s);
}

void BudgetOffers::deny(BudgetOffer& twin, const kube::Failure& failure) {
  if (std::exchange(twin.was_denied, true))
    refuse(twin, failure);
  else
    twin.refused_until = context_.clock.now() + early_pause;
}

void BudgetOffers::refuse_copy(BudgetOffer& twin, const kube::Failure& failure) {
  // Others may have come first: a drain, or the end of the offer.
  twin.offered_until = {};
  refuse(twin, failure, !std::exchange(twin.was_refused, true));
}

void BudgetOffers::note_copy(BudgetOffer& twin) {
  twin.refused_until.reset();
  twin.was_refused = false;
  twin.told.clear();
  twin.had_copies = true;
}

void BudgetOffers::refuse(BudgetOffer& twin, const kube::Failure& failure, bool is_for_now) {
  twin.refused_until = context_.clock.now() + (is_for_now ? lifted_pause : refused_pause);
  const std::string words = " (" + kube::one_line(core::refusal_words(failure), max_words) + ")";
  std::string text = "PodDisruptionBudgets of this namespace hold at home only: cluster " + cluster_;
  if (twin.had_copies || is_for_now)
    text += " lets them hold there no longer" + words;
  else
    text += " does not let them hold there" + words + "; its administrator can, by liqoctl set tenant " +
            context_.settings.cluster_id + " --allow disruptionBudgets=maxBlock=10m";
  if (twin.told == text) return;
  log_.info("budgets do not hold at the provider", {{"namespace", twin.local}, {"error", failure}});
  report(twin, text);
  twin.told = std::move(text);
}

void BudgetOffers::report(const BudgetOffer& twin, const std::string& text) {
  if (const auto offloading = offloadings_->find({twin.local, std::string(api::namespace_offloading_name)}))
    context_.events.warning(*offloading, api::kinds::namespace_offloadings, api::reasons::budgets_not_held, text);
}

}  // namespace liqo::controllers
