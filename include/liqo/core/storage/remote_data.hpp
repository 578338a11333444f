// Data of claims of class liqo that is in other clusters, as the objects at home tell of it. Where the twin namespace
// goes that has it, it is lost.
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
  std::string twin;        ///< the namespace there; "" = nobody has noted it, as of volumes of the Go version
  kube::ObjectKey claim;   ///< at home; empty where the volume is retained and free
  std::string claim_uid;   ///< "" = the volume does not say which of that name
  std::string volume;      ///< the PersistentVolume at home; "" = there is none yet
  bool has_claim = false;  ///< the claim is there; else the data outlasted it
  bool outlasts = false;   ///< the PersistentVolume stays where its claim is deleted
  bool operator==(const RemoteData&) const = default;
};

/// What a PersistentVolume says, also a retained one whose claim or namespace is gone. Those of the Go version count,
/// until their data is meant to be deleted: nobody else follows them. Nothing where the data is not in another cluster.
std::optional<RemoteData> data_of_volume(const kube::Object& volume);
/// Likewise a claim that was begun there, and may not have its PersistentVolume yet.
std::optional<RemoteData> data_of_claim(const kube::Object& claim);
/// Adds what claims say to what volumes say, which knows better.
std::vector<RemoteData> each_once(std::vector<RemoteData> of_volumes, std::vector<RemoteData> of_claims);

/// "the PersistentVolumeClaims shop/a in milan, shop/b in turin and 3 more", of at least one.
std::string in_words(std::span<const RemoteData> data);

}  // namespace liqo::core::storage
