#include "controllers/peering/provider_probe.hpp"

#include <string>
#include <utility>

#include "controllers/peering/replica_scope.hpp"
#include "core/nodes/probe.hpp"
#include "core/peering/clock_skew.hpp"
#include "core/peering/heartbeat.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// The pause before the first heartbeat, and after one that the provider does not want.
constexpr kube::Duration first_beat = 1min, unwanted_pause = 1h;
/// The pause between two checks of rights without a sign that they are gone: watches go on for minutes without them.
constexpr kube::Duration rights_pause = 1min;

}  // namespace

ProviderProbe::ProviderProbe(core::ReplicationPeer peer, kube::Api& provider, const ProviderLink& link, Context context,
                             Reader reader)
    : peer_(std::move(peer)),
      provider_(provider),
      link_(link),
      context_(std::move(context)),
      reader_(std::move(reader)),
      log_(kube::Log("replication").with("cluster", peer_.remote).with("namespace", peer_.local_namespace)) {
  if (is_wanted()) return;
  answers_ = true;
  withdrawn_ = false;
}

bool ProviderProbe::is_wanted() const { return context_.settings.peering.foreign_cluster_ping_interval > 0s; }

asio::awaitable<void> ProviderProbe::beat() {
  // The kinds that a peering needs at its beginning come first.
  co_await context_.clock.sleep(first_beat);
  const kube::ObjectKey lease{peer_.remote_namespace, std::string(core::heartbeat_lease)};
  while (true) {
    const std::string patch = kube::json::serialize(core::heartbeat_patch(peer_.local, context_.clock.wall()));
    const auto beaten = co_await provider_.patch(kube::resources::leases, lease, {kube::PatchType::merge, patch});
    // The Go version has no Lease for us, and neither have providers that do not want heartbeats.
    const bool is_unwanted = !beaten && (is_refused_access(beaten.error()) || beaten.error().is_not_found());
    co_await context_.clock.sleep(is_unwanted ? unwanted_pause : core::heartbeat_interval);
  }
}

asio::awaitable<void> ProviderProbe::run() {
  while (true) {
    const kube::TimePoint start = context_.clock.now();
    auto answer = co_await provider_.raw("/livez", context_.settings.peering.foreign_cluster_ping_timeout);
    const core::ProbeVerdict verdict =
        core::judge_probe(answer ? nullptr : &answer.error(), link_.credentials_trouble(context_.clock.wall()));
    if (answers_ != verdict.is_alive) {
      answers_ = verdict.is_alive;
      if (verdict.is_alive)
        log_.info("the provider's API server answers");
      else
        log_.warn("the provider's API server does not answer", {{"error", verdict.error}});
      if (verdict.is_alive) reader_.came_back();
      reader_.changed();
    }
    look_at_clock();
    if (verdict.is_alive) {
      co_await look_at_rights();
    } else {
      refused_since_.reset();
    }
    reader_.probed();
    co_await context_.clock.sleep_until(start + context_.settings.peering.foreign_cluster_ping_interval);
  }
}

void ProviderProbe::look_at_clock() {
  const std::chrono::seconds now = core::settle_clock(clock_ahead_, provider_.clock_ahead().value_or(0s));
  if (std::exchange(clock_ahead_, now) == now) return;
  if (now == 0s) {
    log_.info("the clocks agree again");
  } else {
    log_.warn("the clocks do not agree", {{"error", core::describe_clock(now)}});
  }
  reader_.changed();
}

asio::awaitable<void> ProviderProbe::look_at_rights() {
  const kube::TimePoint now = context_.clock.now();
  if (withdrawn_ == false && !refused_ && !reader_.is_refused() && now < next_look_at_rights_) co_return;
  next_look_at_rights_ = now + rights_pause;
  // A policy of the provider may refuse one kind; with the Tenant the rights to all kinds go.
  bool refused = true;
  std::string why;
  for (const kube::Resource& kind : core::replicated_kinds()) {
    const kube::InformerScope scope = scope_of_replicas(peer_, kind);
    const kube::ListOptions one{.selection = scope.selection, .limit = 1};
    auto page = co_await provider_.list(kind, scope.ns, one);
    if (!page && !page.error().is_forbidden()) {
      // An answer interrupts the refusals, and the waiting time begins again.
      refused_since_.reset();
      co_return;
    }
    refused = refused && !page;
    if (page) break;
    why = page.error().text();
  }
  refused_ = refused;
  if (!refused) refused_since_.reset();
  if (refused && !refused_since_) refused_since_ = now;
  // A session that has just begun does not know before the waiting time is over.
  if (refused && withdrawn_ != true && now - *refused_since_ < refusal_patience) co_return;
  const std::optional<bool> before = std::exchange(withdrawn_, refused);
  if (before == refused) co_return;
  if (refused) {
    log_.warn("the provider has withdrawn our rights", {{"error", why}});
  } else if (before) {
    log_.info("the provider has given our rights back");
  }
  reader_.changed();
}

}  // namespace liqo::controllers
