// Replication of Liqo's own objects from consumer to provider: what is to be done about one object. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "kube/k8s/object.hpp"
#include "liqo/api/namespace_map.hpp"

namespace liqo::core {

/// The two sides of a replication: an object keeps its name, and the local namespace becomes the remote one.
struct ReplicationPeer {
  std::string local, remote;  ///< cluster IDs
  std::string local_namespace, remote_namespace;
};

/// NamespaceMaps, ResourceSlices, Renews: spec, labels and annotations go to the provider, the status comes back.
std::span<const kube::Resource> replicated_kinds();

/// A twin that the replica of a NamespaceMap goes on asking for, though home does not want it.
struct KeptTwin {
  std::string local, remote;
  std::string why;  ///< a sentence for people, "" = nobody has looked yet whether it may go
  bool operator==(const KeptTwin&) const = default;
};

/// One object as the caches of both sides have it; null if a cache has no such object.
struct ReplicationView {
  const kube::Object* local = nullptr;
  const kube::Object* remote = nullptr;
  bool local_known = true, remote_known = true;  ///< whether the cache of that side is complete
  bool peer_lost = false;                        ///< the provider is gone for good: do not wait for it
  /// Of a NamespaceMap: twins that count as troubled at home, though the replica lacks them (`MissingTwins`).
  std::span<const api::WantedNamespace> missing = {};
  /// Of a NamespaceMap: the twins that home does not want and that may not go (`withdrawn_twins`).
  std::span<const KeptTwin> kept = {};
};

namespace replication_action {
/// There is nothing to do on either side.
struct Nothing {};
/// Nothing can be done now; an event brings the object back.
struct Wait {
  std::string_view why;
};
/// Add `crdreplicator.liqo.io/resource` to the local object. Without it nothing is made at the provider.
struct Guard {};
/// POST this replica.
struct Create {
  kube::Object replica;
};
/// Both sides have the object and differ: each takes what the other one decides.
struct Follow {
  std::optional<kube::json::object> update;  ///< merge patch of the replica, with its resourceVersion
  std::optional<kube::json::object> status;  ///< merge patch of the local status, with the local resourceVersion
};
/// DELETE the replica, with its UID.
struct Remove {};
/// Home has no such NamespaceMap any more, and twins hold data: the replica stays and asks for these alone.
struct Hold {
  std::optional<kube::json::object> update;  ///< merge patch of the replica, with its resourceVersion
  bool release = false;                      ///< then remove the finalizer of the local object
  bool restore = false;  ///< then POST a map at home that wants nothing, for people to see what stays
};
/// The replica is being deleted, and the cache shows it for ever if we have lost the right to read there. It is read
/// from time to time, and the finalizer of the local object is removed once it is not found.
struct AwaitEnd {};
/// Remove the finalizer of the local object.
struct Release {
  bool confirm_absence = false;  ///< a read at the provider has to find no replica first: a cache may be late
};
}  // namespace replication_action

/// What is to be done about one object on both sides.
using ReplicationPlan =
    std::variant<replication_action::Nothing, replication_action::Wait, replication_action::Guard,
                 replication_action::Create, replication_action::Follow, replication_action::Remove,
                 replication_action::Hold, replication_action::AwaitEnd, replication_action::Release>;

/// Plans the replication of one object. Never trusts an incomplete cache and never touches a replica of another origin.
/// A replica that the provider has not evaluated yet does not wipe the status at home. The replica of a ResourceSlice
/// that is being deleted stays until its virtual nodes are drained (`resourceslice-virtualnode.liqo.io/finalizer`),
/// unless the provider is lost.
ReplicationPlan plan_replication(const kube::Resource& kind, const ReplicationView& view, const ReplicationPeer& peer);

/// Whether the labels of a local object ask for its replication to this peer. Copies are never copied on.
bool is_for_peer(const kube::Object& local, const ReplicationPeer& peer);
/// Whether an object at the provider is a replica that came from this peer's `local`.
bool is_replica(const kube::Object& remote, const ReplicationPeer& peer);
/// Whether the object has everything that the provider needs (a ResourceSlice: its consumer and its CSR).
bool is_ready_to_replicate(const kube::Resource& kind, const kube::Object& local);
/// Whether the status of a replica shows that the provider has evaluated it.
bool is_evaluated(const kube::Resource& kind, const kube::Object& remote);

/// Why the status of a replica does not come home, a clause; "" = it may. The database at home would have to keep what
/// a provider makes up, so there is a bound: 64 KiB, and 512 KiB of a NamespaceMap (1,000 twins), within which it also
/// says of 200 kept twins why they stay.
std::string refuse_status(const kube::Resource& kind, const kube::Object& remote);
/// How many writes at home a status causes, its own among them. A map causes one for each namespace about which it
/// reports something new. A slice and a Renew cause those of Identity, Secret, VirtualNode, Node and ForeignCluster.
/// `patch` is that of the object at home.
std::size_t writes_caused(const kube::Resource& kind, const kube::json::object& patch);

/// The replica as it is created.
kube::Object forge_replica(const kube::Resource& kind, const kube::Object& local, const ReplicationPeer& peer);
/// A merge patch that makes the replica follow the local object, or nothing. What the provider added to the metadata
/// stays, and so do the kept twins of a NamespaceMap; quantities are compared by value.
std::optional<kube::json::object> update_replica(const kube::Object& local, const kube::Object& remote,
                                                 const ReplicationPeer& peer, std::span<const KeptTwin> kept = {});

}  // namespace liqo::core
