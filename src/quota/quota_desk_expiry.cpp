// Ends reservations whose ShadowPods were not stored.
#include <utility>

#include "liqo/api/kinds.hpp"
#include "quota/quota_desk.hpp"
#include "quota/reservations.hpp"
#include "quota/shadow_pod_versions.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// Bounds of one look: admissions of this Quota wait meanwhile.
constexpr std::size_t max_expiry_reads = 16;
constexpr kube::Duration max_expiry_time = 250ms;

bool is_stored(const kube::Object& shadow_pod, std::string_view key, const core::Reservation& reservation) {
  return shadow_pod.uid() == core::uid_of(key) && shadow_pod.version_number() > reservation.from;
}

}  // namespace

asio::awaitable<bool> QuotaDesk::expire() {
  // Another replica may have written to the record, so it is read before anything in it expires.
  const auto config_map = context_.records->find(context_.record_of(record_.quota()));
  if (!config_map) co_return true;
  if (const auto record = core::LedgerRecord::read(*config_map); record && record->empty()) co_return true;
  if (auto read = co_await record_.read(); !read) co_return true;
  const kube::TimePoint now = context_.clock.now();
  DueReservations due = find_due(context_.stored.account(), known(), now, context_.settings.reservation_life());
  std::set<std::string> gone, unclear = std::move(due.unreadable);
  std::size_t reads = 0;
  bool complete = true;
  for (const auto& [key, reservation] : due.readable) {
    if (reads == max_expiry_reads || context_.clock.now() - now > max_expiry_time) {
      complete = false;
      break;
    }
    ++reads;
    auto live = co_await context_.replica_api.get(api::kinds::shadow_pods, reservation.pod);
    if (live ? !is_stored(*live, key, reservation) : live.error().is_not_found())
      gone.insert(key);
    else if (!live)
      unclear.insert(key);
  }
  if (!unclear.empty()) gone.merge(co_await find_gone(std::move(unclear)));
  if (!known().is_known() || !co_await record_.catch_up()) co_return true;
  core::LedgerRecord next = known().record();
  // Stored reservations are dropped before expired ones, because the cache may by now have an unclear ShadowPod.
  const std::size_t stored = drop_stored(context_.stored.account(), next);
  const auto is_gone = [&gone](const auto& entry) { return gone.contains(entry.first); };
  const std::size_t expired = std::erase_if(next.reservations, is_gone) + std::erase_if(next.unreadable, is_gone);
  if (expired > 0)
    context_.log.info("reservations of pods that were never stored have expired",
                      {{"quota", record_.quota()}, {"count", expired}});
  if (stored + expired > 0) static_cast<void>(co_await record_.write(std::move(next)));
  co_return complete;
}

asio::awaitable<std::set<std::string>> QuotaDesk::find_gone(std::set<std::string> unclear) {
  std::set<std::string> gone;
  const auto server = co_await server_version(context_.replica_api);
  if (!server) co_return gone;
  for (const std::string& uid : unclear)
    if (context_.stored.version() >= record_.known().note_unclear(uid, *server)) gone.insert(uid);
  co_return gone;
}

}  // namespace liqo::quota
