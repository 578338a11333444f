// Reads and writes the record of one Quota's reservations, and waits for the caches to be as new as it requires.
// Tested by test/unit/quota/quota_ledger_test.cpp and quota_settle_test.cpp.
#pragma once

#include <optional>

#include "quota/desk_context.hpp"
#include "quota/known_record.hpp"

namespace liqo::quota {

/// Only the desk of the Quota reads and writes it, one call after the other; take_over() may be called meanwhile. One
/// thread.
class QuotaRecord {
 public:
  /// `context` outlives this.
  QuotaRecord(DeskContext& context, kube::ObjectKey quota);

  const kube::ObjectKey& quota() const { return quota_; }
  const KnownRecord& known() const { return known_; }
  KnownRecord& known() { return known_; }

  /// Reads the record from the server. If there is none, `may_be_old` reuses the floor that was listed when it was last
  /// looked for. That is good enough for refusals, because less may be counted than is stored, but not for a write.
  /// Errors: those of the API server, and Errc::missing if neither the record nor its Quota exists.
  asio::awaitable<kube::Result<void>> read(bool may_be_old = false);
  /// Writes the record over the state that was read or written last. False: another replica was faster, or the result
  /// is unknown (unanswered()), and the record has to be read again.
  asio::awaitable<kube::Result<bool>> write(core::LedgerRecord next);
  /// The failure of the last write, if no other replica was faster.
  const std::optional<kube::Failure>& unanswered() const { return unanswered_; }
  void forget_unanswered() { unanswered_.reset(); }

  /// Waits until the cache has reached the floor of the record. The record may be taken over meanwhile.
  asio::awaitable<bool> catch_up();
  /// For a cache that does not reach the floor: reads the record, and replaces a floor that even the server has not
  /// reached, because its database was restored. Returns whether the cache has reached the floor now.
  asio::awaitable<bool> believe_server();
  /// Takes over from the cache what another replica has written: otherwise the next write would be refused.
  void take_over();
  /// Sets the metric of its unproven reservations; 0 = its desk ends.
  void show_unproven(std::size_t now);

 private:
  /// The floor if there is no record (any more): the newest version of the user's ShadowPods that are stored now.
  asio::awaitable<kube::Result<std::uint64_t>> stored_floor();
  /// Sets the record as it is stored now.
  void adopt(core::LedgerRecord record, const kube::Object& config_map, std::size_t bytes);

  DeskContext& context_;
  kube::ObjectKey quota_;
  KnownRecord known_;
  std::size_t shown_unproven_ = 0;
  std::optional<kube::Failure> unanswered_;
};

}  // namespace liqo::quota
