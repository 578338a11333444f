// How many callers that nobody knows one address may bring: each of them costs the API server a review.
// Tested by test/unit/kubelet/authorizer_test.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kube/base/time.hpp"

namespace liqo::kubelet {

/// A bucket for each address and one for all together, which fill again by time. An address from which a known caller
/// came has only its own bucket: strangers at other addresses take nothing from it. Pure; time is given.
class StrangerLimit {
 public:
  /// How many strangers each bucket holds, how fast it fills again, and what is remembered of addresses.
  struct Settings {
    double burst = 10;                                ///< strangers that a full bucket of one address lets through
    kube::Duration refill = std::chrono::seconds(6);  ///< until the bucket of one address has room for one more
    double all = 20;                               ///< size and speed of the common bucket, in buckets of one address
    std::size_t max_addresses = 1024;              ///< that are remembered; beyond, the newest one goes first
    kube::Duration trust = std::chrono::hours(2);  ///< how long an address is believed in after somebody known
  };
  explicit StrangerLimit(Settings settings) : settings_(settings) {}

  /// Whether one more from `address` may be looked at; counts it.
  bool take(const std::string& address, kube::TimePoint now);
  /// It was no stranger, or nobody can say whether it was one.
  void give_back(const std::string& address, kube::TimePoint now);
  /// Somebody who is known came from there.
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
