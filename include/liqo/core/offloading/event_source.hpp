// Who an Event is from.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The source component of an Event about an object of that kind, by its reason: what reflection tells bears the names
/// of the Go version, `liqo-<kind>-reflection`, and that of tokens is `liqo-serviceaccount-reflection`. All else is
/// from `liqod`.
std::string event_source(const kube::Resource& resource, std::string_view reason);

}  // namespace liqo::core
