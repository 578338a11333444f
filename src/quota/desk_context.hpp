// The caches, counters and settings that the quota ledger and its desks share.
// Tested by test/unit/quota/quota_ledger_test.cpp.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "kube/telemetry/log.hpp"
#include "quota/caller_proofs.hpp"
#include "quota/ledger_context.hpp"
#include "quota/ledger_counters.hpp"
#include "quota/ledger_settings.hpp"
#include "quota/stored_pods.hpp"
#include "quota/unrecorded_versions.hpp"

namespace liqo::quota {

/// Made once by a ledger, and outlives everything that the ledger owns. One thread.
struct DeskContext : LedgerContext {
  /// `to_replica`, which outlives this, reads and writes the records. `stored_changed`: see StoredPods.
  DeskContext(LedgerContext context, kube::Api& to_replica, LedgerSettings times, std::function<void()> stored_changed);
  DeskContext(const DeskContext&) = delete;
  DeskContext& operator=(const DeskContext&) = delete;

  /// Whether every cache that decisions need is complete, and all stored pods have been counted.
  bool has_synced() const;
  /// The ConfigMap with the record of a Quota.
  kube::ObjectKey record_of(const kube::ObjectKey& quota) const { return {liqo_namespace, core::ledger_name(quota)}; }
  /// The Quota of a user of that cluster, as the creator label names the user; or why there is not exactly one.
  std::expected<kube::ObjectKey, std::string> find_quota(const std::string& user, std::string_view origin) const;

  kube::Api& replica_api;
  LedgerSettings settings;
  StoredPods stored;
  kube::InformerHandle quotas, namespaces, records;
  LedgerCounters counters;
  CallerProofs proofs;
  UnrecordedVersions unrecorded;
  kube::Log log{"quota-ledger"};
};

}  // namespace liqo::quota
