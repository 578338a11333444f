// How many callers that nobody knows one address may bring: each of them costs the API server a review.
#pragma once

#include <map>
#include <string>

#include "kube/base/time.hpp"

namespace liqo::kubelet {

/// A bucket for each address and one for all together, which fill again by time. Pure; time is given.
class StrangerLimit {
 public:
  struct Settings {
    double burst = 10;                                ///< of one address
    kube::Duration refill = std::chrono::seconds(6);  ///< of one, for one address
    double all = 20;                                  ///< of all addresses together, as many times that of one
    std::size_t addresses = 1024;                     ///< that are remembered; beyond, the newest one goes first
  };
  explicit StrangerLimit(Settings settings) : settings_(settings) {}

  /// Whether one more from `address` may be looked at; counts it.
  bool take(const std::string& address, kube::TimePoint now);
  /// It was no stranger.
  void give_back(const std::string& address, kube::TimePoint now);

 private:
  struct Bucket {
    double left;
    kube::TimePoint at;
  };
  double left_of(const Bucket& bucket, double burst, double speed, kube::TimePoint now) const;
  Bucket& bucket_of(const std::string& address, kube::TimePoint now);

  Settings settings_;
  std::map<std::string, Bucket> buckets_;
  Bucket all_{settings_.burst * settings_.all, {}};
};

}  // namespace liqo::kubelet
