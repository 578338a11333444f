// The record of one Quota's reservations: reads and writes it, and waits for the caches to be as new as it says.
// Tested by test/unit/quota/quota_ledger_test.cpp and quota_settle_test.cpp.
#pragma once

#include <optional>

#include "quota/desk_context.hpp"
#include "quota/known_record.hpp"

namespace liqo::quota {

/// Only the desk of the Quota reads and writes it, one after the other; take_over() may come meanwhile. One thread.
class QuotaRecord {
 public:
  /// `context` outlives this.
  QuotaRecord(DeskContext& context, kube::ObjectKey quota);

  const kube::ObjectKey& quota() const { return quota_; }
  const KnownRecord& known() const { return known_; }
  KnownRecord& known() { return known_; }

  /// Reads it from the server. If there is none, `may_be_old` takes what was listed when it was last looked for: good
  /// enough to refuse by, because less may be counted than is stored, and not to write by. Errors: those of the API
  /// server, and Errc::missing if neither the record nor its Quota is there.
  asio::awaitable<kube::Result<void>> read(bool may_be_old = false);
  /// Writes it over what was read or written last. False: another replica was faster, or nobody knows (unanswered()):
  /// it has to be read again.
  asio::awaitable<kube::Result<bool>> write(core::LedgerRecord next);
  /// What the last write failed by, if nobody was faster.
  const std::optional<kube::Failure>& unanswered() const { return unanswered_; }
  void forget_unanswered() { unanswered_.reset(); }

  /// Waits until the cache has reached the floor of the record, which may be taken over meanwhile.
  asio::awaitable<bool> catch_up();
  /// For a cache that does not reach the floor: reads the record, and computes a floor anew that lies in the future of
  /// the server itself, as one does after its database was restored. Returns whether the cache has reached it now.
  asio::awaitable<bool> believe_server();
  /// Takes what another replica has written from the cache: without it the next write would be refused.
  void take_over();
  /// Shows in the metric that so many of its reservations are unproven; 0 = its desk ends.
  void show_unproven(std::size_t now);

 private:
  /// What a replica must have seen if there is no record (any more): the user's ShadowPods that are stored now.
  asio::awaitable<kube::Result<std::uint64_t>> stored_floor();
  /// It is stored as this now.
  void adopt(core::LedgerRecord record, const kube::Object& config_map, std::size_t bytes);

  DeskContext& context_;
  kube::ObjectKey quota_;
  KnownRecord known_;
  std::size_t shown_unproven_ = 0;
  std::optional<kube::Failure> unanswered_;
};

}  // namespace liqo::quota
