#include "controllers/reflection/namespace_look.hpp"

#include <utility>

#include "core/common/late_requests.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// The copies of a quiet twin are compared after a time between these two. Thousands of twins are quiet and begin
/// together: their looks are spread over some minutes.
constexpr kube::Duration quiet_after = 180s, quiet_before = 345s;
/// Objects of a kind without a watch at home are listed this often if nothing of the kind is reflected, to find
/// those that an annotation allows.
constexpr kube::Duration idle_after = 60s, idle_before = 74s;
/// While namespaces wait for their first reading, comparisons in the others are put off by at most this time.
constexpr kube::Duration max_put_off = 25s;
/// No namespace waits longer than this for work on others.
constexpr kube::Duration max_wait = 30s;

}  // namespace

asio::awaitable<Outcome> NamespaceLook::look() {
  if (!state_.was_read) {
    if (const auto pause = waits_for_others()) co_return Outcome::again_after(*pause);
    if (auto end = co_await read()) co_return std::move(*end);
  } else {
    if (is_put_off()) co_return Outcome::again_after(state_.compared_at + max_put_off - context_.clock.now());
    if (auto end = co_await compare()) co_return std::move(*end);
  }
  co_return ns_->is_current() ? next_look() : Outcome::done();
}

asio::awaitable<std::optional<Outcome>> NamespaceLook::read() {
  state_.read_by.reset();
  // The copies are read first: if the provider does not answer, the lists at home are not made again and again.
  for (auto read : {&NamespaceLook::read_copies, &NamespaceLook::read_home}) {
    auto done = co_await (this->*read)();
    // The rights at home go with the offloading, which may have ended while the provider did not answer.
    if (!ns_->is_current()) co_return Outcome::done();
    if (done) continue;
    // Content that is not going to be used would make other namespaces wait for room.
    ns_->home().drop_texts();
    ns_->twin().drop_texts();
    co_return Outcome::retry(std::move(done.error()));
  }
  state_.was_read = true;
  // A create of an earlier process counts from now: it was not visible yet.
  state_.late_at = context_.clock.now() + core::late_after;
  state_.compared_at = context_.clock.now();
  if (!ns_->twin().copies().empty() && context_.copied) context_.copied(ns_->home().ns());
  ns_->add_all();
  co_return std::nullopt;
}

asio::awaitable<std::optional<Outcome>> NamespaceLook::compare() {
  state_.compared_at = context_.clock.now();
  ns_->notes().end_contests(context_.clock.now());
  if (context_.kind.referred_only) {
    KUBE_CO_TRYV(co_await list_home());
  }
  const bool is_late = state_.late_at && *state_.late_at <= context_.clock.now();
  if (!ns_->twin().copies().empty() || is_late) {
    KUBE_CO_TRYV(co_await compare_copies(is_late));
  }
  if (!state_.was_read) co_return Outcome::again_after(1s);
  if (is_late) state_.late_at.reset();
  co_return std::nullopt;
}

asio::awaitable<kube::Result<void>> NamespaceLook::read_copies() {
  co_return co_await ns_->twin().read(ns_->home().referred());
}

asio::awaitable<kube::Result<void>> NamespaceLook::read_home() {
  HomeObjects& home = ns_->home();
  if (context_.is_off()) co_return kube::Result<void>();
  // Most namespaces have no objects of most kinds. An object that the cache does not have yet is read when it comes.
  if (home.is_watched_empty()) co_return kube::Result<void>();
  if (context_.kind.referred_only) {
    KUBE_CO_TRYV(co_await list_home());
    // One list costs less than a request for each object, but would also bring objects that are not reflected.
    if (!home.is_better_listed()) co_return kube::Result<void>();
  }
  const auto slot = co_await take_home_slot();
  if (!ns_->is_current()) co_return kube::Result<void>();
  co_return co_await home.read();
}

asio::awaitable<kube::Result<void>> NamespaceLook::list_home() {
  const auto slot = co_await take_home_slot();
  if (!ns_->is_current()) co_return kube::Result<void>();
  KUBE_CO_TRY(changed, co_await ns_->home().list());
  if (!ns_->is_current()) co_return kube::Result<void>();
  for (std::string& name : changed) ns_->queue().add(std::move(name));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> NamespaceLook::compare_copies(bool is_late) {
  KUBE_CO_TRY(changed, co_await ns_->twin().compare(is_late));
  if (!changed) {
    state_.was_read = false;
    co_return kube::Result<void>();
  }
  for (const std::string& name : *changed) ns_->queue().add_copy(name);
  co_return kube::Result<void>();
}

asio::awaitable<std::optional<kube::async::Slots::Slot>> NamespaceLook::take_home_slot() const {
  std::optional<kube::async::Slots::Slot> slot;
  if (context_.home_lists) slot.emplace(co_await context_.home_lists->take());
  co_return slot;
}

std::optional<kube::Duration> NamespaceLook::waits_for_others() {
  if (context_.held <= NamespaceContext::max_read_ahead) return std::nullopt;
  const kube::TimePoint now = context_.clock.now();
  if (!state_.read_by) state_.read_by = now + max_wait;
  if (*state_.read_by <= now) return std::nullopt;
  if (!std::exchange(state_.is_waiting, true)) context_.unread.push_back(ns_->home().ns());
  return *state_.read_by - now;
}

bool NamespaceLook::is_put_off() const {
  const bool others_wait = context_.held > NamespaceContext::max_read_ahead || !context_.unread.empty();
  return others_wait && state_.soon == 0s && context_.clock.now() - state_.compared_at < max_put_off;
}

Outcome NamespaceLook::next_look() {
  const ReferredObjects& referred = ns_->home().referred();
  const auto asks_whether_quiet = [&] { return context_.is_quiet && context_.is_quiet(ns_->home().ns()); };
  if (!ns_->twin().copies().empty() || !referred.empty() || referred.takes_all()) {
    state_.is_quiet = asks_whether_quiet();
    kube::Duration pause = state_.is_quiet ? context_.random.between(quiet_after, quiet_before)
                                           : context_.random.between(check_after, check_before);
    if (state_.soon > 0s && state_.soon < pause)
      pause = std::exchange(state_.soon, 2 * state_.soon);
    else
      state_.soon = {};
    return Outcome::again_after(pause);
  }
  if (state_.late_at) return Outcome::again_after(*state_.late_at - context_.clock.now());
  // CopyWriter wakes the namespace again for each copy that it writes.
  if (!context_.kind.referred_only) return Outcome::done();
  state_.is_quiet = asks_whether_quiet();
  return Outcome::again_after(state_.is_quiet ? context_.random.between(quiet_after, quiet_before)
                                              : context_.random.between(idle_after, idle_before));
}

}  // namespace liqo::controllers
