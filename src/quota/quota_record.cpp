#include "quota/quota_record.hpp"

#include <utility>

#include "core/quota/quota_user.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "quota/shadow_pod_versions.hpp"

namespace liqo::quota {
namespace {

/// The size of the record in its ConfigMap.
std::size_t record_bytes(const kube::Object& config_map) {
  return kube::string_at(config_map.tree(), {"data", core::ledger_key}).size();
}

}  // namespace

QuotaRecord::QuotaRecord(DeskContext& context, kube::ObjectKey quota) : context_(context), quota_(std::move(quota)) {}

void QuotaRecord::adopt(core::LedgerRecord record, const kube::Object& config_map, std::size_t bytes) {
  known_.adopt(std::move(record), std::string(config_map.resource_version()), bytes, context_.clock.now());
  show_unproven(known_.unproven());
}

void QuotaRecord::show_unproven(std::size_t now) {
  context_.counters.unproven.add(static_cast<double>(now) - static_cast<double>(shown_unproven_));
  shown_unproven_ = now;
}

asio::awaitable<kube::Result<void>> QuotaRecord::read(bool may_be_old) {
  const auto config_map = co_await context_.replica_api.get(kube::resources::config_maps, context_.record_of(quota_));
  if (!config_map) {
    if (!config_map.error().is_not_found()) co_return std::unexpected(config_map.error());
    std::optional<std::uint64_t> listed;
    if (!may_be_old || !known_.has_listed_floor()) {
      KUBE_CO_TRY(floor, co_await stored_floor());
      listed = floor;
    }
    known_.adopt_none(listed, context_.clock.now());
    show_unproven(0);
    co_return kube::Result<void>();
  }
  KUBE_CO_TRY(record, core::LedgerRecord::read(*config_map));
  adopt(std::move(record), *config_map, record_bytes(*config_map));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::uint64_t>> QuotaRecord::stored_floor() {
  const auto quota = context_.quotas->find(quota_);
  if (!quota) co_return kube::fail(kube::Errc::missing, "the quota is not in the cache");
  const std::string user = core::escape_user(api::Quota(*quota).user());
  co_return co_await newest_shadow_pod(context_.replica_api, kube::label_is(api::labels::creator_user, user));
}

asio::awaitable<kube::Result<bool>> QuotaRecord::write(core::LedgerRecord next) {
  kube::Object config_map = core::forge_ledger(context_.liqo_namespace, quota_, next);
  const std::size_t bytes = record_bytes(config_map);
  const bool fresh = !known_.is_stored();
  if (!fresh) config_map.mutable_metadata()["resourceVersion"] = known_.version();
  // Until the answer is here, this process does not know what is stored.
  known_.distrust();
  kube::Api& replica_api = context_.replica_api;
  auto written = fresh ? co_await replica_api.create(kube::resources::config_maps, config_map)
                       : co_await replica_api.replace(kube::resources::config_maps, config_map);
  context_.counters.commits.add();
  unanswered_.reset();
  if (written) {
    adopt(std::move(next), *written, bytes);
    co_return true;
  }
  kube::Failure failure = std::move(written.error());
  // Another replica wrote, or this write was stored and its answer was lost: the caller reads and decides again, and
  // finds reservations that are stored already by their UIDs.
  const bool unclear = failure.http_code() == 0 || failure.http_code() >= 500;
  if (!failure.is_conflict() && !failure.is_already_exists() && !failure.is_not_found() && !unclear)
    co_return std::unexpected(std::move(failure));
  if (unclear) {
    unanswered_ = std::move(failure);
  } else {
    context_.counters.conflicts.add();
  }
  co_return false;
}

asio::awaitable<bool> QuotaRecord::catch_up() {
  co_return co_await context_.stored.catch_up([this] { return known_.record().floor; });
}

asio::awaitable<bool> QuotaRecord::believe_server() {
  if (auto read_now = co_await read(); !read_now) co_return false;
  if (known_.record().floor > context_.stored.version()) {
    const auto server = co_await server_version(context_.replica_api);
    if (!server || known_.record().floor <= *server) co_return false;
    const auto floor = co_await stored_floor();
    if (!floor) co_return false;
    context_.log.warn("the record asks for a version that the cluster has not reached: its database was restored",
                      {{"quota", quota_}, {"floor", known_.record().floor}});
    known_.replace_floor(*floor);
  }
  co_return co_await catch_up();
}

void QuotaRecord::take_over() {
  // Checked before the cache is read, which parses the whole record: the watch may show a write of ours before its
  // answer arrives.
  if (!known_.is_known()) return;
  const auto config_map = context_.records->find(context_.record_of(quota_));
  if (!config_map || !known_.is_older_than(config_map->version_number())) return;
  if (auto record = core::LedgerRecord::read(*config_map))
    adopt(std::move(*record), *config_map, record_bytes(*config_map));
}

}  // namespace liqo::quota
