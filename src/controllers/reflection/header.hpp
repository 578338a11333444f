// The part of objects at home that is watched for reflection: the metadata that decides whether and how they are
// reflected.
// Tested by test/sim/reflection_main.cpp.
#pragma once

#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// Keeps of each object its name, namespace, UID and version, and the annotations that decide how it, or an object that
/// belongs to it, is reflected. Of the annotation `remote-addresses` it keeps the clusters, with blanks between them,
/// or
/// "?" if it names none. All users of this scope share one watch.
kube::InformerScope headers_of(const kube::Resource& resource);

}  // namespace liqo::controllers
