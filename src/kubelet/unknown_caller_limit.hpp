// Limits how many unknown callers one address may bring: each of them costs the API server a review.
// Tested by test/unit/kubelet/authorizer_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kube/base/time.hpp"

namespace liqo::kubelet {

/// A token bucket for each address and one for all together. An address from which a known caller has come has only its
/// own bucket: unknown callers at other addresses take nothing from it. Pure; the time is a parameter.
class UnknownCallerLimit {
 public:
  /// The size of each bucket, its refill rate, and how addresses are remembered.
  struct Settings {
    double burst = 10;  ///< unknown callers that a full bucket of one address lets through
    kube::Duration refill = std::chrono::seconds(6);  ///< until the bucket of one address has room for one more
    double all = 20;                               ///< size and speed of the common bucket, in buckets of one address
    std::size_t max_addresses = 1024;              ///< remembered addresses; beyond, the newest one is dropped first
    kube::Duration trust = std::chrono::hours(2);  ///< how long an address is trusted after a known caller
  };
  explicit UnknownCallerLimit(Settings settings) : settings_(settings) {}

  /// Whether one more caller from `address` may be reviewed; counts it.
  bool take(const std::string& address, kube::TimePoint now);
  /// Takes back take(): the caller was known, or the review gave no answer.
  void give_back(const std::string& address, kube::TimePoint now);
  /// Notes that a known caller came from the address.
  void trust(const std::string& address, kube::TimePoint now);

 private:
  struct Bucket {
    double left;
    kube::TimePoint at;
    std::optional<kube::TimePoint> trusted_until = std::nullopt;
    bool is_trusted(kube::TimePoint now) const { return trusted_until && now < *trusted_until; }
  };
  double left_of(const Bucket& bucket, double burst, double speed, kube::TimePoint now) const;
  Bucket& bucket_of(const std::string& address, kube::TimePoint now);

  Settings settings_;
  std::map<std::string, Bucket> buckets_;
  Bucket all_{settings_.burst * settings_.all, {}};
};

}  // namespace liqo::kubelet
