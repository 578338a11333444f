#include "controllers/peering/twin_data_guard.hpp"

#include <algorithm>
#include <utility>

#include "controllers/links/provider_api.hpp"
#include "controllers/peering/replication_session.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/timeout.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/api.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

/// How many twins are looked at, and for how long, before those that may go are withdrawn together, by one write. The
/// map waits for that.
constexpr std::size_t max_looks = 32;
constexpr kube::Duration max_round = std::chrono::seconds(10);
/// A round that has not ended by then hangs in a look. This is well before the whole reconcile is cancelled.
constexpr kube::Duration round_patience = std::chrono::minutes(1);
/// Claims in one page, and pages for one twin; any more claims count as unknown to home.
constexpr std::int64_t page_size = 50;
constexpr int max_pages = 20;
constexpr std::size_t max_page_bytes = 4 << 20;
/// One claim is enough to keep a twin; a few are reported, because the provider may invent names.
constexpr std::size_t max_strays = 10, max_name = 63;
/// The pause before the next look, whatever the last one has found.
constexpr kube::Duration verdict_holds = std::chrono::seconds(25);

/// Whether the look has found out nothing, not even that looking is forbidden.
bool is_doubtful(const kube::Result<core::StrayClaims>& found) {
  return !found && !is_refused_access(found.error()) && found.error().code() != kube::Errc::missing;
}

}  // namespace

TwinDataGuard::TwinDataGuard(core::ReplicationPeer peer, const Home& home, Context context)
    : peer_(std::move(peer)), home_(home), context_(context) {}

void TwinDataGuard::see(const kube::ObjectKey& key, const kube::Object* map) {
  asked_[key].see(map);
  if (!map) asked_.erase(key);
}

asio::awaitable<TwinDataGuard::Judgement> TwinDataGuard::judge(std::optional<kube::Object> local,
                                                               kube::Object replica) {
  const kube::ObjectKey key{peer_.local_namespace, std::string(replica.name())};
  if (home_.tenants.is_ending(key.ns)) {
    forget(key);
    co_return Judgement();
  }
  const auto asked = asked_.find(key);
  Judgement judged{.withdrawn =
                       core::withdrawn_twins(local ? &*local : nullptr, replica,
                                             asked == asked_.end() ? core::WantedTwins() : asked->second.all(), peer_)};
  if (asked != asked_.end()) asked->second.prune(local ? &*local : nullptr, replica);
  prune(key, judged.withdrawn);
  if (judged.withdrawn.empty()) co_return judged;
  const kube::TimePoint began = context_.clock.now();
  if (auto twins = due(key, judged.withdrawn); !twins.empty()) {
    judged.is_complete = false;
    // A twin that was not looked at yet is not withdrawn.
    if (home_.data.has_synced() && home_.tenants.secrets(key.ns)) {
      Round round = begin_round();
      // Under a deadline it is a coroutine of its own; after its clean-up this coroutine can still be cancelled.
      const bool has_ended = co_await kube::async::with_timeout(
          context_.clock, kube::async::finally(look_in_turn(key, std::move(twins), round), end(round)), round_patience);
      if (!has_ended) round.failure = kube::Failure(kube::Errc::timeout, "looking for claims takes too long");
      judged.is_complete = round.is_complete;
      judged.failure = std::move(round.failure);
    }
  }
  // Home may know of more by now.
  const core::HeldTwins held_now = held(judged.withdrawn);
  const Verdicts& verdicts = verdicts_[key];
  for (const core::WithdrawnTwin& twin : judged.withdrawn) {
    if (twin.is_given_up) continue;
    core::KeptTwin kept{.local = twin.local, .remote = twin.remote, .why = {}};
    const auto verdict = verdicts.find(twin.local);
    if (const auto known = held_now.find(twin.local); known != held_now.end()) {
      kept.why = core::why_held(twin.local, known->second);
    } else if (verdict != verdicts.end() && verdict->second.at) {
      // Findings of this round are never too old.
      if (verdict->second.why.empty() && began - *verdict->second.at < verdict_holds) continue;
      kept.why = verdict->second.why;
    }
    judged.kept.push_back(std::move(kept));
  }
  co_return judged;
}

core::HeldTwins TwinDataGuard::held(const std::vector<core::WithdrawnTwin>& withdrawn) const {
  core::WantedTwins current;
  for (const core::WithdrawnTwin& twin : withdrawn) current.emplace(twin.local, twin.remote);
  return core::held_twins(home_.data.all(), peer_.remote, current);
}

void TwinDataGuard::prune(const kube::ObjectKey& key, const std::vector<core::WithdrawnTwin>& withdrawn) {
  if (withdrawn.empty()) return forget(key);
  std::erase_if(verdicts_[key], [&](const auto& entry) {
    const auto twin = std::ranges::lower_bound(withdrawn, entry.first, {}, &core::WithdrawnTwin::local);
    return twin == withdrawn.end() || *twin != entry.second.twin;
  });
}

