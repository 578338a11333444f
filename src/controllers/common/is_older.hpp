// Chooses the oldest of several objects for one thing.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "kube/runtime/stored_objects.hpp"

namespace liqo::controllers {

/// Whether `one` is the older of the two; of two of the same age, the first by name.
inline bool is_older(const kube::Object& one, const kube::Object& other) {
  return std::pair(one.creation_timestamp(), one.name()) < std::pair(other.creation_timestamp(), other.name());
}

/// The oldest of the objects for which `counts` returns true; nothing if there is no such object.
template <std::predicate<const kube::Object&> Counts>
std::optional<kube::Object> oldest_of(const kube::StoredObjects& objects, Counts counts) {
  std::optional<kube::Object> oldest;
  for (kube::Object& object : objects)
    if (counts(object) && (!oldest || is_older(object, *oldest))) oldest = std::move(object);
  return oldest;
}

}  // namespace liqo::controllers
