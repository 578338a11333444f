// What a Reflector does about one object and its copy.
#include "controllers/reflection/reflector_parts.hpp"
#include "core/reflection/was_there_before.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::reflector {
namespace {

using namespace std::chrono_literals;
namespace action = reflection::reflection_action;
using kube::Outcome;

/// A copy that somebody is deleting is looked at again after this time.
constexpr kube::Duration deletion_pause = 5s;

}  // namespace

asio::awaitable<Outcome> Reflector::reflect(Shared ns, std::string name) {
  Looked of{.name = std::move(name), .remote_name = {}, .local = {}, .wanted = {}, .remote = {}, .wish = {}};
  if (auto end = end_without_reading(*ns, of)) co_return std::move(*end);
  if (of.is_at_home) {
    auto read = co_await read_source(ns, of.name);
    if (!read) co_return Outcome::retry(std::move(read.error()));
    of.local = std::move(*read);
    of.source = of.local ? of.local->version_number() : 0;
  }
  forge(*ns, of);
  tell_references(*ns, of.name, of.is_wanted ? &*of.local : nullptr);
  tell_left_out(*ns, of.name, of.is_wanted ? &*of.local : nullptr);
  if (auto end = end_if_as_wished(*ns, of)) co_return std::move(*end);
  // A copy that is to be immutable needs a read: an apply on another owner's object would make that immutable, and
  // give_back() could not undo it.
  if (ns->copies.find(of.remote_name) || (of.is_wanted && kube::bool_at(of.wanted->tree(), {"immutable"}))) {
    auto read = co_await read_copy(ns, of.remote_name);
    if (!read) co_return Outcome::retry(std::move(read.error()));
    of.remote = std::move(*read);
    // The answer to an apply was lost, and it may have hit an object that another owner had made meanwhile.
    if (of.remote && ns->unsure.contains(of.remote_name) && is_marked(*of.remote) &&
        core::was_there_before(*of.remote, api::reflection_manager))
      co_return co_await give_back(ns, of.remote_name);
  }
  if (!is_current(*ns)) co_return Outcome::done();
  if (!of.is_at_home && !of.remote) {
    ns->forget(of);
    co_return Outcome::done();
  }
  if (of.wishes != ns->wishes) forge(*ns, of);
  // The Go version copies all objects of the kind, and pods may use a copy of its making.
  if (kind_.referred_only && !of.is_at_home && of.remote && !is_marked(*of.remote)) {
    ns->copies.settle(*of.remote, of.wish, of.source, reflection::is_copy(kind_, *of.remote, forging_));
    co_return Outcome::done();
  }
  auto plan =
      reflection::plan_reflection({.kind = kind_, .policy = policy_, .ctx = forging_}, of.local ? &*of.local : nullptr,
                                  std::exchange(of.wanted, std::nullopt), of.remote ? &*of.remote : nullptr);
  co_return co_await carry_out(ns, std::move(of), std::move(plan));
}

std::optional<Outcome> Reflector::end_without_reading(Namespace& ns, Looked& of) {
  of.remote_name = kind_.remote_name(of.name, forging_);
  if (!ns.was_read || of.remote_name.empty()) return Outcome::done();
  const auto at_home = version_at_home(ns, of.name);
  of.is_at_home = at_home.has_value();
  of.source = at_home.value_or(0);
  if (!of.is_at_home) ns.referred.erase(of.name);
  const Copy* known = ns.copies.find(of.remote_name);
  if (!of.is_at_home && !known) {
    tell_references(ns, of.name, nullptr);
    ns.forget(of);
    return Outcome::done();
  }
  if (known && known->settled_for && known->source == of.source) {
    ns.at_home.erase(of.name);
    return Outcome::done();
  }
  // This key was queued before the last look, and the pace of its kind asks for a rest.
  if (const auto rest = rests_for(ns, of.name); rest > 0s) return Outcome::again_after(rest);
  if (kind_.pace.interval > 0s && of.is_at_home) ns.looked_at[of.name] = context_.clock.now();
  return std::nullopt;
}

void Reflector::forge(const Namespace& ns, Looked& of) const {
  // The annotation that allowed the object in the list may be gone from what was read since.
  const bool is_asked_for = of.local && (!kind_.referred_only || is_referred(ns, of.name) || takes_all(ns) ||
                                         reflection::is_allowed(*of.local));
  of.wishes = ns.wishes;
  of.wanted = is_asked_for ? reflection::wanted_copy({.kind = kind_,
                                                      .policy = policy_,
                                                      .ctx = forging_,
                                                      .without_notes = ns.without_notes.contains(of.name)},
                                                     *of.local, ns.remote)
                           : std::nullopt;
  of.is_wanted = of.wanted.has_value();
  of.wish = of.is_wanted ? of.wanted->annotation(api::annotations::reflected_digest) : std::string_view();
}

