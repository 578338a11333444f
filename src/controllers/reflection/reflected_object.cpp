#include "controllers/reflection/reflected_object.hpp"

#include <utility>

#include "controllers/reflection/address_note.hpp"
#include "controllers/reflection/copy_reports.hpp"
#include "controllers/reflection/copy_writer.hpp"
#include "controllers/reflection/narrowed_copies.hpp"
#include "controllers/reflection/status_gatherer.hpp"
#include "core/common/owner.hpp"
#include "core/namespaces/twin_owner.hpp"
#include "core/reflection/was_there_before.hpp"
#include "kube/base/printable.hpp"
#include "kube/telemetry/log.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
namespace action = core::reflection::reflection_action;
using kube::Outcome;

/// A copy that is being deleted by others is looked at again after this time.
constexpr kube::Duration deletion_pause = 5s;
/// The pause between two writes at home of the status of one copy, when only home has changed the object.
constexpr kube::Duration gathering_rest = 10s;

/// The most bytes of a field manager's name that are shown; Kubernetes allows 128.
constexpr std::size_t max_manager = 128;

/// Whether it has the annotation that our copies have, and those of the Go version do not.
bool is_marked(const kube::Object& copy) { return copy.has_annotation(api::annotations::reflected_digest); }

}  // namespace

asio::awaitable<Outcome> ReflectedObject::bring_in_line() {
  Outcome outcome = co_await look();
  const NarrowedCopies narrowed(ns_->notes(), context_.kind);
  outcome = narrowed.with_next_try(name_, std::move(outcome), context_.clock.now());
  co_return CopyReports(ns_->notes(), context_).with_next_look(name_, std::move(outcome));
}

asio::awaitable<Outcome> ReflectedObject::look() {
  if (auto end = end_without_reading()) co_return std::move(*end);
  if (is_at_home_) {
    KUBE_CO_TRY(read, co_await ns_->home().read_object(name_));
    local_ = std::move(read);
    source_ = local_ ? local_->version_number() : 0;
  }
  forge();
  report_references();
  CopyReports(ns_->notes(), context_).see_wish(name_, is_wanted_ ? &*local_ : nullptr);
  if (auto end = end_if_as_wished()) co_return std::move(*end);
  // A copy that is to be immutable needs a read: an apply on another owner's object would make that immutable, and
  // CopyWriter::give_back() could not undo it.
  if (ns_->twin().copies().find(remote_name_) || (is_wanted_ && kube::bool_at(wanted_->tree(), {"immutable"}))) {
    KUBE_CO_TRY(read, co_await ns_->twin().read_object(remote_name_));
    remote_ = std::move(read);
    // The answer to an apply was lost, and it may have hit an object that another owner had made meanwhile.
    if (remote_ && ns_->notes().unsure.contains(remote_name_) && is_marked(*remote_) &&
        core::reflection::was_there_before(*remote_, api::reflection_manager)) {
      CopyWriter writer(ns_, context_);
      co_return co_await writer.give_back(remote_name_);
    }
  }
  if (remote_) {
    KUBE_CO_TRYV(co_await repair_owner());
  }
  if (!ns_->is_current()) co_return Outcome::done();
  if (!is_at_home_ && !remote_) {
    ns_->forget(name_, remote_name_);
    co_return Outcome::done();
  }
  if (wishes_ != ns_->wishes()) forge();
  // The Go version copies all objects of the kind, and pods may use a copy of its making.
  if (context_.kind.referred_only && !is_at_home_ && remote_ && !is_marked(*remote_)) {
    settle();
    co_return Outcome::done();
  }
  auto plan = core::reflection::plan_reflection({.kind = context_.kind,
                                                 .policy = context_.policy,
                                                 .ctx = context_.forging,
                                                 .named_by_pod = ns_->home().referred().is_named_by_pod(name_)},
                                                local_ ? &*local_ : nullptr, std::exchange(wanted_, std::nullopt),
                                                remote_ ? &*remote_ : nullptr);
  if (auto end = leave_to_others(plan)) co_return std::move(*end);
  Outcome outcome = co_await carry_out(std::move(plan));
  // The copy is not ours yet, which is nobody's doing, and must not count as an overwriting.
  if (outcome.failure())
    if (const auto contest = ns_->notes().contests.find(remote_name_); contest != ns_->notes().contests.end())
      contest->second.see_failed();
  co_return std::move(outcome);
}

