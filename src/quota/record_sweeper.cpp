#include "quota/record_sweeper.hpp"

#include <utility>

#include "liqo/api/kinds.hpp"
#include "quota/record_owner.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// The pause after a record could not be removed, or its Quota could not be read.
constexpr kube::Duration failure_pause = 10s;

}  // namespace

asio::awaitable<void> RecordSweeper::run() {
  co_await context_.quotas->wait_synced();
  co_await context_.records->wait_synced();
  context_.unrecorded.begin_to_remove();
  while (true) {
    if (co_await sweep()) {
      co_await quota_gone_.wait_and_reset();
    } else {
      co_await context_.clock.sleep(failure_pause);
    }
  }
}

asio::awaitable<bool> RecordSweeper::sweep() {
  bool clean = true;
  for (const kube::ObjectKey& key : context_.records->store().keys()) {
    auto config_map = context_.records->find(key);
    if (config_map && !co_await remove(std::move(*config_map))) clean = false;
  }
  co_return clean;
}

asio::awaitable<bool> RecordSweeper::remove(kube::Object config_map) {
  const kube::ObjectKey key = config_map.key();
  const kube::ObjectKey quota = owner_of(config_map);
  if (key.name != core::ledger_name(quota) || context_.quotas->store().contains(quota)) co_return true;
  // A record that is not empty may have the reservation of a ShadowPod that is about to be stored, which counts if the
  // slice comes back. The desk lets it expire, and that write wakes this loop.
  const auto record = core::LedgerRecord::read(config_map);
  if (record && !record->empty()) co_return true;
  // The watch of Quotas may lag behind that of the records, and a slice of this name may come back meanwhile. An
  // admission then writes to the record, and the delete below fails because the version is another.
  const auto live = co_await context_.replica_api.get(api::kinds::quotas, quota);
  if (live || !live.error().is_not_found()) co_return live.has_value();
  const std::string uid(config_map.uid());
  // From now on nothing else shows how new the caches have to be for the pods of this user.
  if (record) context_.unrecorded.begin_removal(uid, record->floor);
  const auto removed = co_await context_.replica_api.remove(
      kube::resources::config_maps, key, {.uid = uid, .resource_version = std::string(config_map.resource_version())});
  context_.unrecorded.see_removal_end(uid, removed);
  co_return removed || removed.error().is_not_found();
}

}  // namespace liqo::quota
