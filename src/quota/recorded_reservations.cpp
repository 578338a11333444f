#include "quota/recorded_reservations.hpp"

#include <utility>

#include "quota/reservations.hpp"

namespace liqo::quota {

core::Resources RecordedReservations::of(const kube::ObjectKey& quota, const KnownRecord* at_desk) const {
  const kube::ObjectKey key = context_.record_of(quota);
  const core::QuotaAccount& account = context_.stored.account();
  const std::uint64_t stored = context_.records->store().version(key);
  if (at_desk && at_desk->is_stored() && stored <= kube::version_number(at_desk->version()))
    return reserved(account, at_desk->record());
  if (stored == 0) return {};
  Read& read = read_[key.name];
  const std::uint64_t beside = context_.stored.version();
  if (read.version != stored) {
    const auto config_map = context_.records->find(key);
    auto record = config_map ? core::LedgerRecord::read(*config_map) : kube::Result<core::LedgerRecord>();
    read = {
        .version = stored, .beside = 0, .record = record ? std::move(*record) : core::LedgerRecord(), .reserved = {}};
  }
  if (read.beside != beside || beside == 0) {
    read.beside = beside;
    read.reserved = reserved(account, read.record);
  }
  return read.reserved;
}

}  // namespace liqo::quota
