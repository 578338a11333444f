#include "model/volumes.hpp"

#include <algorithm>

#include "liqo/core/storage/volume.hpp"

namespace liqoctl::model {

namespace {

constexpr std::size_t most_named = 8;

}  // namespace

std::optional<RemoteVolume> remote_volume(const kube::Object& volume) {
  // Also of a retained one whose claim somebody has taken from it: its data would be lost.
  const auto backing = liqo::core::storage::recorded_backing(volume);
  if (!backing || backing->cluster.empty()) return std::nullopt;
  const auto claim = [&](std::string_view key) {
    return std::string(kube::string_at(volume.spec(), {"claimRef", key}));
  };
  return RemoteVolume{.name = std::string(volume.name()),
                      .cluster = backing->cluster,
                      .claim = {claim("namespace"), claim("name")},
                      .claim_uid = claim("uid"),
                      .has_claim = kube::string_at(volume.status(), {"phase"}) != "Released"};
}

std::string describe_remote_volumes(const std::vector<RemoteVolume>& volumes) {
  std::string named;
  for (std::size_t i = 0; i < std::min(volumes.size(), most_named); ++i) {
    const RemoteVolume& one = volumes[i];
    named += (i ? ", " : "") + one.claim.text() + " in " + one.cluster;
    if (!one.has_claim) named += " (deleted, its volume " + one.name + " is retained)";
  }
  if (volumes.size() > most_named) named += " and " + std::to_string(volumes.size() - most_named) + " more";
  return "volumes hold data there, which would be lost: those of the PersistentVolumeClaims " + named +
         ". Save what is needed and delete the claims, or give --delete-volumes";
}

}  // namespace liqoctl::model
