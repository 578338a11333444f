// The connections of a server: how much they hold together, and which of them is closed when there is no more room.
// Most of them are of unknown callers, because anyone who reaches a port may open them.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "kube/base/time.hpp"
#include "kube/net/transport.hpp"

namespace kube::net {

/// One connection, as far as room is concerned.
struct ServerConnection {
  std::unique_ptr<ByteStream> stream;
  /// It is the peer's turn: to finish a handshake, to begin or finish a request, to take an answer. Only then may it be
  /// closed.
  bool waiting = true;
  bool served = false;   ///< has had an answer
  bool known = false;    ///< has shown a certificate that is verified, see Occupancy::recognise()
  bool evicted = false;  ///< was closed for others; its coroutine is about to end
  TimePoint since{};     ///< when it was accepted, was answered last, or began the request under way
  std::size_t held = 0;  ///< bytes for the request under way
};

/// Keeps to its limits by closing those who have kept the server waiting for longest. A plain limit per address would
/// do harm: API servers are one or few addresses, and all streams come from them. Those who are known by a certificate
/// have a room of their own instead, so that no crowd of unknown callers takes it from them, nor they from those. One
/// thread.
class Occupancy {
 public:
  /// The most unknown callers, the most who are known, and the most bytes that all of them may hold.
  Occupancy(std::size_t max_unknown, std::size_t max_known, std::size_t max_held)
      : unknown_{.max_connections = max_unknown}, known_{.max_connections = max_known}, max_held_(max_held) {}

  /// Makes room for one more connection, of which nothing is known yet; false if all such are busy.
  bool make_room() { return make_room(unknown_); }
  /// Closes the connection that has kept the server waiting for longest, an unknown caller's if there is one; false if
  /// all are busy.
  bool close_one() { return close_one(unknown_) || close_one(known_); }
  /// The connection stays here until the returned place is given to leave(). At first its caller is
  /// unknown.
  std::list<ServerConnection*>::iterator enter(ServerConnection& connection);
  /// The connection has shown whose it is, and goes over to those that are known; false if it may not stay, because
  /// all of them are busy or it was closed meanwhile.
  bool recognise(ServerConnection& connection);
  void leave(std::list<ServerConnection*>::iterator place);

  /// Counts more bytes for the connection's request; false if there is room for them only without the connection
  /// itself.
  bool hold(ServerConnection& connection, std::size_t bytes);
  /// The connection's request is over.
  void release(ServerConnection& connection);

  const std::list<ServerConnection*>& connections() const { return connections_; }
  std::size_t held() const { return held_; }
  std::uint64_t evictions() const { return evictions_; }

 private:
  struct Room {
    std::size_t max_connections;
    std::size_t taken = 0;  ///< by connections that are not about to leave
  };
  Room& room_of(const ServerConnection& connection) { return connection.known ? known_ : unknown_; }
  bool make_room(Room& room);
  /// Neither those without an answer yet nor those that had one can push the others out of their half.
  bool close_one(const Room& room);
  void evict(ServerConnection& connection);

  Room unknown_, known_;
  std::size_t max_held_;
  std::list<ServerConnection*> connections_;
  std::size_t held_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace kube::net
