// Which of several objects for one thing counts.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "kube/runtime/stored_objects.hpp"

namespace liqo::controllers {

/// Whether `one` is the older of both; of two of one age the first by name is.
inline bool is_older(const kube::Object& one, const kube::Object& other) {
  return std::pair(one.creation_timestamp(), one.name()) < std::pair(other.creation_timestamp(), other.name());
}

/// The oldest of the objects for which `counts` answers true; nothing if there is none.
template <std::predicate<const kube::Object&> Counts>
std::optional<kube::Object> oldest_of(const kube::StoredObjects& objects, Counts counts) {
  std::optional<kube::Object> oldest;
  for (kube::Object& object : objects)
    if (counts(object) && (!oldest || is_older(object, *oldest))) oldest = std::move(object);
  return oldest;
}

}  // namespace liqo::controllers