std::optional<Outcome> ReflectedObject::leave_to_others(const core::reflection::ReflectionPlan& plan) {
  auto& contests = ns_->notes().contests;
  const kube::TimePoint now = context_.clock.now();
  const auto found = contests.find(remote_name_);
  const bool writes = std::holds_alternative<action::Apply>(plan) || std::holds_alternative<action::Trim>(plan) ||
                      std::holds_alternative<action::Remove>(plan);
  if (!writes || !is_wanted_ || !local_ || !remote_) {
    // They have stopped, or home wants no copy any more.
    if (found != contests.end()) found->second.see_kept();
    if (found != contests.end() && found->second.has_rested(now)) contests.erase(found);
    return std::nullopt;
  }
  const auto overwriter = core::reflection::overwriter(*remote_, api::reflection_manager);
  if (!overwriter && found == contests.end()) return std::nullopt;
  core::reflection::Contest& contest = contests[remote_name_];
  using Verdict = core::reflection::Contest::Verdict;
  const Verdict verdict =
      contest.judge({.wish = wish_,
                     .was_written = remote_->annotation(api::annotations::reflected_digest) == wish_,
                     .is_overwritten = overwriter.has_value(),
                     .at = overwriter ? std::string_view(overwriter->time) : std::string_view()},
                    now);
  if (verdict == Verdict::write) return std::nullopt;
  if (verdict == Verdict::give_up) report_given_up(overwriter ? overwriter->manager : std::string());
  settle();
  return next_look();
}

Outcome ReflectedObject::next_look() const {
  const auto contest = ns_->notes().contests.find(remote_name_);
  if (contest == ns_->notes().contests.end()) return Outcome::done();
  const auto left = contest->second.leaves_for(context_.clock.now());
  return left ? Outcome::again_after(*left) : Outcome::done();
}

void ReflectedObject::report_given_up(const std::string& manager) {
  const std::string kind(context_.kind.resource.kind), who = kube::in_quotes(manager, max_manager);
  context_.count_given_up();
  kube::Log("reflection")
      .with("cluster", context_.forging.clusters.remote)
      .warn("a copy is left as somebody at the provider has overwritten it again and again",
            {{"kind", kind}, {"copy", ns_->twin().ns() + "/" + remote_name_}, {"manager", who}});
  context_.events.warning(*local_, context_.kind.resource, api::reasons::copy_overwritten,
                          "cluster " + context_.forging.clusters.remote + " (field manager " + who +
                              ") overwrites the copy of this " + kind +
                              " again and again: theirs stays, and the copy is written once more in an hour; have them "
                              "leave it alone, or annotate it here with " +
                              std::string(api::annotations::skip_reflection));
}

asio::awaitable<kube::Result<void>> ReflectedObject::repair_owner() {
  const std::string twin = ns_->twin().ns();
  const bool lacks_owner = ns_->notes().unowned.contains(remote_name_);
  if (!context_.owners || !(lacks_owner || core::is_owned_by(*remote_, kube::resources::namespaces, twin)) ||
      !core::reflection::is_copy(context_.kind, *remote_, context_.forging))
    co_return kube::Result<void>();
  if (!lacks_owner) {
    const auto owner = co_await context_.owners->of(twin);
    if (!owner || !*owner || !core::names_former_twin(*remote_, **owner)) co_return kube::Result<void>();
  }
  CopyWriter writer(ns_, context_);
  auto owned = co_await writer.set_owner(*remote_);
  // What the provider never takes must not hold up the copy.
  if (owned || owned.error().is_permanent()) ns_->notes().unowned.erase(remote_name_);
  if (!owned && !(lacks_owner && owned.error().is_permanent())) co_return std::unexpected(std::move(owned.error()));
  co_return kube::Result<void>();
}

