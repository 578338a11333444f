// What the ledger says to a batch of admissions.
#include <boost/asio/this_coro.hpp>
#include <unordered_map>
#include <utility>

#include "liqo/api/kinds.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/core/admission/shadow_pod.hpp"
#include "quota_ledger_parts.hpp"

namespace liqo::controllers {
namespace {

/// Another replica's write is read and decided upon anew so often.
constexpr int most_attempts = 8;
/// Of POSTs of one pod that are on their way into storage: the first, and one that repeats it.
constexpr int most_repeated = 2;

/// By how much a record may grow whose floor has got more digits.
constexpr std::size_t floor_digits = 20;

/// Reservations for one pod that nobody has seen stored.
struct OnItsWay {
  core::Resources demand;
  int count = 0, proven = 0;
  void add(const core::Reservation& more) {
    core::add(demand, more.demand);
    ++count;
    if (!more.unproven) ++proven;
  }
};

Judgement no_quota(const kube::ObjectKey& quota, const kube::Failure& failure) {
  if (failure.is_not_found()) return refused("quota " + quota.text() + " has been withdrawn", QuotaRefusal::withdrawn);
  return unavailable("quota " + quota.text() + " cannot be read: " + failure.text());
}

/// Why the quota takes nobody at all; nothing if it may: then `hard` is what it grants.
std::optional<Judgement> why_closed(const api::Quota& quota, core::Resources& hard) {
  const std::string name = "quota " + quota.object().key().text();
  auto amounts = core::read_resources(quota.resources());
  if (!amounts) return refused(name + " is malformed: " + amounts.error().text(), QuotaRefusal::malformed);
  hard = std::move(*amounts);
  if (quota.is_drained())
    return refused(name + " is drained: the provider takes no new pods, and those that run end", QuotaRefusal::drained);
  if (quota.is_cordoned())
    return refused(name + " is cordoned: the provider takes no new pods; those that run go on", QuotaRefusal::cordoned);
  return std::nullopt;
}

}  // namespace

core::Resources QuotaLedger::reserved(const core::LedgerRecord& record) const {
  core::Resources total;
  for (const auto& [key, reservation] : record.reservations)
    if (stored_version(key, reservation) == 0) core::add(total, reservation.demand);
  return total;
}

asio::awaitable<void> QuotaLedger::decide(Desk& desk, std::vector<std::shared_ptr<Asked>> batch) {
  const auto answer_all = [&batch](const Judgement& judgement) {
    for (const auto& asked : batch) answer(*asked, judgement);
  };
  // The quota that the cache has decides, and is read live beside the write, so that one that was lowered or cordoned a
  // moment ago binds already. What is said without a write needs a live one before.
  auto quota = quotas_->find(desk.quota);
  bool is_live = false, fresh = false, ask_quota = !quota;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (ask_quota && !is_live) {
      auto read = co_await api_.get(api::kinds::quotas, desk.quota);
      if (!read) {
        answer_all(no_quota(desk.quota, read.error()));
        co_return;
      }
      quota = std::move(*read);
      is_live = true;
    }
    // A record that did not exist may have come and gone.
    if (!desk.known || desk.version.empty()) {
      fresh = true;
      auto read = co_await read_record(desk);
      if (!read) {
        answer_all(unavailable("the record of " + desk.quota.text() + " cannot be read: " + read.error().text()));
        co_return;
      }
    }
    if (!co_await catch_up(desk) && !co_await believe_server(desk)) {
      answer_all(unavailable("the cache of ShadowPods is behind; ask again"));
      co_return;
    }
    // From here to the write nothing suspends: caches and record are of one moment.
    core::LedgerRecord next = desk.record;
    drop_stored(next);
    if (!next.unreadable.empty()) {
      answer_all(unavailable("the record of " + desk.quota.text() +
                             " has a reservation that cannot be understood, so that nobody knows what is free; it "
                             "expires in a minute or two"));
      co_return;
    }
    // What is dropped leaves more room, which is looked at where there would be none.
    std::size_t bytes = desk.bytes;
    bool is_exact = false;
    const auto has_space = [&](std::size_t more) {
      if (bytes + more + floor_digits > core::most_ledger_bytes && !std::exchange(is_exact, true))
        bytes = next.text().size();
      return bytes + more + floor_digits <= core::most_ledger_bytes;
    };
    const api::Quota view(*quota);
    core::QuotaState state{
        .quota = desk.quota, .hard = {}, .used = stored_.account().used(core::admission::escape_user(view.user()))};
    const std::optional<Judgement> closed = why_closed(view, state.hard);
    core::add(state.used, reserved(next));
    const core::Enforcement enforcement = core::parse_enforcement(view.enforcement());
    std::vector<Asked*> accepted;
    std::vector<std::pair<Asked*, Judgement>> refusals;
    // Whoever gets no answer asks again, under another UID, and only one of the two is stored. Until that is known both
    // count, but the first is no reason to say that a quota is full.
    std::unordered_map<kube::ObjectKey, OnItsWay> on_their_way;
    core::UnprovenHold unproven;
    for (const auto& [key, reservation] : next.reservations) {
      if (!reservation.grows()) on_their_way[reservation.pod].add(reservation);
      if (reservation.unproven) unproven.add(reservation.demand);
    }
    std::vector<Asked*> repeated, crowded_out, too_large, no_space, made;
    const Asked* large = nullptr;
    bool changed = false, only_asked = false;
    for (const auto& asked : batch) {
      if (asked->judgement) continue;
      const core::Resources& demand = asked->reservation.demand;
      const bool grows = asked->reservation.grows();
      // Who asks for less needs no room, whatever the Quota says of more.
      const bool needs_room = !grows || !demand.empty();
      const bool is_reserved = next.reservations.contains(asked->key);
      const bool in_doubt = is_reserved && desk.doubtful.contains(asked->key);
      if (!in_doubt && (is_reserved || (needs_room && stored_version(asked->key, asked->reservation) != 0))) {
        accepted.push_back(asked.get());
        continue;
      }
      if (in_doubt) core::subtract(state.used, demand);
      std::string refusal = closed && needs_room ? closed->text : "";
      QuotaRefusal reason = closed ? closed->reason : QuotaRefusal::no_room;
      if (refusal.empty())
        if (auto problem = core::check_enforcement(asked->needs, enforcement, settings_.counting)) {
          refusal = *problem + " (quota " + desk.quota.text() + ")";
          reason = QuotaRefusal::enforcement;
        }
      if (refusal.empty() && !needs_room) {
        accepted.push_back(asked.get());
        only_asked = true;
        continue;
      }
      const OnItsWay first = grows ? OnItsWay() : on_their_way[asked->reservation.pod];
      const core::Claimant& claimant = asked->claimant;
      // What is asked in the name of an API server holds none of them up.
      if (refusal.empty() && !in_doubt && (claimant.proven ? first.proven : first.count) >= most_repeated) {
        repeated.push_back(asked.get());
        continue;
      }
      const bool is_large =
          !claimant.proven && !in_doubt &&
          (!core::is_within_share(unproven, demand, state.hard) || asked->bytes > core::most_unproven_bytes);
      if (refusal.empty() && is_large &&
          (large || !claimant.may_be_large || !desk.large.may(context_.clock.now()) ||
           core::is_beyond_share(unproven, state.hard))) {
        too_large.push_back(asked.get());
        continue;
      }
      if (refusal.empty()) {
        refusal = core::refuse_demand(state, demand, claimant.proven);
        if (!refusal.empty() && !in_doubt && first.count > 0) {
          core::QuotaState without = state;
          core::subtract(without.used, first.demand);
          if (core::refuse_demand(without, demand).empty()) {
            repeated.push_back(asked.get());
            continue;
          }
        }
        if (!refusal.empty() && claimant.proven && unproven.reservations > 0) {
          core::QuotaState without = state;
          core::subtract(without.used, unproven.demand);
          if (core::refuse_demand(without, demand).empty()) {
            crowded_out.push_back(asked.get());
            continue;
          }
        }
      }
      if (in_doubt) core::add(state.used, demand);
      if (!refusal.empty()) {
        refusals.emplace_back(asked.get(), refused(std::move(refusal), reason));
        continue;
      }
      if (in_doubt || asked->dry_run) {
        accepted.push_back(asked.get());
        only_asked = true;
        continue;
      }
      if (!has_space(asked->bytes)) {
        no_space.push_back(asked.get());
        continue;
      }
      accepted.push_back(asked.get());
      bytes += asked->bytes;
      core::add(state.used, demand);
      next.reservations[asked->key] = asked->reservation;
      if (!grows) on_their_way[asked->reservation.pod].add(asked->reservation);
      if (asked->reservation.unproven) unproven.add(demand);
      if (is_large) large = asked.get();
      made.push_back(asked.get());
      if (!is_live) desk.doubtful.insert(asked->key);
      changed = true;
    }
    // A write proves that the record was the newest. What is said without one needs a look: another replica may have
    // admitted this very pod, or freed what is missing.
    if (!changed && (!fresh || !is_live) && (only_asked || !refusals.empty())) {
      if (!fresh) desk.known = false;
      ask_quota = true;
      continue;
    }
    if (changed) {
      std::optional<kube::Result<kube::Object>> live;
      auto written =
          is_live ? co_await write_record(desk, std::move(next)) : co_await write_and_read(desk, std::move(next), live);
      const bool stands =
          is_live || (live && *live && (*live)->uid() == quota->uid() && (*live)->spec() == quota->spec());
      if (!written) {
        answer_all(unavailable("the record of " + desk.quota.text() + " cannot be written: " + written.error().text()));
        co_return;
      }
      // The record was the newest, and had none of these: nobody has asked for them before.
      if (*written)
        for (const Asked* asked : made) watch_for(desk, *asked, asked == large);
      if (*written && large) desk.large.grant(context_.clock.now() + settings_.request_timeout + expiry_slack);
      if (live && *live) {
        quota = std::move(**live);
        is_live = true;
      }
      ask_quota = true;  // once more, where it could not be read
      if (stands)
        for (const Asked* asked : accepted) desk.doubtful.erase(asked->key);
      fresh = *written;
      if (!*written || !stands) continue;
    }
    for (Asked* asked : repeated)
      answer(*asked, unavailable("pod " + asked->reservation.pod.text() +
                                 " is on its way into storage by an earlier request; ask again"));
    for (Asked* asked : crowded_out)
      answer(*asked,
             unavailable("quota " + desk.quota.text() +
                         ": what is free of it is held for pods on their way into storage; ask again in a moment"));
    for (Asked* asked : no_space)
      answer(*asked, unavailable("the record of " + desk.quota.text() +
                                 " is full: too many admitted pods have not been stored yet; ask again"));
    for (Asked* asked : too_large) answer(*asked, held_back(desk.quota));
    for (auto& [asked, refusal] : refusals) answer(*asked, std::move(refusal));
    for (Asked* asked : accepted) {
      desk.doubtful.erase(asked->key);
      answer(*asked, {});
    }
    co_return;
  }
  answer_all(unavailable("other replicas were faster " + std::to_string(most_attempts) + " times; ask again"));
}

asio::awaitable<kube::Result<bool>> QuotaLedger::write_and_read(Desk& desk, core::LedgerRecord next,
                                                                std::optional<kube::Result<kube::Object>>& quota) {
  kube::async::TaskGroup beside(context_.executor);
  beside.spawn(read_quota(desk.quota, quota));
  std::exception_ptr ended;
  kube::Result<bool> written = false;
  try {
    written = co_await write_record(desk, std::move(next));
    co_await beside.join();
  } catch (...) {
    ended = std::current_exception();
  }
  if (!ended) co_return written;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await beside.stop();
  std::rethrow_exception(ended);
}

asio::awaitable<void> QuotaLedger::read_quota(kube::ObjectKey key, std::optional<kube::Result<kube::Object>>& quota) {
  quota = co_await api_.get(api::kinds::quotas, key);
}

}  // namespace liqo::controllers
