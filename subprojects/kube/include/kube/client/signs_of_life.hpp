// Whether a peer that answers pings is alive, or only busy. Pure.
#pragma once

#include <cstdint>

#include "kube/base/time.hpp"

namespace kube {

/// A peer that we read and that sends nothing is dead, unless it may be stuck in data of ours: Go's peers answer no
/// ping while the program behind them does not read.
class SignsOfLife {
 public:
  explicit SignsOfLife(TimePoint now) : last_data_(now), last_heard_(now) {}

  /// We begin to read from the peer; heard(): something came, or we stopped reading.
  void listen(TimePoint now) {
    last_heard_ = now;
    listening_ = true;
  }
  void heard() { listening_ = false; }
  /// Data has come from the peer, to be passed on.
  void received(TimePoint now) { last_data_ = now; }
  /// Data was sent to the peer, which it may not take yet.
  void wrote(TimePoint now) {
    last_data_ = now;
    pongs_wanted_ = pings_ + 1;
  }
  void pinged() { ++pings_; }
  void ponged(std::uint64_t count = 1) { pongs_ += count; }

  /// Since when there was no data, either way.
  TimePoint last_data() const { return last_data_; }
  /// Silent for that long (zero: never), with no other explanation than death.
  bool is_dead(TimePoint now, Duration silence) const {
    return listening_ && silence > Duration::zero() && now - last_heard_ >= silence && !may_be_stuck();
  }
  /// For a peer that may be stuck, one unanswered ping is enough. A peer that we do not read, because nobody takes its
  /// data, is pinged so that a write fails once it has gone.
  bool wants_ping() const { return !listening_ || !may_be_stuck() || pings_ < pongs_wanted_; }

 private:
  bool may_be_stuck() const { return pongs_ < pongs_wanted_; }

  TimePoint last_data_;
  TimePoint last_heard_;  // or since when we listen
  bool listening_ = false;
  std::uint64_t pings_ = 0;         // sent
  std::uint64_t pongs_ = 0;         // received
  std::uint64_t pongs_wanted_ = 0;  // until the peer is known to have read all our data
};

}  // namespace kube
