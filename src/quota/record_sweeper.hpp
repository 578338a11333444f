// Removes the records of Quotas that are gone.
// Tested by test/unit/quota/quota_ledger_test.cpp.
#pragma once

#include "kube/async/event.hpp"
#include "quota/desk_context.hpp"

namespace liqo::quota {

/// Runs in the process that leads. A record with reservations stays until its desk has let them expire. One thread.
class RecordSweeper {
 public:
  /// `context` outlives this.
  explicit RecordSweeper(DeskContext& context) : context_(context), quota_gone_(context.executor) {}

  /// Starts a sweep: a Quota is gone, or the record of one that is gone has changed.
  void wake() { quota_gone_.set(); }
  /// Sweeps until cancelled.
  asio::awaitable<void> run();

 private:
  /// Sweeps once. Returns whether there is nothing to try again.
  asio::awaitable<bool> sweep();
  /// Removes a record if its Quota is gone and nothing is reserved. False: it has to be tried again.
  asio::awaitable<bool> remove(kube::Object config_map);

  DeskContext& context_;
  kube::async::Event quota_gone_;
};

}  // namespace liqo::quota