std::vector<core::WithdrawnTwin> TwinDataGuard::due(const kube::ObjectKey& key,
                                                    const std::vector<core::WithdrawnTwin>& withdrawn) {
  const kube::TimePoint now = context_.clock.now();
  const core::HeldTwins held_now = held(withdrawn);
  const Verdicts& verdicts = verdicts_[key];
  std::vector<std::pair<kube::TimePoint, const core::WithdrawnTwin*>> turns;
  for (const core::WithdrawnTwin& twin : withdrawn) {
    if (twin.is_given_up || held_now.contains(twin.local)) continue;
    const auto verdict = verdicts.find(twin.local);
    if (verdict == verdicts.end())
      turns.emplace_back(kube::TimePoint::min(), &twin);
    else if (!verdict->second.at || now - *verdict->second.at >= verdict_holds)
      turns.emplace_back(verdict->second.tried_at, &twin);
  }
  // A twin whose looks fail does not take the turn of others. Twins with the same time are ordered by name.
  std::ranges::sort(turns);
  if (turns.size() > max_looks + 1) turns.resize(max_looks + 1);
  std::vector<core::WithdrawnTwin> twins;
  twins.reserve(turns.size());
  for (const auto& [tried_at, twin] : turns) twins.push_back(*twin);
  return twins;
}

TwinDataGuard::Round TwinDataGuard::begin_round() const {
  Round round{.ways = {}, .began = context_.clock.now()};
  if (const kube::Informer* known = home_.tenants.secrets(peer_.local_namespace))
    for (const kube::Object& secret : known->objects())
      if (secret.label(api::labels::identity_type) == api::resource_slice_identity &&
          secret.label(api::labels::remote_cluster_id) == peer_.remote)
        round.ways.push_back({.secret = secret, .link = nullptr});
  return round;
}

asio::awaitable<void> TwinDataGuard::look_in_turn(kube::ObjectKey key, std::vector<core::WithdrawnTwin> due,
                                                  Round& round) {
  std::size_t looks = 0;
  for (const core::WithdrawnTwin& twin : due) {
    const kube::TimePoint now = context_.clock.now();
    if (looks++ == max_looks || now - round.began >= max_round) co_return;
    // Set before the look, because that may be cancelled.
    verdicts_[key].try_emplace(twin.local, Verdict{.twin = twin}).first->second.tried_at = now;
    kube::Result<core::StrayClaims> strays = co_await look(round, twin);
    if (is_doubtful(strays)) {
      round.failure = std::move(strays.error());
      co_return;
    }
    verdicts_[key].insert_or_assign(twin.local, Verdict{.twin = twin,
                                                        .why = core::why_kept(twin, peer_.remote, strays),
                                                        .at = context_.clock.now(),
                                                        .tried_at = now});
  }
  round.is_complete = true;
}

asio::awaitable<void> TwinDataGuard::end(Round& round) {
  for (Way& way : round.ways)
    if (way.link) co_await way.link->stop();
}

asio::awaitable<kube::Result<core::StrayClaims>> TwinDataGuard::look(Round& round, core::WithdrawnTwin twin) {
  kube::Result<core::StrayClaims> found =
      kube::fail(kube::Errc::missing, "no slice of this cluster has credentials there");
  for (Way& way : round.ways) {
    if (!way.link) {
      auto link = home_.connect(peer_.remote, way.secret);
      if (!link) found = kube::fail(kube::Errc::missing, link.error().text());
      if (!link) continue;
      way.link = std::move(*link);
    }
    found = co_await list_strays(*way.link, twin);
    // The credentials of another slice may be good.
    if (found || !is_refused_access(found.error())) break;
  }
  co_return found;
}

asio::awaitable<kube::Result<core::StrayClaims>> TwinDataGuard::list_strays(ProviderLink& link,
                                                                            core::WithdrawnTwin twin) {
  kube::Api provider = make_provider_api(link.transport(), peer_.remote, context_);
  kube::ListOptions options{
      .selection = {.label_selector = kube::label_is(api::labels::reflection_origin, peer_.local)}, .limit = page_size};
  core::StrayClaims strays;
  for (int page = 0; page < max_pages && strays.size() < max_strays; ++page) {
    KUBE_CO_TRY(claims, co_await provider.list(api::kinds::claims, twin.remote, options, max_page_bytes),
                "looking for claims in " + twin.remote);
    if (std::cmp_greater(claims.items.size(), page_size))
      co_return kube::fail(kube::Errc::protocol, "looking for claims in " + twin.remote + ": a page of " +
                                                     std::to_string(page_size) + " has " +
                                                     std::to_string(claims.items.size()));
    for (kube::json::value& item : claims.items) {
      if (strays.size() == max_strays) break;
      const auto claim = kube::Object::from(std::move(item));
      // A claim that is being deleted does not keep the twin any more.
      if (!claim || claim->is_deleting() || home_.data.accounts_for(*claim, peer_.remote, twin.local)) continue;
      strays.push_back(kube::one_line(claim->name(), max_name));
    }
    options.continue_token = std::move(claims.continue_token);
    if (options.continue_token.empty()) co_return strays;
  }
  if (strays.empty()) strays.emplace_back("many");
  co_return strays;
}

}  // namespace liqo::controllers
