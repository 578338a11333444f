// The volumes of StorageClass liqo: a claim of it, the claim behind it that holds the data, and the volume between
// them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/offloading/context.hpp"

namespace liqo::core::storage {

/// Whether Kubernetes has given the claim to us: it has its data in another cluster, or is to have them there.
bool is_provisioned(const kube::Object& claim);
/// Whether the claim is to get its volume from us now: it is of our class, and the scheduler has chosen a node for it.
bool is_due(const kube::Object& claim, std::string_view storage_class);
/// The name of the volume of a claim.
std::string volume_name(const kube::Object& claim);
/// Whether the claim has been bound to that volume, also where the volume is gone.
bool had_volume(const kube::Object& claim);
/// Whether the volume was made by us for that claim.
bool is_volume_of(const kube::Object& volume, const kube::Object& claim);
/// Whether the volume was made by the Go version for that claim: as ours, but for what it says of the data.
bool is_go_volume_of(const kube::Object& volume, const kube::Object& claim);
/// Whether `backing` was made by us for that claim, whose UID says who it is.
bool is_backing_of(const kube::Object& backing, std::string_view claim_uid);

/// Where the data of a volume is: a claim in this cluster or in a provider's. Recorded on the volume.
struct Backing {
  std::string cluster;  ///< the provider; "" = this cluster
  kube::ObjectKey key;
  std::string uid;
  bool operator==(const Backing&) const = default;
};
/// The name that the claim behind this one has at a provider: its own, but for one that is to take the place of
/// another.
std::string_view name_at_provider(const kube::Object& claim);
/// The volume whose data the claim is to have; "" = it begins empty.
std::string_view volume_to_take(const kube::Object& claim);
/// Whether `volume`, whose claim is gone, is meant for this claim. Of a claim, which anybody may have written, nothing
/// counts here but whose it is.
bool is_given_to(const kube::Object& volume, const kube::Object& claim);
/// What the claim behind the volume says once it is behind `claim`.
kube::json::object backing_notes(const kube::Object& claim);

/// The backing that the volume records; nothing where it records none.
std::optional<Backing> recorded_backing(const kube::Object& volume);
/// The recorded backing of a volume whose name shows that it is ours; else nothing. It is acted on only where the claim
/// behind it agrees (`is_backing_of`).
std::optional<Backing> backing_of(const kube::Object& volume);

/// The cluster that has the data of a volume which the Go version has made for the claim and which records nothing: the
/// provider, "" = this cluster. Nothing where the volume is not one of those.
std::optional<std::string> unrecorded_place(const kube::Object& volume, const kube::Object& claim);
/// Whether the Go version has made `backing` to hold the data of the claim, at the provider of that pair, or in this
/// cluster where there is none.
bool is_unrecorded_backing(const kube::Object& backing, const kube::Object& claim, const ClusterPair* clusters);
/// What a volume says once its backing is recorded on it.
kube::json::object backing_record(const Backing& backing);

/// The claim in a provider's cluster that holds the data of `claim`. `offers` has the provider's classes. Errors
/// (invalid_input): a sentence about what of the claim cannot be followed.
kube::Result<kube::Object> forge_remote_claim(const kube::Object& claim, std::string_view remote_namespace,
                                              const api::VirtualNode& offers, const ForgingContext& context);
/// Likewise in this cluster, for the node that the scheduler has chosen; "" is the default class of the cluster.
kube::Result<kube::Object> forge_real_claim(const kube::Object& claim, std::string_view storage_namespace,
                                            std::string_view real_class);

/// The access modes of the claim's volume: those of the claim, without which Kubernetes would not bind it, and what
/// else the claim behind it is bound with.
kube::json::array volume_modes(const kube::Object& claim, const kube::Object& backing);

/// Where the data of a volume is, and what is there now.
struct ObservedBacking {
  const Backing& recorded;
  const kube::Object& claim;  ///< where it is bound, its capacity is that of the volume
  /// What the claim is bound to, where the data is in this cluster; null where it is at a provider.
  const kube::Object* volume = nullptr;
};
/// The volume of the claim.
kube::Object forge_volume(const kube::Object& claim, const kube::Object& storage_class, const ObservedBacking& backing);

}  // namespace liqo::core::storage
