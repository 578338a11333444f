// Replication of Liqo's own objects from consumer to provider: what is to be done about one object. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The two sides of a replication: an object keeps its name, and the local namespace becomes the remote one.
struct ReplicationPeer {
  std::string local, remote;  ///< cluster IDs
  std::string local_namespace, remote_namespace;
};

/// NamespaceMaps, ResourceSlices, Renews: spec, labels and annotations go to the provider, the status comes back.
std::span<const kube::Resource> replicated_kinds();

/// One object as the caches of both sides have it; null where a cache has no such object.
struct ReplicationView {
  const kube::Object* local = nullptr;
  const kube::Object* remote = nullptr;
  bool local_known = true, remote_known = true;  ///< whether the cache of that side is complete
  bool peer_lost = false;                        ///< the provider is gone for good: do not wait for it
};

/// What is to be done on both sides. Several parts may be due together; they are done in the order of the fields.
struct ReplicationPlan {
  enum class Finalizer { keep, add, remove };
  /// `crdreplicator.liqo.io/resource` of the local object. Without it nothing is made at the provider.
  Finalizer finalizer = Finalizer::keep;
  /// With `Finalizer::remove`: before the finalizer is removed, a read at the provider has to find no replica, because
  /// a cache may be late. Without it: the cache shows a replica that is being deleted, and shows it for ever where we
  /// have lost the right to read there. The replica is then read from time to time, and the finalizer goes once it is
  /// not found.
  bool confirm_absence = false;
  std::optional<kube::Object> create;        ///< POST this replica
  std::optional<kube::json::object> update;  ///< merge patch of the replica, with its resourceVersion
  bool remove = false;                       ///< DELETE the replica, with its UID
  std::optional<kube::json::object> status;  ///< merge patch of the local status, with the local resourceVersion
  /// Why the plan is not complete; "" = it is.
  std::string waiting_for;
};

/// Never trusts an incomplete cache and never touches a replica of another origin. A replica that the provider has not
/// evaluated yet does not wipe the status at home. The replica of a ResourceSlice that is being deleted stays until its
/// virtual nodes are drained (`resourceslice-virtualnode.liqo.io/finalizer`), unless the provider is lost.
ReplicationPlan plan_replication(const kube::Resource& kind, const ReplicationView& view, const ReplicationPeer& peer);

/// Whether the labels of a local object ask for its replication to this peer. Copies are never copied on.
bool is_for_peer(const kube::Object& local, const ReplicationPeer& peer);
/// Whether an object at the provider is a replica that came from this peer's `local`.
bool is_replica(const kube::Object& remote, const ReplicationPeer& peer);
/// Whether the object has everything that the provider needs (a ResourceSlice: its consumer and its CSR).
bool is_ready_to_replicate(const kube::Resource& kind, const kube::Object& local);
/// Whether the status of a replica shows that the provider has evaluated it.
bool is_evaluated(const kube::Resource& kind, const kube::Object& remote);

/// The replica as it is created.
kube::Object forge_replica(const kube::Resource& kind, const kube::Object& local, const ReplicationPeer& peer);
/// A merge patch that makes the replica follow the local object, or nothing. What the provider added to the metadata
/// stays; quantities are compared by value.
std::optional<kube::json::object> update_replica(const kube::Object& local, const kube::Object& remote,
                                                 const ReplicationPeer& peer);

}  // namespace liqo::core
