#include "core/storage/remote_data.hpp"

#include <ranges>
#include <set>

#include "core/storage/volume.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core::storage {
namespace {

namespace annotations = api::annotations;
using kube::string_at;

constexpr std::size_t max_named = 8;

std::string words_of(const RemoteData& data) {
  const std::string name = data.claim.name.empty() ? "(none, volume " + data.volume + ")" : data.claim.text();
  const bool is_retained = !data.has_claim && !data.claim.name.empty();
  return name + " in " + data.cluster +
         (is_retained ? " (deleted, its volume " + data.volume + " is retained)" : std::string());
}

}  // namespace

std::optional<RemoteData> data_of_volume(const kube::Object& volume) {
  const auto claim = [&](std::string_view key) { return std::string(string_at(volume.spec(), {"claimRef", key})); };
  const bool is_retained = string_at(volume.spec(), {"persistentVolumeReclaimPolicy"}) != "Delete";
  RemoteData data{.cluster = {},
                  .twin = {},
                  .claim = {claim("namespace"), claim("name")},
                  .claim_uid = claim("uid"),
                  .volume = std::string(volume.name()),
                  .has_claim = string_at(volume.status(), {"phase"}) != "Released" && !claim("uid").empty(),
                  .outlasts = is_retained};
  if (auto backing = recorded_backing(volume)) {
    data.cluster = std::move(backing->cluster);
    data.twin = std::move(backing->key.ns);
  } else if (volume.annotation(annotations::provisioned_by) == api::storage_provisioner) {
    data.cluster = cluster_by_affinity(volume);
    if (!data.has_claim && !is_retained) return std::nullopt;
    data.outlasts = true;
  }
  // An administrator may have taken a retained volume from its claim to give it to another one. The record alone then
  // says where the data is.
  if (data.cluster.empty() || (data.claim.ns.empty() && data.twin.empty())) return std::nullopt;
  return data;
}

std::optional<RemoteData> data_of_claim(const kube::Object& claim) {
  const std::string_view cluster = claim.annotation(annotations::backing_cluster);
  auto backing = kube::ObjectKey::parse(claim.annotation(annotations::backing_claim));
  // A claim that is bound to another volume has no data where the annotations say. A claim without liqod's finalizer
  // has not been provisioned.
  const bool is_begun =
      string_at(claim.spec(), {"volumeName"}).empty() && claim.has_finalizer(api::finalizers::storage_provisioning);
  const bool is_ours = is_begun || had_volume(claim);
  if (cluster.empty() || !backing || !is_ours) return std::nullopt;
  return RemoteData{.cluster = std::string(cluster),
                    .twin = std::move(backing->ns),
                    .claim = claim.key(),
                    .claim_uid = std::string(claim.uid()),
                    .volume = {},
                    .has_claim = true,
                    .outlasts = false};
}

std::vector<RemoteData> each_once(std::vector<RemoteData> of_volumes, std::vector<RemoteData> of_claims) {
  std::set<std::string, std::less<>> known;
  for (const RemoteData& one : of_volumes)
    if (!one.claim_uid.empty()) known.insert(one.claim_uid);
  for (RemoteData& one : of_claims)
    if (!known.contains(one.claim_uid)) of_volumes.push_back(std::move(one));
  return of_volumes;
}

std::string in_words(std::span<const RemoteData> data) {
  return (data.size() == 1 ? "the PersistentVolumeClaim " : "the PersistentVolumeClaims ") +
         kube::join_some(data | std::views::transform(words_of), max_named);
}

}  // namespace liqo::core::storage
