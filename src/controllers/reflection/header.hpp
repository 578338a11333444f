// What is watched of objects at home that are, or may be, reflected: their metadata, and of these what decides.
// Tested by test/sim/reflection_main.cpp.
#pragma once

#include "kube/runtime/informer.hpp"

namespace liqo::reflector {

/// Of each object name, namespace, UID and version, and the annotations by which it, or what belongs to it, is
/// reflected. Whoever watches a kind so shares one watch.
kube::InformerScope headers_of(const kube::Resource& resource);

}  // namespace liqo::reflector
