// Whether a provider takes new pods through a virtual node, as known at home.
#pragma once

#include <string>
#include <string_view>

#include "core/common/resources.hpp"
#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// Whether a ShadowPod was refused because its Quota is full, cordoned or gone, and not for its contents. Knows the
/// words of this version and of the Go version.
bool is_for_lack_of_room(const kube::Failure& refusal);
/// Whether a ShadowPod was refused because the twin or our rights in it are gone. That passes if they are created
/// again, and lasts if a provider of the Go version has drained us.
bool is_for_lack_of_rights(const kube::Failure& refusal);

/// What the scheduler at home sets aside for the pod, with the pod itself as one of `pods`; nothing if its amounts
/// cannot be read.
Resources scheduled_demand(const kube::Object& pod);
/// Why a node with so much could not hold the demand if nothing else were on it: the first amount that is too large, as
/// a clause; "" = it could. A resource that the node does not name is passed over: its provider refuses that in words
/// that are not about room.
std::string why_too_large(const Resources& demand, const Resources& allocatable);

/// Why the Node of a slice takes no new pods.
enum class Closed {
  no,               ///< it takes them
  denied,           ///< the provider has denied the slice, and what it granted before does not go on
  cordoned,         ///< the provider takes no new pods of the slice; running ones go on
  nothing_granted,  ///< the provider grants no cpu or no memory at present; running pods go on
  silent,           ///< nobody has led Liqo there for a while; running pods go on
  full,             ///< a waiting pod was refused for lack of room that what is granted could hold
};

/// Why a Node is closed. `silent`: nobody leads Liqo at the provider. `slice` is null for a VirtualNode without one.
/// `no_room`: a pod that the Node could hold if nothing else were on it (`why_too_large`) was refused for lack of room.
/// One that it could never hold says nothing about smaller ones.
Closed why_closed(const kube::Object* slice, bool no_room, bool silent = false);
/// The value of the taint of a closed Node (`api::closed_taint`); "" for one that takes new pods.
std::string_view closed_word(Closed why);

}  // namespace liqo::core
