// The source component of Events.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The source component of an Event about an object of that kind, by its reason. Events of reflection have the names of
/// the Go version, `liqo-<kind>-reflection`, and those about tokens `liqo-serviceaccount-reflection`. All others are
/// from `liqod`.
std::string event_source(const kube::Resource& resource, std::string_view reason);

}  // namespace liqo::core
