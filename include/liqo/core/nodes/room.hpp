// Whether a provider takes new pods through a virtual node, as known at home.
#pragma once

#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether a ShadowPod was refused because its Quota is full, cordoned or gone, and not for its contents. Knows the
/// words of this version and of the Go version.
bool is_for_lack_of_room(const kube::Failure& refusal);
/// Whether a ShadowPod was refused because the twin or our rights in it are gone. That passes where they are created
/// again, and lasts where a provider of the Go version has drained us.
bool is_for_lack_of_rights(const kube::Failure& refusal);

/// Why the Node of a slice takes no new pods.
enum class Closed {
  no,               ///< it takes them
  denied,           ///< the provider has denied the slice, and what it granted before does not go on
  cordoned,         ///< the provider takes no new pods of the slice; those that run go on
  nothing_granted,  ///< the provider grants no cpu or no memory at present; what runs goes on
  full,             ///< the smallest waiting pod was refused for lack of room
};

/// Why a Node is closed. `slice` is null for a VirtualNode without one. `no_room`: the smallest waiting pod was refused
/// for lack of room.
Closed why_closed(const kube::Object* slice, bool no_room);
/// The value of the taint of a closed Node (`api::closed_taint`); "" for one that takes new pods.
std::string_view closed_word(Closed why);

}  // namespace liqo::core
