// In which namespace Liqo is at a provider, as the ForeignCluster here says it. Pure.
// Tested by test/unit/liqoctl/model/peer/remote_namespace_test.cpp.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// The namespace in which liqod looks where nothing else is noted.
inline constexpr std::string_view usual_remote_namespace = "liqo";

/// Notes it on the ForeignCluster; nothing has to be noted of the usual one. Answers whether that changes anything.
bool note_remote_namespace(kube::Object& foreign_cluster, std::string_view ns);

}  // namespace liqoctl::model
