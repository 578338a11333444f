// Finalizers, by which something is done before an object goes.
#pragma once

#include <optional>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace kube {

/// A merge patch of `metadata.finalizers`; nothing where there is nothing to change. It names the object's UID and
/// resourceVersion, so that it applies only to the state that was looked at.
std::optional<json::object> finalizer_patch(const Object& object, std::string_view finalizer, bool wanted);

}  // namespace kube
