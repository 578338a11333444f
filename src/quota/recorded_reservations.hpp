// Sums what the records of Quotas reserve, from the cache of records.
// Tested by test/unit/quota/quota_settle_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "quota/desk_context.hpp"
#include "quota/known_record.hpp"

namespace liqo::quota {

/// Parses a record once for each of its versions, because all slices of a consumer need all of its records. One thread.
class RecordedReservations {
 public:
  /// `context` outlives this.
  explicit RecordedReservations(const DeskContext& context) : context_(context) {}

  /// The reserved resources in the last known record of a Quota. `at_desk`: the record as its desk knows it, null
  /// without a desk.
  core::Resources of(const kube::ObjectKey& quota, const KnownRecord* at_desk) const;
  /// Forgets the ConfigMap of that name, which is gone.
  void forget(const std::string& name) { read_.erase(name); }

 private:
  /// A record as it was last parsed, and what it reserved in addition to the ShadowPods stored as of a version.
  struct Read {
    std::uint64_t version = 0, beside = 0;
    core::LedgerRecord record;
    core::Resources reserved;
  };
  const DeskContext& context_;
  mutable std::map<std::string, Read> read_;  ///< by the name of the ConfigMap
};

}  // namespace liqo::quota
