// Which data of claims of class liqo is in other clusters, read from the objects at home. It is lost when its twin
// namespace is removed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core::storage {

/// The data of one claim.
struct RemoteData {
  std::string cluster;
  std::string twin;        ///< the namespace there; "" = not recorded, as on volumes of the Go version
  kube::ObjectKey claim;   ///< at home; empty if a retained volume has no claim
  std::string claim_uid;   ///< "" = the volume does not say
  std::string volume;      ///< the PersistentVolume at home; "" = there is none yet
  bool has_claim = false;  ///< false: the claim is gone and the data is still there
  bool outlasts = false;   ///< the PersistentVolume stays when its claim is deleted
  bool operator==(const RemoteData&) const = default;
};

/// The data of a PersistentVolume, also of a retained one whose claim or namespace is gone. A volume of the Go version
/// counts until its data is to be deleted, because nothing else keeps its twin. Nothing if the data is not in another
/// cluster.
std::optional<RemoteData> data_of_volume(const kube::Object& volume);
/// The data of a claim whose provisioning at a provider has begun; it may not have its PersistentVolume yet.
std::optional<RemoteData> data_of_claim(const kube::Object& claim);
/// The data of volumes, and that of claims which no volume has already.
std::vector<RemoteData> each_once(std::vector<RemoteData> of_volumes, std::vector<RemoteData> of_claims);

/// "the PersistentVolumeClaim shop/a in milan", or "the PersistentVolumeClaims shop/a in milan, shop/b in turin and 3
/// more", of at least one.
std::string in_words(std::span<const RemoteData> data);

}  // namespace liqo::core::storage
