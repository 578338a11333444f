#include "controllers/offloading/disruption_budgets.hpp"

#include <set>

#include "controllers/common/scopes.hpp"
#include "kube/base/text.hpp"
#include "kube/client/find_live.hpp"
#include "kube/client/list_all.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/k8s/selector.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/virtual_node.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::kinds::disruption_budgets;
using kube::Outcome;

/// The pauses after a provider refuses to have a copy changed, and after it has another budget of the same name.
constexpr kube::Duration replace_pause = 5min, namesake_pause = 1h;
/// The pause after home gives no right to lend.
constexpr kube::Duration no_right_pause = 1h;
/// The pause between two looks at pods whose evictions are to be taken back, and if their budget has no copy that
/// waits.
constexpr kube::Duration take_back_pause = 2s, take_back_pause_without_copy = 30s;
/// The pause after a conflict: somebody has written in between, and the watch will show it.
constexpr kube::Duration conflict_pause = 500ms;
/// Pods change in crowds.
constexpr kube::Duration settle_time = 200ms;
/// The pause between two writes at home that the provider causes by what it wants.
constexpr kube::Duration lending_pause = 200ms;
constexpr kube::Duration look_again = 10min;
/// How long a request may be on its way after its client has given it up, or has ended.
constexpr kube::Duration doubt = 1min;
constexpr std::size_t max_page = 1U << 20;

bool is_over(const kube::Object& pod) {
  const std::string_view phase = kube::string_at(pod.status(), {"phase"});
  return pod.is_deleting() || phase == "Succeeded" || phase == "Failed";
}

}  // namespace

