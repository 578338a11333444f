// Whether a server-side apply that was to create an object has changed one that somebody else had created. Pure.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// Whether an object existed before `manager` applied to it, by its managedFields: it has another manager, which wrote
/// it no later than `manager` did, or `manager` wrote it only after its creation. Whoever writes to an object of ours
/// does so after we created it; writes of its status do not count. `object` is the answer to an apply or a get, with
/// its managedFields.
bool was_there_before(const kube::Object& object, std::string_view manager);

}  // namespace liqo::core::reflection
