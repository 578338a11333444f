#include "core/peering/replication.hpp"

#include <algorithm>
#include <array>

#include "core/common/difference.hpp"
#include "core/common/meta.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kept_twins.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace labels = api::labels;
namespace annotations = api::annotations;
namespace action = replication_action;

namespace {

constexpr std::size_t max_status = 64 << 10, max_map_status = 512 << 10;
/// The most kept twins for which the status at home says why they are kept, each in a sentence that names claims, as
/// far as that status stays within its bound.
constexpr std::size_t max_reported_twins = 200;
constexpr std::size_t writes_of_answer = 8;

constexpr std::array kinds{api::kinds::namespace_maps, api::kinds::resource_slices, api::kinds::renews};

/// Annotations that the provider sets and removes on the replica, or that mean nothing there.
constexpr std::string_view not_replicated[] = {
    annotations::cordon,         annotations::cordon_tenant, annotations::cordoned_resource, annotations::drain,
    annotations::reflected_keys, annotations::last_applied,  annotations::holds_data,        annotations::gives_up};

bool is_kept_back(std::string_view key) { return std::ranges::find(not_replicated, key) != std::end(not_replicated); }

json::object replica_labels(const kube::Object& local, const ReplicationPeer& peer) {
  json::object kept;
  for (const auto& [key, value] : local.labels())
    if (value.is_string() && key != labels::ownership) kept[key] = value;
  kept[labels::replication] = "false";
  kept[labels::replicated] = "true";
  kept[labels::replication_origin] = peer.local;
  kept[labels::remote_cluster_id] = peer.local;
  return kept;
}

json::object replica_annotations(const kube::Object& local, const json::object& label_map) {
  json::object kept;
  for (const auto& [key, value] : local.annotations())
    if (value.is_string() && !is_kept_back(key)) kept[key] = value;
  const std::string keys = reflected_keys(label_map, kept);
  kept[annotations::reflected_keys] = keys;
  return kept;
}

bool has_finalizer(const kube::Object& local) { return local.has_finalizer(api::finalizers::replicated_object); }

/// Whether this peer may remove the finalizer of an object that is no longer replicated.
bool may_release(const kube::Object& local, const ReplicationPeer& peer) {
  const std::string_view destination = local.label(labels::replication_destination);
  return has_finalizer(local) && (destination.empty() || destination == peer.remote);
}

/// Whether no pods at the provider depend on the replica any more: with it go the Quota, and the identity by which the
/// pods are removed.
bool is_drained(const kube::Resource& kind, const kube::Object& local) {
  return kind != api::kinds::resource_slices || !local.has_finalizer(api::finalizers::resource_slice);
}

/// A spec that asks for what `wanted` asks for, and for the kept twins.
json::object with_kept(const json::object& wanted, std::span<const KeptTwin> kept) {
  json::object spec = wanted;
  for (const KeptTwin& twin : kept) kube::ensure_object(spec, "desiredMapping")[twin.local] = twin.remote;
  return spec;
}

json::object patch_of_replica(const kube::Object& remote, json::object metadata, json::object spec) {
  metadata["uid"] = remote.uid();
  metadata["resourceVersion"] = remote.resource_version();
  json::object patch{{"metadata", std::move(metadata)}};
  if (!spec.empty()) patch["spec"] = std::move(spec);
  return patch;
}

/// Has the replica ask for the kept twins alone.
std::optional<json::object> trim_replica(const kube::Object& remote, std::span<const KeptTwin> kept) {
  json::object spec = difference(remote.spec(), with_kept({}, kept));
  if (spec.empty()) return std::nullopt;
  return patch_of_replica(remote, {}, std::move(spec));
}

ReplicationPlan plan_end(const kube::Resource& kind, const ReplicationView& view, const ReplicationPeer& peer) {
  if (view.local && !view.peer_lost && is_for_peer(*view.local, peer) && !is_drained(kind, *view.local))
    return action::Wait{"its virtual nodes are being drained"};
  const bool release = view.local && may_release(*view.local, peer);
  if (view.peer_lost) {
    if (release) return action::Release{};
    return action::Nothing{};
  }
  if (view.remote && is_replica(*view.remote, peer)) {
    if (!view.remote->is_deleting() && !view.kept.empty())
      return action::Hold{.update = trim_replica(*view.remote, view.kept), .release = release, .restore = !view.local};
    if (!view.remote->is_deleting()) return action::Remove{};
    if (release) return action::AwaitEnd{};
    return action::Wait{"the replica is being deleted"};
  }
  if (release) return action::Release{.confirm_absence = true};
  if (!view.remote_known) return action::Wait{"the provider's objects are not known yet"};
  return action::Nothing{};
}

/// The status that the replica has, with the twins that it lacks for the time being, and why others are kept.
json::object shown_status(const ReplicationView& view) {
  json::object status = view.remote->status();
  json::object& twins = kube::ensure_object(status, "currentMapping");
  for (const api::WantedNamespace& twin : view.missing)
    twins[twin.local] =
        json::object{{"remoteNamespace", twin.remote},
                     {"phase", "CreationLoopBackOff"},
                     {"message", "the provider does not have the namespace at the moment, and is asked for it again"}};
  if (view.kept.empty()) return status;
  std::size_t reported = 0, room = max_map_status - std::min(max_map_status, json::serialize(status).size());
  for (const KeptTwin& twin : view.kept) {
    if (twin.why.empty()) continue;
    json::object shown{{"remoteNamespace", twin.remote}, {"phase", "CreationLoopBackOff"}, {"message", twin.why}};
    const std::size_t size = json::serialize(shown).size() + twin.local.size() + std::string_view(R"("":,)").size();
    // The annotation of the map names the others, too.
    if (reported++ == max_reported_twins || size > room) break;
    room -= size;
    json::object& entry = kube::ensure_object(twins, twin.local);
    entry["message"] = std::move(shown["message"]);
    entry.insert(shown.begin(), shown.end());
  }
  return status;
}

/// The status that comes home, as a merge patch of it; nothing if it is there, or the provider has not evaluated the
/// replica.
std::optional<json::object> home_status(const kube::Resource& kind, const ReplicationView& view) {
  const kube::Object &local = *view.local, &remote = *view.remote;
  if (!is_evaluated(kind, remote)) return std::nullopt;
  json::object status = view.missing.empty() && view.kept.empty() ? difference(local.status(), remote.status())
                                                                  : difference(local.status(), shown_status(view));
  if (status.empty()) return std::nullopt;
  return json::object{{"metadata", json::object{{"uid", local.uid()}, {"resourceVersion", local.resource_version()}}},
                      {"status", std::move(status)}};
}

}  // namespace