DisruptionBudgets::DisruptionBudgets(std::string cluster, Provider provider, Context context)
    : cluster_(std::move(cluster)),
      provider_(std::move(provider)),
      context_(context),
      offers_(cluster_, provider_.api, context),
      budgets_(context.home.acquire({.resource = disruption_budgets})),
      nodes_(context.home.acquire({.resource = api::kinds::virtual_nodes})),
      controller_(context,
                  {.name = "disruption-budgets",
                   .limits = {.workers = 8, .workers_per_group = 1},
                   .also_ready = provider_.may_begin,
                   .fill = [this] { fill(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      log_(kube::Log("disruption-budgets").with("cluster", cluster_)) {
  controller_.watch(budgets_, [this](const kube::ObjectKey& key) {
    if (twins_.contains(key.ns)) enqueue(key.ns);
  });
  controller_.follow(nodes_, [this](const kube::Change& node) { see_node(node); });
}

void DisruptionBudgets::set_mapping(const core::NamespaceMapping& mapping) {
  std::erase_if(twins_, [&](const auto& entry) {
    const std::string* remote = mapping.to_remote(entry.first);
    return !remote || *remote != entry.second->remote;
  });
  for (const auto& [local, remote] : mapping.entries()) {
    if (twins_.contains(local)) continue;
    twins_[local] = std::make_shared<Twin>(Twin{.local = local, .remote = remote});
    twins_[local]->offer = std::make_shared<BudgetOffer>(BudgetOffer{.local = local, .remote = remote});
    twins_[local]->doubt_until = context_.clock.now() + doubt;
    enqueue(local);
  }
}

void DisruptionBudgets::fill() {
  for (const auto& [local, twin] : twins_) {
    twin->was_read = false;
    twin->is_bare = false;
    twin->doubt_until = context_.clock.now() + doubt;
    twin->offer->refused_until.reset();
    enqueue(local);
  }
}

void DisruptionBudgets::see_node(const kube::Change& node) {
  const std::string& name = node.key.name;
  if (!node.now || api::VirtualNode(*node.now).cluster_id() != cluster_) {
    pods_.erase(name);
    return;
  }
  if (pods_.contains(name)) return;
  pods_[name] = context_.home.acquire(scope_of_pods_on(name));
  pods_[name].follow([this](const kube::Change& pod) { see_pod(pod); });
}

void DisruptionBudgets::see_pod(const kube::Change& pod) {
  const std::string& ns = pod.key.ns;
  if (!twins_.contains(ns) || budgets_->store().keys_in(ns).empty()) return;
  const auto state = [](const kube::Object& object) {
    return std::tuple(is_over(object), kube::has_condition(object, "Ready"), object.labels());
  };
  if (pod.changes(state)) controller_.enqueue_after({ns, {ns, {}}}, settle_time);
}

bool DisruptionBudgets::is_current(const Shared& twin) const {
  const auto found = twins_.find(twin->local);
  return found != twins_.end() && found->second == twin;
}

std::vector<core::BudgetPod> DisruptionBudgets::pods_of(const kube::Object& budget) const {
  std::vector<core::BudgetPod> found;
  const auto selector = kube::Selector::parse(core::selector_text(kube::object_at(budget.spec(), {"selector"})), "");
  if (!selector) return found;
  for (const auto& [node, pods] : pods_)
    for (const kube::Object& pod : pods->objects_in(budget.ns()))
      if (!is_over(pod) && selector->matches(pod.tree()))
        found.push_back({.name = std::string(pod.name()), .is_ready = kube::has_condition(pod, "Ready")});
  return found;
}

std::vector<std::string> DisruptionBudgets::budgets_of(const Twin& twin) const {
  std::vector<std::string> names;
  for (const kube::Object& budget : budgets_->objects_in(twin.local)) {
    if (!core::is_copied(budget)) continue;
    const bool has_copy = twin.copies && twin.copies->store().contains({twin.remote, std::string(budget.name())});
    if (has_copy || !pods_of(budget).empty()) names.emplace_back(budget.name());
  }
  return names;
}

DisruptionBudgets::Round DisruptionBudgets::look(const Twin& twin, kube::Object budget) const {
  Round round{.budget = std::move(budget), .copy = std::nullopt, .view = {}, .plan = {}};
  if (twin.copies) round.copy = twin.copies->find({twin.remote, std::string(round.budget.name())});
  round.view.pods = pods_of(round.budget);
  round.view.allowed = core::allowed_now(round.budget);
  round.view.lent = core::lent_pods(round.budget, round.view.pods, context_.clock.wall());
  if (round.copy) round.view.copy = core::read_budget_copy(*round.copy);
  round.plan = core::plan_budget(round.view);
  return round;
}

kube::Object DisruptionBudgets::copy_of(const Twin& twin, const Round& round) const {
  return core::forge_budget_copy(round.budget, {.local = context_.settings.cluster_id, .remote = cluster_}, twin.remote,
                                 round.plan.min_available);
}

asio::awaitable<Outcome> DisruptionBudgets::reconcile(kube::WorkKey key) {
  const auto found = twins_.find(key.object.ns);
  if (found == twins_.end()) co_return Outcome::done();
  const Shared twin = found->second;
  // Which pods there are must be known before any number is written.
  for (const auto& [node, pods] : pods_)
    if (!pods->has_synced()) co_return Outcome::again_after(1s);
  KUBE_CO_TRY(is_open, co_await open(twin, !budgets_of(*twin).empty()), "reading copies of PodDisruptionBudgets");
  if (!is_current(twin)) co_return Outcome::done();
  if (!is_open) {
    KUBE_CO_TRY(rest, co_await take_back_rest(twin), "taking back evictions");
    if (!is_current(twin)) co_return Outcome::done();
    if (!twin->offer->refused_until || budgets_of(*twin).empty())
      co_return rest ? Outcome::again_after(*rest) : Outcome::done();
    const kube::Duration pause = offers_.pause(*twin->offer);
    co_return Outcome::again_after(std::min(pause, rest.value_or(pause)));
  }
  if (!twin->copies->has_synced()) co_return Outcome::again_after(1s);
  twin->is_bare = false;
  twin->offer->had_copies = twin->offer->had_copies || !twin->copies->store().keys().empty();
  kube::Duration next = look_again;
  std::optional<kube::Failure> failure;
  for (const std::string& name : budgets_of(*twin)) {
    auto later = co_await hold(twin, name);
    if (!is_current(twin)) co_return Outcome::done();
    if (!later && !failure) failure = std::move(later.error()).in("PodDisruptionBudget " + name);
    if (later && *later) next = std::min(next, **later);
  }
  if (failure) co_return Outcome::retry(std::move(*failure));
  KUBE_CO_TRYV(co_await remove_others(twin));
  if (!is_current(twin) || !twin->copies) co_return Outcome::done();
  KUBE_CO_TRY(rest, co_await take_back_rest(twin), "taking back evictions");
  if (!is_current(twin) || !twin->copies) co_return Outcome::done();
  if (rest) next = std::min(next, *rest);
  // A provider that lets no budgets hold is not watched, either.
  if (twin->copies->store().keys().empty() && (twin->offer->refused_until || budgets_of(*twin).empty())) {
    twin->copies.release();
    twin->is_bare = true;
  }
  co_return Outcome::again_after(next);
}

asio::awaitable<kube::Result<bool>> DisruptionBudgets::open(Shared twin, bool is_needed) {
  if (twin->copies) {
    const auto trouble = twin->copies->trouble();
    if (!trouble || !trouble->is_forbidden()) co_return true;
    twin->copies.release();
    offers_.refuse(*twin->offer, *trouble);
    co_return false;
  }
  if (offers_.is_refused(*twin->offer)) co_return false;
  if (!is_needed && twin->was_read) co_return false;
  KUBE_CO_TRY(may_read, co_await offers_.has_right(twin->remote, is_needed));
  if (!may_read) {
    twin->was_read = true;
    if (is_needed) offers_.deny(*twin->offer, {kube::Errc::invalid_input, "it gives no right to have them there"});
    co_return false;
  }
  const kube::Selection ours{.label_selector =
                                 kube::label_is(api::labels::reflection_origin, context_.settings.cluster_id)};
  auto page = co_await provider_.api.list(disruption_budgets, twin->remote,
                                          {.selection = ours, .limit = 1, .metadata_only = true}, max_page);
  if (!page && (page.error().is_forbidden() || page.error().is_not_found())) {
    twin->was_read = true;
    if (is_needed) offers_.deny(*twin->offer, page.error());
    co_return false;
  }
  if (!page) co_return std::unexpected(std::move(page.error()));
  twin->was_read = true;
  twin->offer->was_denied = false;
  twin->is_bare = page->items.empty();
  if (!is_current(twin) || (!is_needed && page->items.empty())) co_return false;
  if (page->items.empty()) {
    KUBE_CO_TRY(may_hold, co_await offers_.may_hold(twin->offer));
    if (!may_hold || !is_current(twin)) co_return false;
  }
  twin->copies = provider_.caches.acquire({.resource = disruption_budgets, .ns = twin->remote, .selection = ours});
  twin->copies.subscribe([this, ns = twin->local](const kube::ObjectKey&) { enqueue(ns); },
                         [this, ns = twin->local] { enqueue(ns); });
  co_return true;
}

asio::awaitable<kube::Result<DisruptionBudgets::Later>> DisruptionBudgets::hold(Shared twin, std::string name) {
  auto budget = budgets_->find({twin->local, name});
  if (!budget || !core::is_copied(*budget)) co_return Later();
  Round round = look(*twin, std::move(*budget));
  const bool lowers = round.copy && round.plan.min_available < round.view.copy->min_available;
  if (!lowers && round.plan.lend.empty() && round.plan.take_back.empty())
    co_return co_await write_copy(twin, std::move(round));
  // The cache may be behind what this process or an earlier one has written.
  KUBE_CO_TRY(live, co_await kube::find_live(context_.home.api(), disruption_budgets, round.budget.key()),
              "reading the budget");
  if (!live || !core::is_copied(*live) || !is_current(twin)) co_return Later();
  co_return co_await hold_live(twin, std::move(*live));
}

asio::awaitable<kube::Result<DisruptionBudgets::Later>> DisruptionBudgets::hold_live(Shared twin, kube::Object budget) {
  Round round = look(*twin, std::move(budget));
  const bool raises = round.copy && round.plan.min_available > round.view.copy->min_available;
  if (!raises && !round.plan.lend.empty()) {
    KUBE_CO_TRY(is_lent, co_await lend(round));
    if (!is_current(twin)) co_return Later();
    if (!is_lent && !no_lending_until_) co_return Later(conflict_pause);
    round = look(*twin, std::move(round.budget));
  }
  const bool is_written = !round.copy || !core::plan_budget_copy(*round.copy, copy_of(*twin, round));
  Later rest;
  if (is_written && !round.plan.take_back.empty()) {
    KUBE_CO_TRY(later, co_await take_back(twin, round));
    if (round.copy || !later) co_return later;
    if (!is_current(twin) || !twin->copies) co_return Later();
    // Nothing holds there meanwhile, and what was lent may have to wait for home to see what has been evicted.
    rest = later;
    round = look(*twin, std::move(round.budget));
  }
  KUBE_CO_TRY(next, co_await write_copy(twin, std::move(round)));
  co_return rest && (!next || *rest < *next) ? rest : next;
}

asio::awaitable<kube::Result<bool>> DisruptionBudgets::lend(Round& round) {
  const kube::TimePoint now = context_.clock.now();
  if (no_lending_until_ && now < *no_lending_until_) co_return false;
  no_lending_until_.reset();
  if (now < next_lending_) co_return false;
  next_lending_ = now + lending_pause;
  const kube::Object wanted = core::lend(round.budget, round.plan.lend, context_.clock.wall());
  auto lent = co_await context_.home.api().replace(disruption_budgets, wanted,
                                                   {.field_manager = api::reflection_manager, .subresource = "status"});
  if (!lent && (lent.error().is_conflict() || lent.error().is_not_found())) co_return false;
  if (!lent && lent.error().is_forbidden()) {
    no_lending_until_ = now + no_right_pause;
    log_.warn("evictions cannot be lent", {{"budget", round.budget.key()}, {"error", lent.error()}});
    context_.events.warning(round.budget, disruption_budgets, api::reasons::budgets_not_held,
                            "liqod has no right to lend evictions to cluster " + cluster_ +
                                ", whose drains wait until it lets the budget hold no longer; give it update of "
                                "poddisruptionbudgets/status");
    co_return false;
  }
  if (!lent) co_return kube::fail(std::move(lent.error()), "lending evictions");
  context_.events.normal(
      *lent, disruption_budgets, api::reasons::disruption_lent,
      "cluster " + cluster_ + " drains a node, and may evict now: " + kube::join_some(round.plan.lend, 5));
  budgets_->observe(*lent);
  round.budget = std::move(*lent);
  co_return true;
}

asio::awaitable<kube::Result<DisruptionBudgets::Later>> DisruptionBudgets::write_copy(Shared twin, Round round) {
  const kube::Object wanted = copy_of(*twin, round);
  // The provider's count by a new number comes as a change of the copy, and the pods at home as changes of theirs.
  const Later later = round.plan.take_back.empty() ? Later() : Later(take_back_pause);
  auto changed = round.copy ? core::plan_budget_copy(*round.copy, wanted) : std::optional<kube::Object>(wanted);
  if (!changed) co_return later;
  const kube::TimePoint now = context_.clock.now();
  if (round.copy && now < twin->no_replace_until) co_return Later(twin->no_replace_until - now);
  if (const auto other = twin->namesakes.find(round.budget.name());
      !round.copy && other != twin->namesakes.end() && now < other->second)
    co_return Later(other->second - now);
  if (!round.copy) {
    KUBE_CO_TRY(may_hold, co_await offers_.may_hold(twin->offer));
    if (!is_current(twin) || !twin->copies) co_return Later();
    if (!may_hold) co_return Later(offers_.pause(*twin->offer));
    round = look(*twin, std::move(round.budget));
    if (round.copy) co_return Later(conflict_pause);
    changed = copy_of(*twin, round);
  }
  const kube::WriteOptions options{.field_manager = api::reflection_manager};
  // The version makes the write fail that an earlier leader left on its way.
  auto written = round.copy ? co_await provider_.api.replace(disruption_budgets, *changed, options)
                            : co_await provider_.api.create(disruption_budgets, *changed, options);
  if (!is_current(twin) || !twin->copies) co_return Later();
  if (written) {
    if (!round.copy) {
      offers_.note_copy(*twin->offer);
      twin->namesakes.erase(std::string(round.budget.name()));
    }
    twin->copies->observe(std::move(*written));
    co_return later;
  }
  const kube::Failure& failure = written.error();
  if (failure.is_forbidden() || (failure.is_already_exists() && !round.copy))
    co_return note_refusal(*twin, round, failure);
  if (failure.is_conflict() || failure.is_not_found()) {
    if (failure.is_not_found() && round.copy) twin->copies->observe_gone(round.copy->key(), round.copy->uid());
    co_return Later(take_back_pause);
  }
  // The number may be lowered yet, for evictions that must not be taken back before.
  twin->doubt_until = context_.clock.now() + doubt;
  co_return kube::fail(std::move(written.error()), "writing the copy in " + twin->remote);
}

DisruptionBudgets::Later DisruptionBudgets::note_refusal(Twin& twin, const Round& round, const kube::Failure& failure) {
  const kube::TimePoint now = context_.clock.now();
  if (round.copy) {
    twin.no_replace_until = now + replace_pause;
    return Later(replace_pause);
  }
  if (failure.is_forbidden()) {
    offers_.refuse_copy(*twin.offer, failure);
    return Later(offers_.pause(*twin.offer));
  }
  // The watch shows one of ours. Otherwise it is none that this cluster may write to.
  const std::string name(round.budget.name());
  if (twin.namesakes.insert_or_assign(name, now + namesake_pause).second)
    offers_.report(*twin.offer, "PodDisruptionBudget " + name + " holds at home only: cluster " + cluster_ +
                                    " has one of that name there, which is not a copy; rename one of them");
  return Later(namesake_pause);
}

asio::awaitable<kube::Result<DisruptionBudgets::Later>> DisruptionBudgets::take_back(Shared twin, Round round) {
  const kube::TimePoint now = context_.clock.now();
  if (now < twin->doubt_until) co_return Later(twin->doubt_until - now);
  if (!core::could_take_back(round.view, round.plan)) co_return Later(take_back_pause);
  const std::optional<core::BudgetCopy> copy = round.view.copy;
  core::PodNames ready_there;
  KUBE_CO_TRYV(
      co_await kube::list_all(
          provider_.api, {kube::resources::pods, twin->remote},
          {.selection = {.label_selector = core::selector_text(kube::object_at(round.budget.spec(), {"selector"}))}},
          [&](const kube::Object& pod) {
            if (!is_over(pod) && kube::has_condition(pod, "Ready")) ready_there.emplace(pod.name());
            return ready_there.size() < kube::list_page_size * 20;
          }),
      "reading the pods of the budget");
  if (!is_current(twin)) co_return Later();
  // The pods at home are those of now, the copy is that from before the list.
  round.view.pods = pods_of(round.budget);
  round.view.copy = copy;
  if (!core::may_take_back(round.view, round.plan, ready_there))
    co_return Later(copy ? take_back_pause : take_back_pause_without_copy);
  auto taken =
      co_await context_.home.api().replace(disruption_budgets, core::take_back(round.budget, round.plan.take_back),
                                           {.field_manager = api::reflection_manager, .subresource = "status"});
  if (!taken && (taken.error().is_conflict() || taken.error().is_not_found())) co_return Later(conflict_pause);
  if (!taken) co_return kube::fail(std::move(taken.error()), "taking back evictions");
  budgets_->observe(std::move(*taken));
  co_return Later();
}

asio::awaitable<kube::Result<DisruptionBudgets::Later>> DisruptionBudgets::take_back_rest(Shared twin) {
  Later next;
  if (!twin->copies && !twin->is_bare) co_return next;
  for (const kube::ObjectKey& key : budgets_->store().keys_in(twin->local)) {
    auto budget = budgets_->find(key);
    if (!budget || (twin->copies && core::is_copied(*budget))) continue;
    Round round = look(*twin, std::move(*budget));
    if (round.copy || round.plan.take_back.empty()) continue;
    KUBE_CO_TRY(later, co_await take_back(twin, std::move(round)));
    if (!is_current(twin)) co_return Later();
    if (later) next = std::min(next.value_or(*later), *later);
  }
  co_return next;
}

asio::awaitable<kube::Result<void>> DisruptionBudgets::remove_others(Shared twin) {
  for (const kube::ObjectKey& key : twin->copies->store().keys()) {
    const auto copy = twin->copies ? twin->copies->find(key) : std::nullopt;
    const auto budget = budgets_->find({twin->local, key.name});
    if (!copy || copy->is_deleting() || (budget && core::is_copied(*budget))) continue;
    auto removed = co_await kube::remove_object(
        provider_.api, disruption_budgets, key,
        {.options = {.uid = std::string(copy->uid())}, .phase = "removing the copy of budget " + key.text()});
    if (!is_current(twin) || !twin->copies) co_return kube::Result<void>();
    if (!removed && !removed.error().is_forbidden()) co_return std::unexpected(std::move(removed.error()));
    if (!removed) continue;
    twin->copies->observe_gone(key, copy->uid());
    // An eviction that the copy has allowed may be on its way to its pod.
    twin->doubt_until = context_.clock.now() + doubt;
  }
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
