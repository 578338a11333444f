// Whether a server-side apply that was to create an object has changed one that somebody else had created. Pure.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether an object that bears what `manager` has applied was there before. Who made it is one of its managers, and
/// wrote it no later. Those who write to what we have made do so after it was made; what they write of its status says
/// nothing. The object is as an apply or a read of it alone was answered, with its managers.
bool was_there_before(const kube::Object& object, std::string_view manager);

}  // namespace liqo::core