std::span<const kube::Resource> replicated_kinds() { return kinds; }

bool is_for_peer(const kube::Object& local, const ReplicationPeer& peer) {
  return peer.local != peer.remote && local.label(labels::replication) == "true" &&
         local.label(labels::replication_destination) == peer.remote && local.label(labels::replicated) != "true" &&
         !local.has_label(labels::replication_origin);
}

bool is_replica(const kube::Object& remote, const ReplicationPeer& peer) {
  return !peer.local.empty() && remote.label(labels::replication_origin) == peer.local;
}

bool is_ready_to_replicate(const kube::Resource& kind, const kube::Object& local) {
  if (kind != api::kinds::resource_slices) return true;
  return !kube::string_at(local.spec(), {"consumerClusterID"}).empty() &&
         !kube::string_at(local.spec(), {"csr"}).empty();
}

bool is_evaluated(const kube::Resource& kind, const kube::Object& remote) {
  if (kind == api::kinds::resource_slices) return !kube::array_at(remote.status(), {"conditions"}).empty();
  if (kind == api::kinds::renews) return !kube::object_at(remote.status(), {"authParams"}).empty();
  // Once answered, the status of a map is empty only if the map wants nothing.
  return !kube::object_at(remote.status(), {"currentMapping"}).empty() ||
         kube::object_at(remote.spec(), {"desiredMapping"}).empty();
}

std::string refuse_status(const kube::Resource& kind, const kube::Object& remote) {
  const std::size_t max = kind == api::kinds::namespace_maps ? max_map_status : max_status;
  const std::size_t size = json::serialize(remote.status()).size();
  if (size <= max) return "";
  return "it has " + std::to_string((size + 1023) >> 10) + " KiB there, and at most " + std::to_string(max >> 10) +
         " KiB come home";
}

std::size_t writes_caused(const kube::Resource& kind, const json::object& patch) {
  if (kind != api::kinds::namespace_maps) return writes_of_answer;
  return 1 + kube::object_at(patch, {"status", "currentMapping"}).size();
}

kube::Object forge_replica(const kube::Resource& kind, const kube::Object& local, const ReplicationPeer& peer) {
  kube::Object replica = kube::Object::make(kind, {peer.remote_namespace, std::string(local.name())});
  json::object label_map = replica_labels(local, peer);
  json::object annotation_map = replica_annotations(local, label_map);
  replica.mutable_metadata()["labels"] = std::move(label_map);
  replica.mutable_metadata()["annotations"] = std::move(annotation_map);
  replica.mutable_spec() = local.spec();
  return replica;
}

std::optional<json::object> update_replica(const kube::Object& local, const kube::Object& remote,
                                           const ReplicationPeer& peer, std::span<const KeptTwin> kept) {
  const json::object label_map = replica_labels(local, peer);
  json::object metadata = metadata_patch(remote, label_map, replica_annotations(local, label_map), false);
  json::object spec =
      kept.empty() ? difference(remote.spec(), local.spec()) : difference(remote.spec(), with_kept(local.spec(), kept));
  if (metadata.empty() && spec.empty()) return std::nullopt;
  return patch_of_replica(remote, std::move(metadata), std::move(spec));
}

ReplicationPlan plan_replication(const kube::Resource& kind, const ReplicationView& view, const ReplicationPeer& peer) {
  if (!view.local_known) return action::Wait{"the objects at home are not known yet"};
  if (!view.local || view.local->is_deleting() || !is_for_peer(*view.local, peer)) return plan_end(kind, view, peer);

  const kube::Object& local = *view.local;
  const bool ready = is_ready_to_replicate(kind, local);
  if (ready && !has_finalizer(local)) return action::Guard{};
  if (!view.remote_known) return action::Wait{"the provider's objects are not known yet"};
  constexpr std::string_view not_ready = "the object is not filled in yet";
  if (!view.remote) {
    if (!ready) return action::Wait{not_ready};
    return action::Create{forge_replica(kind, local, peer)};
  }
  if (!is_replica(*view.remote, peer)) return action::Wait{"the provider has another object of this name"};
  const bool is_ending = view.remote->is_deleting();
  action::Follow follow;
  if (ready && !is_ending) follow.update = update_replica(local, *view.remote, peer, view.kept);
  follow.status = home_status(kind, view);
  if (follow.update || follow.status) return follow;
  if (is_ending) return action::Wait{"the replica is being deleted"};
  if (!ready) return action::Wait{not_ready};
  return action::Nothing{};
}

}  // namespace liqo::core
