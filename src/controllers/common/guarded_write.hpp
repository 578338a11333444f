// Writes that fail if their object has changed since the decision.
#pragma once

#include <string>

#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// A merge patch with UID and version of `live` as preconditions: the server answers 409 if it has another state.
std::string guarded_patch(const kube::Object& live, kube::json::object changes);

/// The object as `informer` has it now, including our own writes; `known` if the cache has another object of that name,
/// or none.
kube::Object latest_of(const kube::Informer& informer, kube::Object known);

}  // namespace liqo::controllers
