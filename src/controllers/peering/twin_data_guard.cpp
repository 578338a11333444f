#include "controllers/peering/twin_data_guard.hpp"

#include <utility>

#include "controllers/peering/replication_session.hpp"
#include "controllers/providers/provider_api.hpp"
#include "kube/async/finally.hpp"
#include "kube/client/api.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/namespaces/held_twins.hpp"

namespace liqo::controllers {
namespace {

/// So many twins are looked at before those that may go are withdrawn together, by one write.
constexpr std::size_t max_looks = 32;
/// Claims of one page, and pages of one twin: of more, the rest counts as unknown to home.
constexpr std::int64_t page_size = 50;
constexpr int max_pages = 20;
constexpr std::size_t max_page_bytes = 4 << 20;
/// A twin is kept for one claim; people are told of a few.
constexpr std::size_t max_strays = 10;
/// How long a twin is kept for what a look has found.
constexpr kube::Duration verdict_holds = std::chrono::seconds(25);

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
  Verdicts before = std::exchange(verdicts_[key], {});
  if (home_.tenants.is_ending(key.ns)) co_return Judgement();
  const auto asked = asked_.find(key);
  Judgement judged{.withdrawn =
                       core::withdrawn_twins(local ? &*local : nullptr, replica,
                                             asked == asked_.end() ? core::WantedTwins() : asked->second.all(), peer_)};
  if (asked != asked_.end()) asked->second.prune(local ? &*local : nullptr, replica);
  if (judged.withdrawn.empty()) {
    verdicts_.erase(key);
    co_return judged;
  }
  core::WantedTwins current;
  for (const core::WithdrawnTwin& twin : judged.withdrawn) current.emplace(twin.local, twin.remote);
  const core::HeldTwins held = core::held_twins(home_.data.all(), peer_.remote, current);
  // Of what is not known yet nothing is withdrawn.
  const bool may_look = home_.data.has_synced() && home_.tenants.secrets(key.ns);
  const kube::TimePoint now = context_.clock.now();
  Verdicts verdicts;
  std::size_t looks = 0;
  for (const core::WithdrawnTwin& twin : judged.withdrawn) {
    if (twin.is_given_up) continue;
    core::KeptTwin kept{.local = twin.local, .remote = twin.remote, .why = {}};
    auto last = before.extract(twin.local);
    if (last && last.mapped().remote != twin.remote) last = {};
    if (const auto known = held.find(twin.local); known != held.end()) {
      kept.why = core::why_held(twin.local, known->second);
    } else if (last && now - last.mapped().at < verdict_holds) {
      kept.why = last.mapped().why;
      verdicts.insert(std::move(last));
    } else {
      kube::Result<core::StrayClaims> strays = core::StrayClaims();
      const bool is_turn = may_look && !judged.failure && looks++ < max_looks;
      if (is_turn) strays = co_await look(twin);
      const bool is_doubtful =
          !strays && !is_refused_access(strays.error()) && strays.error().code() != kube::Errc::missing;
      if (is_doubtful) judged.failure = std::move(strays.error());
      judged.is_complete = judged.is_complete && is_turn && !is_doubtful;
      if (is_turn && !is_doubtful) {
        kept.why = core::why_kept(twin, peer_.remote, strays);
        if (kept.why.empty()) continue;
        verdicts.insert_or_assign(twin.local, Verdict{twin.remote, kept.why, now});
      } else if (last) {
        kept.why = last.mapped().why;
        verdicts.insert(std::move(last));
      }
    }
    judged.kept.push_back(std::move(kept));
  }
  verdicts_[key] = std::move(verdicts);
  co_return judged;
}

asio::awaitable<kube::Result<core::StrayClaims>> TwinDataGuard::look(core::WithdrawnTwin twin) {
  std::vector<kube::Object> secrets;
  if (const kube::Informer* known = home_.tenants.secrets(peer_.local_namespace))
    for (const kube::Object& secret : known->objects())
      if (secret.label(api::labels::identity_type) == api::resource_slice_identity &&
          secret.label(api::labels::remote_cluster_id) == peer_.remote)
        secrets.push_back(secret);
  kube::Result<core::StrayClaims> found =
      kube::fail(kube::Errc::missing, "no slice of this cluster has credentials there");
  for (const kube::Object& secret : secrets) {
    found = co_await look_with(secret, twin);
    // The credentials of another slice may be good.
    if (found || !is_refused_access(found.error())) break;
  }
  co_return found;
}

asio::awaitable<kube::Result<core::StrayClaims>> TwinDataGuard::look_with(kube::Object secret,
                                                                          core::WithdrawnTwin twin) {
  auto link = home_.connect(peer_.remote, secret);
  if (!link) co_return kube::fail(kube::Errc::missing, link.error().text());
  co_return co_await kube::async::finally(list_strays(**link, std::move(twin)), (*link)->stop());
}

asio::awaitable<kube::Result<core::StrayClaims>> TwinDataGuard::list_strays(ProviderLink& link,
                                                                            core::WithdrawnTwin twin) {
  kube::Api provider(link.transport(), context_.clock, context_.random, context_.metrics,
                     provider_api_settings(peer_.remote, context_));
  kube::ListOptions options{
      .selection = {.label_selector = kube::label_is(api::labels::reflection_origin, peer_.local)}, .limit = page_size};
  core::StrayClaims strays;
  for (int page = 0; page < max_pages && strays.size() < max_strays; ++page) {
    auto claims = co_await provider.list(api::kinds::claims, twin.remote, options, max_page_bytes);
    if (!claims) co_return kube::fail(std::move(claims.error()), "looking for claims in " + twin.remote);
    for (kube::json::value& item : claims->items) {
      const auto claim = kube::Object::from(std::move(item));
      // What is being deleted holds nothing any more.
      if (!claim || claim->is_deleting() || home_.data.accounts_for(*claim, peer_.remote, twin.local)) continue;
      if (strays.size() < max_strays) strays.emplace_back(claim->name());
    }
    options.continue_token = std::move(claims->continue_token);
    if (options.continue_token.empty()) co_return strays;
  }
  if (strays.empty()) strays.emplace_back("many");
  co_return strays;
}

}  // namespace liqo::controllers
