// Finalizers, which keep a deleted object until what has to be done first is done.
#pragma once

#include <optional>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace kube {

/// A merge patch of `metadata.finalizers`; nothing if there is nothing to change. It names the object's UID and
/// resourceVersion, so that it applies only to the state that was looked at.
std::optional<json::object> finalizer_patch(const Object& object, std::string_view finalizer, bool wanted);

}  // namespace kube