std::optional<Outcome> ReflectedObject::end_without_reading() {
  remote_name_ = context_.kind.remote_name(name_, context_.forging);
  if (!ns_->reading().was_read || remote_name_.empty()) return Outcome::done();
  const auto at_home = ns_->home().version_of(name_);
  is_at_home_ = at_home.has_value();
  source_ = at_home.value_or(0);
  if (!is_at_home_) {
    ns_->home().referred().erase(name_);
    ns_->notes().need_pod.erase(name_);
    ns_->notes().reported_copied.erase(name_);
  }
  const Copy* known = ns_->twin().copies().find(remote_name_);
  if (!is_at_home_ && !known) {
    report_references();
    ns_->forget(name_, remote_name_);
    return Outcome::done();
  }
  if (known && CopyReports(ns_->notes(), context_).begin_if_due(name_)) {
    ns_->twin().copies().doubt(remote_name_);
    known = ns_->twin().copies().find(remote_name_);
  }
  const NarrowedCopies narrowed(ns_->notes(), context_.kind);
  if (known && known->settled_for && known->source == source_ && !narrowed.is_due(name_, context_.clock.now())) {
    const auto contest = ns_->notes().contests.find(remote_name_);
    if (contest == ns_->notes().contests.end() || !contest->second.is_due(context_.clock.now())) {
      ns_->home().drop_text(name_);
      return next_look();
    }
    ns_->twin().copies().doubt(remote_name_);
  }
  // This key was queued before the last look, and the pace of its kind asks for a rest.
  if (const auto rest = ns_->queue().rests_for(name_); rest > 0s) return Outcome::again_after(rest);
  if (is_at_home_) ns_->queue().note_look(name_);
  return std::nullopt;
}

void ReflectedObject::forge() {
  // The annotation that allowed the object in the list may be gone from what was read since.
  const ReferredObjects& referred = ns_->home().referred();
  const bool is_asked_for = local_ && (!context_.kind.referred_only || referred.contains(name_) ||
                                       referred.takes_all() || core::reflection::is_allowed(*local_));
  wishes_ = ns_->wishes();
  auto& need_pod = ns_->notes().need_pod;
  if (local_ && context_.kind.needs_pod && context_.kind.needs_pod(*local_))
    need_pod.insert(name_);
  else if (local_)
    need_pod.erase(name_);
  needs_pod_ = need_pod.contains(name_);
  core::reflection::ReflectionRule rule{.kind = context_.kind,
                                        .policy = context_.policy,
                                        .ctx = context_.forging,
                                        .without_notes = ns_->notes().without_notes.contains(name_),
                                        .named_by_pod = referred.is_named_by_pod(name_)};
  wanted_ = is_asked_for ? core::reflection::wanted_copy(rule, *local_, ns_->twin().ns()) : std::nullopt;
  const NarrowedCopies narrowed(ns_->notes(), context_.kind);
  if (wanted_) rule.refused = narrowed.refused_of(name_, *wanted_, context_.clock.now());
  if (rule.refused) wanted_ = core::reflection::wanted_copy(rule, *local_, ns_->twin().ns());
  if (!wanted_) ns_->notes().narrowed.erase(name_);
  if (!wanted_) ns_->notes().copies_reported.erase(name_);
  if (context_.kind.leads_to) {
    const std::string_view there = wanted_ ? context_.kind.leads_to(*local_) : std::string_view();
    context_.has_leading = context_.has_leading || !there.empty();
    ns_->notes().note_leading(name_, there);
  }
  is_wanted_ = wanted_.has_value();
  wish_ = is_wanted_ ? wanted_->annotation(api::annotations::reflected_digest) : std::string_view();
}

