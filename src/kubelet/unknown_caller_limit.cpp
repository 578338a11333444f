#include "kubelet/unknown_caller_limit.hpp"

#include <algorithm>
#include <utility>

namespace liqo::kubelet {

double UnknownCallerLimit::left_of(const Bucket& bucket, double burst, double speed, kube::TimePoint now) const {
  const double passed =
      std::chrono::duration<double>(now - bucket.at) / std::chrono::duration<double>(settings_.refill);
  return std::min(burst, bucket.left + passed * speed);
}

UnknownCallerLimit::Bucket& UnknownCallerLimit::bucket_of(const std::string& address, kube::TimePoint now) {
  const auto known = buckets_.find(address);
  if (known != buckets_.end()) return known->second;
  if (buckets_.size() >= settings_.max_addresses) {
    // A full bucket is equivalent to none.
    std::erase_if(buckets_, [&](const auto& entry) {
      return !entry.second.is_trusted(now) && left_of(entry.second, settings_.burst, 1, now) >= settings_.burst;
    });
    // Unknown callers do not evict a trusted address while there is any other.
    if (buckets_.size() >= settings_.max_addresses)
      buckets_.erase(std::ranges::max_element(buckets_, {}, [now](const auto& entry) {
        return std::pair(!entry.second.is_trusted(now), entry.second.at);
      }));
  }
  return buckets_.emplace(address, Bucket{settings_.burst, now}).first->second;
}

bool UnknownCallerLimit::take(const std::string& address, kube::TimePoint now) {
  all_ = {left_of(all_, settings_.burst * settings_.all, settings_.all, now), now};
  Bucket& bucket = bucket_of(address, now);
  bucket.left = left_of(bucket, settings_.burst, 1, now);
  bucket.at = now;
  const bool is_trusted = bucket.is_trusted(now);
  if (bucket.left < 1 || (!is_trusted && all_.left < 1)) return false;
  bucket.left -= 1;
  if (!is_trusted) all_.left -= 1;
  return true;
}

void UnknownCallerLimit::give_back(const std::string& address, kube::TimePoint now) {
  Bucket& bucket = bucket_of(address, now);
  bucket.left = std::min(settings_.burst, bucket.left + 1);
  if (!bucket.is_trusted(now)) all_.left = std::min(settings_.burst * settings_.all, all_.left + 1);
}

void UnknownCallerLimit::trust(const std::string& address, kube::TimePoint now) {
  bucket_of(address, now).trusted_until = now + settings_.trust;
}

}  // namespace liqo::kubelet
