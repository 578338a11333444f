#include "occupancy.hpp"

namespace kube::net {

bool Occupancy::make_room(Room& room) {
  while (room.taken >= room.max_connections)
    if (!close_one(room)) return false;
  return true;
}

bool Occupancy::close_one(const Room& room) {
  ServerConnection *oldest_new = nullptr, *oldest_served = nullptr;
  std::size_t count_new = 0;
  for (ServerConnection* connection : connections_) {
    if (connection->evicted || !connection->waiting || &room_of(*connection) != &room) continue;
    if (!connection->served) ++count_new;
    ServerConnection*& oldest = connection->served ? oldest_served : oldest_new;
    if (oldest == nullptr || connection->since < oldest->since) oldest = connection;
  }
  const bool many_new = count_new * 2 >= room.max_connections;
  ServerConnection* const victim =
      oldest_new != nullptr && (many_new || oldest_served == nullptr) ? oldest_new : oldest_served;
  if (victim == nullptr) return false;
  evict(*victim);
  return true;
}

std::list<ServerConnection*>::iterator Occupancy::enter(ServerConnection& connection) {
  ++room_of(connection).taken;
  return connections_.insert(connections_.end(), &connection);
}

bool Occupancy::recognise(ServerConnection& connection) {
  if (connection.evicted || !make_room(known_)) return false;
  --room_of(connection).taken;
  connection.known = true;
  ++room_of(connection).taken;
  return true;
}

void Occupancy::leave(std::list<ServerConnection*>::iterator place) {
  ServerConnection& connection = **place;
  release(connection);
  if (!connection.evicted) --room_of(connection).taken;
  connections_.erase(place);
}

bool Occupancy::hold(ServerConnection& connection, std::size_t bytes) {
  if (connection.evicted) return false;
  // No connection is closed for what does not fit even then.
  std::size_t freed = 0;
  for (const ServerConnection* each : connections_)
    if (each != &connection && !each->evicted && each->waiting &&
        (!connection.waiting || each->since < connection.since))
      freed += each->held;
  if (held_ - freed + bytes > max_held_) return false;
  while (held_ + bytes > max_held_) {
    ServerConnection* victim = nullptr;
    for (ServerConnection* each : connections_) {
      if (each->evicted || !each->waiting || (each->held == 0 && each != &connection)) continue;
      if (victim == nullptr || each->since < victim->since) victim = each;
    }
    if (victim == nullptr || victim == &connection) return false;
    evict(*victim);
  }
  connection.held += bytes;
  held_ += bytes;
  return true;
}

void Occupancy::release(ServerConnection& connection) {
  held_ -= connection.held;
  connection.held = 0;
}

void Occupancy::evict(ServerConnection& connection) {
  connection.evicted = true;
  --room_of(connection).taken;
  ++evictions_;
  release(connection);
  if (connection.stream) connection.stream->close();
}

}  // namespace kube::net