std::optional<Outcome> ReflectedObject::end_if_as_wished() {
  const Copy* known = ns_->twin().copies().find(remote_name_);
  if (!known || known->settled_for != wish_) return std::nullopt;
  // What was written at home may have been changed there.
  if (is_at_home_ && local_)
    if (const auto rest = AddressNote(ns_, context_).rest_if_changed(*local_))
      return *rest > 0s ? std::optional(Outcome::again_after(*rest)) : std::nullopt;
  const auto gathered = ns_->notes().gathered.find(name_);
  if (!context_.kind.gather || !is_wanted_ || gathered == ns_->notes().gathered.end() ||
      gathered->second.digest == gathered_digest(*local_)) {
    ns_->twin().copies().settle_source(remote_name_, source_);
    return next_look();
  }
  if (gathered->second.at)
    if (const auto rest = *gathered->second.at + gathering_rest - context_.clock.now(); rest > 0s)
      return Outcome::again_after(rest);
  return std::nullopt;
}

asio::awaitable<Outcome> ReflectedObject::carry_out(core::reflection::ReflectionPlan plan) {
  CopyWriter writer(ns_, context_);
  if (auto* apply = std::get_if<action::Apply>(&plan)) {
    // A wish that has changed is followed by changes of status, so the copy is looked at soon. A copy that others keep
    // changing is corrected only at the usual comparisons.
    if (context_.kind.gather && (!remote_ || remote_->annotation(api::annotations::reflected_digest) != wish_))
      ns_->look_soon();
    if (needs_pod_) co_return co_await copy_for_pods(std::move(*apply));
    co_return co_await writer.apply(std::move(*local_), std::move(*apply));
  }
  if (auto* remove = std::get_if<action::Remove>(&plan)) {
    if (!is_wanted_ && context_.kind.referred_only) {
      KUBE_CO_TRY(pause, co_await stays_for_now());
      if (pause) co_return Outcome::again_after(*pause);
    }
    co_return co_await take_away(std::move(*remove));
  }
  if (const auto* trim = std::get_if<action::Trim>(&plan))
    co_return co_await writer.trim(std::move(*local_), std::move(*remote_), kube::json::serialize(trim->patch));
  if (remote_ && remote_->is_deleting() && is_wanted_) co_return Outcome::again_after(deletion_pause);
  const auto* keep = std::get_if<action::Keep>(&plan);
  if (keep) report_disabled(keep->message);
  if (const auto* refuse = std::get_if<action::Refuse>(&plan); refuse && local_) {
    // No copy is tried until the object of somebody else is gone.
    ns_->notes().narrowed.erase(name_);
    context_.events.warning(*local_, context_.kind.resource, api::reasons::failed_reflection, refuse->message);
  }
  co_return co_await leave(keep != nullptr);
}

asio::awaitable<Outcome> ReflectedObject::copy_for_pods(action::Apply apply) {
  CopyWriter writer(ns_, context_);
  const kube::Object local = *local_;
  Outcome outcome = co_await writer.apply(std::move(*local_), std::move(apply));
  if (outcome.failure()) co_return std::move(outcome);
  // It was there, however soon it is taken away.
  if (const Copy* made = ns_->twin().copies().find(remote_name_); made && made->settled_for == wish_)
    report_copied(local);
  // The last pod that named it may have gone meanwhile.
  if (!ns_->home().referred().is_named_by_pod(name_)) {
    ns_->twin().copies().doubt_source(remote_name_);
    co_return Outcome::again_after(0s);
  }
  co_return std::move(outcome);
}

asio::awaitable<Outcome> ReflectedObject::leave(bool kept) {
  if (context_.kind.gather && local_ && remote_ && is_wanted_ && kept) {
    StatusGatherer gatherer(ns_, context_);
    kube::json::value status = context_.kind.gather(*local_, *remote_);
    auto gathered = co_await gatherer.bring_home(std::move(*local_), remote_name_, std::move(status));
    if (!gathered) co_return std::move(gathered.error());
    source_ = *gathered;
  }
  if (remote_) settle();
  if (remote_ && local_ && is_wanted_ && kept && ns_->is_current())
    CopyReports(ns_->notes(), context_).see(*local_, *remote_);
  if (context_.kind.addresses && local_) {
    const bool is_ours = remote_ && is_wanted_ && kept;
    auto shown = co_await show(is_ours ? context_.kind.addresses(*remote_) : std::vector<std::string>());
    if (!shown) co_return std::move(shown.error());
    ns_->twin().copies().settle_source(remote_name_, *shown);
  }
  if (remote_ && wishes_ != ns_->wishes()) ns_->twin().copies().doubt_source(remote_name_);
  co_return Outcome::done();
}

