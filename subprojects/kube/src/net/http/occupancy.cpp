#include "occupancy.hpp"

namespace kube::net {

bool Occupancy::make_room(Room& room) {
  while (room.taken >= room.max_guests)
    if (!close_one(room)) return false;
  return true;
}

bool Occupancy::close_one(const Room& room) {
  Guest *oldest_new = nullptr, *oldest_served = nullptr;
  std::size_t count_new = 0;
  for (Guest* guest : guests_) {
    if (guest->evicted || !guest->waiting || &room_of(*guest) != &room) continue;
    if (!guest->served) ++count_new;
    Guest*& oldest = guest->served ? oldest_served : oldest_new;
    if (oldest == nullptr || guest->since < oldest->since) oldest = guest;
  }
  const bool many_new = count_new * 2 >= room.max_guests;
  Guest* const victim = oldest_new != nullptr && (many_new || oldest_served == nullptr) ? oldest_new : oldest_served;
  if (victim == nullptr) return false;
  evict(*victim);
  return true;
}

std::list<Guest*>::iterator Occupancy::enter(Guest& guest) {
  ++room_of(guest).taken;
  return guests_.insert(guests_.end(), &guest);
}

bool Occupancy::recognise(Guest& guest) {
  if (guest.evicted || !make_room(known_)) return false;
  --room_of(guest).taken;
  guest.known = true;
  ++room_of(guest).taken;
  return true;
}

void Occupancy::leave(std::list<Guest*>::iterator place) {
  Guest& guest = **place;
  release(guest);
  if (!guest.evicted) --room_of(guest).taken;
  guests_.erase(place);
}

bool Occupancy::hold(Guest& guest, std::size_t bytes) {
  if (guest.evicted) return false;
  // No connection is closed for what does not fit even then.
  std::size_t freed = 0;
  for (const Guest* each : guests_)
    if (each != &guest && !each->evicted && each->waiting && (!guest.waiting || each->since < guest.since))
      freed += each->held;
  if (held_ - freed + bytes > max_held_) return false;
  while (held_ + bytes > max_held_) {
    Guest* victim = nullptr;
    for (Guest* each : guests_) {
      if (each->evicted || !each->waiting || (each->held == 0 && each != &guest)) continue;
      if (victim == nullptr || each->since < victim->since) victim = each;
    }
    if (victim == nullptr || victim == &guest) return false;
    evict(*victim);
  }
  guest.held += bytes;
  held_ += bytes;
  return true;
}

void Occupancy::release(Guest& guest) {
  held_ -= guest.held;
  guest.held = 0;
}

void Occupancy::evict(Guest& guest) {
  guest.evicted = true;
  --room_of(guest).taken;
  ++evictions_;
  release(guest);
  if (guest.stream) guest.stream->close();
}

}  // namespace kube::net
