// The difference of two objects as a JSON merge patch (RFC 7386).
#pragma once

#include "kube/base/json.hpp"

namespace liqo::core {

/// The merge patch that makes `have` into `want`; empty where they are equal. Arrays are replaced as a whole.
kube::json::object merge_patch(const kube::json::object& have, const kube::json::object& want);

}  // namespace liqo::core
