// The volumes of StorageClass liqo: a claim of that class, the backing claim that holds its data, and the
// PersistentVolume between them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/forging_context.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::storage {

/// Whether Kubernetes names us as the provisioner of the claim, which has its data, or is to have it, in a backing
/// claim.
bool is_provisioned(const kube::Object& claim);
/// Whether the claim is to get its volume from us now: it is of our class, and the scheduler has chosen a node for it.
bool is_due(const kube::Object& claim, std::string_view storage_class);
/// Whether the claim has its volume, as Kubernetes says in its status.
bool is_bound(const kube::Object& claim);
/// The name of the volume of a claim.
std::string volume_name(const kube::Object& claim);
/// Whether the claim has been bound to that volume, also if the volume is gone.
bool had_volume(const kube::Object& claim);
/// Whether the volume was made by us for that claim.
bool is_volume_of(const kube::Object& volume, const kube::Object& claim);
/// Whether the Go version made the volume for that claim: it is as ours, but does not record its backing.
bool is_go_volume_of(const kube::Object& volume, const kube::Object& claim);
/// Whether we made `backing` for the claim with that UID.
bool is_backing_of(const kube::Object& backing, std::string_view claim_uid);

/// Where the data of a volume is: a claim in this cluster or in a provider's. Recorded on the volume.
struct Backing {
  std::string cluster;  ///< the provider; "" = this cluster
  kube::ObjectKey key;
  std::string uid;
  bool operator==(const Backing&) const = default;
};
/// The name of the backing claim at a provider: that of the claim, or that of the claim whose place it is to take.
std::string_view name_at_provider(const kube::Object& claim);
/// The volume whose data the claim is to take over; "" = it begins empty.
std::string_view volume_to_take(const kube::Object& claim);
/// Whether a released volume is meant for this claim. Only the volume decides, because only administrators write
/// volumes: of the claim, its namespace and name count.
bool is_given_to(const kube::Object& volume, const kube::Object& claim);
/// The merge patch by which a backing claim notes that it stands behind `claim`.
kube::json::object backing_notes(const kube::Object& claim);

/// The backing that the volume records; nothing if it records none.
std::optional<Backing> recorded_backing(const kube::Object& volume);
/// The recorded backing of a volume whose name shows that it is ours; else nothing. Callers act on it only if the
/// backing claim agrees (`is_backing_of`).
std::optional<Backing> backing_of(const kube::Object& volume);

/// The cluster with the data of a volume of the Go version, which names it only in its node affinity; "" = none.
std::string_view cluster_by_affinity(const kube::Object& volume);
/// The cluster with the data of a volume that the Go version made for the claim and that records no backing; "" = this
/// cluster. Nothing for other volumes.
std::optional<std::string> unrecorded_place(const kube::Object& volume, const kube::Object& claim);
/// Whether the Go version made `backing` to hold the data of the claim: at the provider of `clusters`, or in this
/// cluster if that is null.
bool is_unrecorded_backing(const kube::Object& backing, const kube::Object& claim, const ClusterPair* clusters);
/// Whether we made `backing` at the provider of `clusters` for a claim of the same namespace and name that is not this
/// one. If nothing at home stands for that claim any more, as after a restore, its data is this claim's.
bool is_stray_backing(const kube::Object& backing, const kube::Object& claim, const ClusterPair& clusters);
/// The merge patch that records the backing on a volume.
kube::json::object backing_record(const Backing& backing);

/// The claim in a provider's cluster that holds the data of `claim`. `offers` has the provider's classes. Errors:
/// Errc::invalid_input with a sentence about the part of the claim that cannot be followed.
kube::Result<kube::Object> forge_remote_claim(const kube::Object& claim, std::string_view remote_namespace,
                                              const api::VirtualNode& offers, const ForgingContext& context);
/// The backing claim in this cluster, for the node that the scheduler has chosen; `real_class` "" = the cluster's
/// default class.
kube::Result<kube::Object> forge_real_claim(const kube::Object& claim, std::string_view storage_namespace,
                                            std::string_view real_class);

/// The access modes of the claim's volume: those of the claim, without which Kubernetes would not bind it, and further
/// ones with which the backing claim is bound.
kube::json::array volume_modes(const kube::Object& claim, const kube::Object& backing);

/// The recorded backing of a volume, and the backing claim as it is now.
struct ObservedBacking {
  const Backing& recorded;
  const kube::Object& claim;  ///< the backing claim; once it is bound, its capacity is that of the volume
  /// The volume of the backing claim, if the data is in this cluster; null if it is at a provider.
  const kube::Object* volume = nullptr;
};
/// The volume of the claim.
kube::Object forge_volume(const kube::Object& claim, const kube::Object& storage_class, const ObservedBacking& backing);

}  // namespace liqo::core::storage
