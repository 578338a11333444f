// How much the records of Quotas reserve, by the cache of records.
// Tested by test/unit/quota/quota_settle_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "quota/desk_context.hpp"
#include "quota/known_record.hpp"

namespace liqo::quota {

/// Reads a record once for each of its versions: all slices of a consumer ask for all of its records. One thread.
class RecordedReservations {
 public:
  /// `context` outlives this.
  explicit RecordedReservations(const DeskContext& context) : context_(context) {}

  /// What is reserved by the last known record of a Quota. `at_desk`: as its desk knows the record, null without one.
  core::Resources of(const kube::ObjectKey& quota, const KnownRecord* at_desk) const;
  /// The ConfigMap of that name is gone.
  void forget(const std::string& name) { read_.erase(name); }

 private:
  /// A record as it was last read, and what it reserved beside the ShadowPods of a version.
  struct Read {
    std::uint64_t version = 0, beside = 0;
    core::LedgerRecord record;
    core::Resources reserved;
  };
  const DeskContext& context_;
  mutable std::map<std::string, Read> read_;  ///< by the name of the ConfigMap
};

}  // namespace liqo::quota
