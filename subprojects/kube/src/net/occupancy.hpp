// What the connections of a server hold together, and who goes when there is no more room. Most of them are of
// strangers: whoever reaches a port may open them.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "kube/base/time.hpp"
#include "kube/net/transport.hpp"

namespace kube::net {

/// One connection, as far as room is concerned.
struct Guest {
  std::unique_ptr<ByteStream> stream;
  /// It is the peer's turn: to finish a handshake, to begin or finish a request, to take an answer. Only then it may be
  /// closed.
  bool waiting = true;
  bool served = false;   ///< has had an answer
  bool evicted = false;  ///< was closed for others; its coroutine is about to end
  TimePoint since{};     ///< when it was accepted, was answered last, or began the request under way
  std::size_t held = 0;  ///< bytes for the request under way
};

/// Keeps to both limits by closing those who have kept the server waiting for longest. A plain limit per address would
/// do harm: API servers are one or few addresses, and all streams come from them. One thread.
class Occupancy {
 public:
  /// So many connections, which hold so many bytes.
  Occupancy(std::size_t max_guests, std::size_t max_held) : max_guests_(max_guests), max_held_(max_held) {}

  /// Makes room for one more connection; false if all are busy.
  bool make_room();
  /// Closes the one that has kept the server waiting for longest; false if all are busy. Neither those without an
  /// answer yet nor those that had one can push the others out of their half.
  bool close_one();
  /// The guest stays in here until the place it got is given to leave().
  std::list<Guest*>::iterator enter(Guest& guest) { return guests_.insert(guests_.end(), &guest); }
  void leave(std::list<Guest*>::iterator place);

  /// So many bytes more for the guest's request; false if they are not to be had, for the guest would have to go
  /// itself.
  bool hold(Guest& guest, std::size_t bytes);
  /// The guest's request is over.
  void release(Guest& guest);

  const std::list<Guest*>& guests() const { return guests_; }
  std::size_t held() const { return held_; }
  std::uint64_t evictions() const { return evictions_; }

 private:
  void evict(Guest& guest);

  std::size_t max_guests_, max_held_;
  std::list<Guest*> guests_;
  std::size_t held_ = 0;
  std::size_t leaving_ = 0;  ///< of guests_, those that were evicted
  std::uint64_t evictions_ = 0;
};

}  // namespace kube::net
