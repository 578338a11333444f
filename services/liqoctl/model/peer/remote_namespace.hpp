// The namespace of Liqo at a provider, as the ForeignCluster here notes it. Pure.
// Tested by test/unit/liqoctl/model/peer/remote_namespace_test.cpp.
#pragma once

#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// The namespace in which liqod looks if no other is noted.
inline constexpr std::string_view usual_remote_namespace = "liqo";

/// Notes it on the ForeignCluster. The usual one needs no note. Returns whether that changed anything.
bool note_remote_namespace(kube::Object& foreign_cluster, std::string_view ns);

}  // namespace liqoctl::model
