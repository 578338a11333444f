// The owner reference of what a consumer writes into a twin: to the twin's Namespace. Pure.
//
// Tools that remove whatever bears their label and is not in their repository (GitOps) leave alone what has an owner.
// Kubernetes' garbage collector, however, removes at once what names an owner of another UID. So the UID is read live,
// and written only if the provider's admission refuses every other one (core/admission/owners.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The reference that objects in a twin get, from its Namespace as the provider has it now. Nothing if they get none:
/// the Namespace is being deleted, its provider does not check owners, or it has no usable UID.
std::optional<kube::OwnerReference> twin_owner(const kube::Object& twin);

/// Whether the provider of that Namespace refuses what names any other owner.
bool checks_owners(const kube::Object& twin);

/// Whether the object names a Namespace of the owner's name with another UID: a former twin.
bool names_former_twin(const kube::Object& object, const kube::OwnerReference& owner);

/// The `ownerReferences` of an object with this owner and without former twins; nothing if it has them already.
std::optional<kube::json::array> owners_with(const kube::Object& object, const kube::OwnerReference& owner);

/// What the failure of a write that named a twin as owner says about that name.
enum class OwnerDoubt {
  none,     ///< nothing
  gone,     ///< the Namespace is gone or being deleted: its UID does not hold any more
  refused,  ///< the owner was refused
};
OwnerDoubt doubt_owner(const kube::Failure& failure);

}  // namespace liqo::core
