// Randomness as a parameter: backoff jitter and identifiers take it from here, so that simulations can replay it.
#pragma once

#include <cstdint>
#include <random>

#include "kube/base/time.hpp"

namespace kube {

/// A seeded source of random numbers. Not for secrets: keys and tokens come from OpenSSL.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [0, 2^64).
  std::uint64_t next() { return engine_(); }
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  /// Uniform in [low, high], to the nanosecond.
  Duration between(Duration low, Duration high) { return Duration(between(low.count(), high.count())); }
  /// Uniform in [0, 1).
  double unit() { return std::uniform_real_distribution<double>(0.0, 1.0)(engine_); }
  /// True with the given probability.
  bool chance(double probability) { return unit() < probability; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace kube
