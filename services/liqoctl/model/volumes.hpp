// Volumes of StorageClass liqo whose data is in other clusters, and would go with the twins. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// One volume, and the claim that it was made for.
struct RemoteVolume {
  std::string name, cluster;
  kube::ObjectKey claim;
  std::string claim_uid;
  bool has_claim = false;  ///< the claim is there; else the volume was retained
  bool operator==(const RemoteVolume&) const = default;
};

/// What it says, where it is a volume of that class in another cluster.
std::optional<RemoteVolume> remote_volume(const kube::Object& volume);

/// Why these, of which there is at least one, stand in the way, and what to do about it. Many are counted.
std::string describe_remote_volumes(const std::vector<RemoteVolume>& volumes);

}  // namespace liqoctl::model
