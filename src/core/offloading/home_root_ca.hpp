// The root CA of home in the places where a pod names that of its cluster.
// Tested by test/unit/core/offloading/token_audiences_test.cpp.
#pragma once

#include "core/common/forging_context.hpp"

namespace liqo::core {

/// Makes ConfigMap volumes and the environment of containers that name `kube-root-ca.crt` name the copy of home's in
/// the twin. For pods that talk to home's API server: they verify it by this CA, wherever they have it from.
void name_home_root_ca(kube::json::object& pod_spec, const ForgingContext& ctx);

}  // namespace liqo::core
