// The key by which a controller works for many objects at once.
#pragma once

#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// The key that no object has. It stands for all those that wait for the same thing, or that one turn of the loop is
/// too short for.
inline kube::WorkKey key_of_many() { return {}; }

}  // namespace liqo::controllers