asio::awaitable<std::expected<std::uint64_t, Outcome>> ReflectedObject::show(std::vector<std::string> addresses) {
  AddressNote note(ns_, context_);
  co_return co_await note.show(*local_, remote_name_, std::move(addresses));
}

asio::awaitable<Outcome> ReflectedObject::take_away(action::Remove remove) {
  // A copy that was removed for replacement and is still there with the same UID is held up by a finalizer.
  if (const auto replaced = ns_->notes().replaced.find(remote_name_);
      is_wanted_ && replaced != ns_->notes().replaced.end() && replaced->second == remove.uid)
    co_return Outcome::again_after(deletion_pause);
  // Another object of the name may be a copy, too, and would be forgotten below: 409 is a failure here.
  auto removed =
      co_await context_.provider.remove(context_.kind.copies(), {ns_->twin().ns(), remote_name_}, {.uid = remove.uid});
  if (!removed && !removed.error().is_not_found())
    co_return Outcome::retry(std::move(removed.error()).in("removing a reflected object"));
  if (is_wanted_) ns_->notes().replaced[remote_name_] = remove.uid;
  ns_->twin().copies().erase(remote_name_);
  if (local_ && !remove.message.empty())
    context_.events.normal(*local_, context_.kind.resource, api::reasons::reflection_disabled, remove.message);
  if (!is_wanted_) {
    if (local_ && context_.kind.addresses)
      if (auto shown = co_await show({}); !shown) co_return std::move(shown.error());
    ns_->forget(name_, remote_name_);
    co_return Outcome::done();
  }
  // The next look creates the copy again, or finds what holds up the removal.
  ns_->twin().copies().doubt(remote_name_);
  co_return Outcome::again_after(0s);
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> ReflectedObject::stays_for_now() {
  const ReferredObjects& referred = ns_->home().referred();
  if (const auto pause = needs_pod_ ? referred.stays_unknown() : referred.stays_for(name_)) co_return *pause;
  if (!is_at_home_) {
    KUBE_CO_TRY(missed, co_await ns_->home().find_unlisted(name_));
    if (missed || !ns_->is_current()) co_return kube::Duration::zero();
  }
  // A pod that refers to the object may have come during the read.
  if (ns_->home().version_of(name_).has_value() != is_at_home_) co_return kube::Duration::zero();
  co_return std::nullopt;
}

void ReflectedObject::settle() {
  const bool is_ours = core::reflection::is_copy(context_.kind, *remote_, context_.forging);
  ns_->twin().copies().settle(*remote_, wish_, source_, is_ours);
}

void ReflectedObject::report_references() {
  if (!context_.kind.secrets_of || !context_.on_references || !ns_->is_current()) return;
  std::vector<std::string> secrets = is_wanted_ ? context_.kind.secrets_of(*local_) : std::vector<std::string>();
  if (secrets.empty() && ns_->notes().referring.erase(name_) == 0) return;
  if (!secrets.empty()) ns_->notes().referring.insert(name_);
  context_.on_references(ns_->home().ns(), name_, std::move(secrets));
}

void ReflectedObject::report_copied(const kube::Object& local) {
  if (std::exchange(ns_->notes().reported_copied[name_], local.uid()) == local.uid()) return;
  context_.events.warning(local, context_.kind.resource, api::reasons::token_reflected,
                          context_.kind.tell_copied(local, context_.forging));
}

void ReflectedObject::report_disabled(const std::string& message) {
  if (!local_ || message.empty()) return;
  std::string words = std::string(local_->uid()) + message;
  if (std::exchange(ns_->notes().disabled[name_], words) != words)
    context_.events.normal(*local_, context_.kind.resource, api::reasons::reflection_disabled, message);
}

}  // namespace liqo::controllers