std::optional<Outcome> Reflector::end_if_as_wished(Namespace& ns, const Looked& of) {
  const Copy* known = ns.copies.find(of.remote_name);
  if (!known || known->settled_for != of.wish) return std::nullopt;
  // The status that was brought home may have been changed at home.
  const auto gathered = ns.gathered.find(of.name);
  if (!kind_.gather || !of.is_wanted || gathered == ns.gathered.end() ||
      gathered->second.digest == gathered_digest(*of.local)) {
    ns.copies.settle_source(of.remote_name, of.source);
    return Outcome::done();
  }
  if (gathered->second.at)
    if (const auto rest = *gathered->second.at + gathering_rest - context_.clock.now(); rest > 0s)
      return Outcome::again_after(rest);
  return std::nullopt;
}

asio::awaitable<Outcome> Reflector::carry_out(Shared ns, Looked of, reflection::ReflectionPlan plan) {
  if (auto* applied = std::get_if<action::Apply>(&plan)) {
    // A wish that has changed is followed by changes of status, so the copy is looked at soon. A copy that somebody
    // else keeps changing is put right only at the usual comparisons.
    if (kind_.gather && (!of.remote || of.remote->annotation(api::annotations::reflected_digest) != of.wish))
      look_soon(*ns);
    co_return co_await apply(ns, std::move(*of.local), std::move(*applied));
  }
  if (auto* remove = std::get_if<action::Remove>(&plan)) {
    if (!of.is_wanted && kind_.referred_only) {
      auto pause = co_await stays_for_now(ns, of.name, of.is_at_home);
      if (!pause) co_return Outcome::retry(std::move(pause.error()));
      if (*pause) co_return Outcome::again_after(**pause);
    }
    co_return co_await take_away(ns, std::move(of), std::move(*remove));
  }
  if (const auto* trim = std::get_if<action::Trim>(&plan))
    co_return co_await this->trim(ns, std::move(*of.local), std::move(*of.remote), kube::json::serialize(trim->patch));
  if (of.remote && of.remote->is_deleting() && of.is_wanted) co_return Outcome::again_after(deletion_pause);
  if (const auto* keep = std::get_if<action::Keep>(&plan); keep && of.local && !keep->message.empty()) {
    std::string words = std::string(of.local->uid()) + keep->message;
    if (std::exchange(ns->disabled[of.name], words) != words)
      context_.events.normal(*of.local, kind_.resource, api::reasons::reflection_disabled, keep->message);
  }
  if (const auto* refuse = std::get_if<action::Refuse>(&plan); refuse && of.local)
    context_.events.warning(*of.local, kind_.resource, api::reasons::failed_reflection, refuse->message);
  if (kind_.gather && of.local && of.remote && of.is_wanted && std::holds_alternative<action::Keep>(plan)) {
    kube::json::value status = kind_.gather(*of.local, *of.remote);
    auto gathered = co_await gather(ns, std::move(*of.local), of.remote_name, std::move(status));
    if (!gathered) co_return std::move(gathered.error());
    of.source = *gathered;
  }
  if (of.remote) ns->copies.settle(*of.remote, of.wish, of.source, reflection::is_copy(kind_, *of.remote, forging_));
  if (of.remote && of.wishes != ns->wishes) ns->copies.doubt_source(of.remote_name);
  co_return Outcome::done();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> Reflector::stays_for_now(Shared ns, std::string name,
                                                                                      bool was_at_home) {
  if (const auto pause = stays_for(*ns, name)) co_return *pause;
  if (!was_at_home) {
    auto missed = co_await find_unlisted(ns, name);
    if (!missed) co_return std::unexpected(std::move(missed.error()));
    if (*missed || !is_current(*ns)) co_return kube::Duration::zero();
  }
  // A pod that refers to the object may have come during the read.
  if (version_at_home(*ns, name).has_value() != was_at_home) co_return kube::Duration::zero();
  co_return std::nullopt;
}

asio::awaitable<Outcome> Reflector::take_away(Shared ns, Looked of, action::Remove remove) {
  // A copy that was removed for replacement and is still there with the same UID is held up by a finalizer.
  if (const auto replaced = ns->replaced.find(of.remote_name);
      of.is_wanted && replaced != ns->replaced.end() && replaced->second == remove.uid)
    co_return Outcome::again_after(deletion_pause);
  // Another object of the name may be a copy, too, and would be forgotten below: 409 is a failure here.
  auto removed = co_await context_.provider.remove(kind_.copies(), {ns->remote, of.remote_name}, {.uid = remove.uid});
  if (!removed && !removed.error().is_not_found())
    co_return Outcome::retry(std::move(removed.error()).in("removing a reflected object"));
  if (of.is_wanted) ns->replaced[of.remote_name] = remove.uid;
  ns->copies.erase(of.remote_name);
  if (!of.is_wanted) ns->forget(of);
  if (of.local && !remove.message.empty())
    context_.events.normal(*of.local, kind_.resource, api::reasons::reflection_disabled, remove.message);
  if (!of.is_wanted) co_return Outcome::done();
  // The next look creates the copy anew, or finds what holds up the removal.
  ns->copies.doubt(of.remote_name);
  co_return Outcome::again_after(0s);
}

}  // namespace liqo::reflector
