// The times of the quota ledger, and how it counts.
// Tested by test/unit/quota/quota_ledger_test.cpp.
#pragma once

#include "core/quota/demand.hpp"
#include "kube/base/time.hpp"

namespace liqo::quota {

/// Times of the ledger, and how it counts.
struct LedgerSettings {
  /// How long the API server may work on a request that was admitted (its --request-timeout). A reservation that is not
  /// seen stored is dropped after this time and 10 s more, if a quorum read shows that there is no such ShadowPod.
  kube::Duration request_timeout = std::chrono::seconds(60);
  /// The least time between two writes of one record: admissions that arrive meanwhile are recorded by one write; the
  /// first one after a pause does not wait. It is longer for a large record, because each write sends all of it.
  kube::Duration gather = std::chrono::milliseconds(20);
  /// How long an admission waits for its answer: the API server waits 10 s for the webhook, and the webhook's server 8
  /// s.
  kube::Duration patience = std::chrono::seconds(7);
  core::Counting counting = core::Counting::exact;

  /// How old a reservation has to be before it may expire: the API server's timeout, and 10 s for clocks and
  /// scheduling.
  kube::Duration reservation_life() const { return request_timeout + std::chrono::seconds(10); }
};

}  // namespace liqo::quota
