// Which of several objects for one thing counts.
#pragma once

#include <utility>

#include "kube/k8s/object.hpp"

namespace liqo::controllers {

/// Whether `one` is the older of both; of two of one age the first by name is.
inline bool is_older(const kube::Object& one, const kube::Object& other) {
  return std::pair(one.creation_timestamp(), one.name()) < std::pair(other.creation_timestamp(), other.name());
}

}  // namespace liqo::controllers
