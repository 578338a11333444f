// Whether a provider takes new pods through a virtual node, as far as that is known at home.
#pragma once

#include <string>

#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether a ShadowPod was refused for lack of room, and not for what the pod is like: its quota is full, cordoned or
/// gone. In the words of our version and of the Go version.
bool is_for_lack_of_room(const kube::Failure& refusal);
/// Whether it was refused because the twin, or our rights in it, are gone: for a moment, where they are made anew, or
/// for long, where a provider of the Go version has drained us.
bool is_for_lack_of_rights(const kube::Failure& refusal);

/// Why the Node of a slice takes no new pods, as one word for its taint; "" = it does. `slice` may be null (a
/// VirtualNode without one). `no_room`: the smallest of the pods that wait has been refused for lack of room.
std::string why_closed(const kube::Object* slice, bool no_room);

}  // namespace liqo::core
