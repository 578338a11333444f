// Clusters that peer: the objects of milan, a provider, about its consumer rome, and those of rome about milan.
#pragma once

#include <string>

#include "command_world.hpp"
#include "liqo/api/kinds.hpp"

namespace liqoctl::test {

namespace kinds = liqo::api::kinds;
namespace resources = kube::resources;

inline const kube::ObjectKey tenant_of_rome{"liqo-tenant-rome", "rome"};
/// The slice of rome, as milan has it.
inline const kube::ObjectKey slice_of_rome{"liqo-tenant-rome", "milan"};
/// A slice that rome requests from milan.
inline const kube::ObjectKey pool{"liqo-tenant-milan", "pool"};
inline const kube::ObjectKey deployment_of_liqod{"liqo", "liqod"};

/// milan has denied its consumer's slice, and ignores one in the name of turin.
inline void add_consumer_rome(TestCluster& milan) {
  milan.add_tenant_namespace("rome");
  milan.add(kinds::tenants, tenant_of_rome, R"({"spec": {"clusterID": "rome", "tenantCondition": "Active"}})");
  milan.add(kinds::resource_slices, slice_of_rome, R"({"metadata": {"labels": {"liqo.io/replicated": "true"}},
      "spec": {"consumerClusterID": "rome"}, "status": {"conditions": [{"type": "Resources", "status": "Denied"}]}})");
  milan.add(kinds::resource_slices, {slice_of_rome.ns, "strange"},
            R"({"metadata": {"labels": {"liqo.io/replicated": "true"}}, "spec": {"consumerClusterID": "turin"},
      "status": {"conditions": [{"type": "Resources", "status": "Accepted"}]}})");
}

/// rome has credentials at milan, and no slice yet.
inline void add_credentials_at_milan(TestCluster& rome) {
  const std::string ns = rome.add_tenant_namespace("milan");
  rome.add(
      resources::secrets, {ns, "kubeconfig-controlplane-milan"},
      R"({"metadata": {"labels": {"liqo.io/remote-cluster-id": "milan", "liqo.io/identity-type": "ControlPlane"}}})");
}

inline void add_peer(TestCluster& cluster, const std::string& id, const std::string& status = "{}") {
  cluster.add(kinds::foreign_clusters, {"", id},
              R"({"spec": {"clusterID": ")" + id + R"("}, "status": )" + status + "}");
}

/// milan does not respond to rome.
inline void silence_milan(TestCluster& rome) {
  add_peer(rome, "milan", R"({"conditions": [{"type": "APIServerStatus", "status": "Error",
      "lastTransitionTime": "2026-01-01T06:28:52Z"}]})");
}

/// Adds the slice `pool`, with the labels of one that is to be replicated to milan.
inline void add_pool(TestCluster& rome, std::string_view rest) {
  rome.add(kinds::resource_slices, pool, R"({"metadata": {"labels": {"liqo.io/remote-cluster-id": "milan",
      "liqo.io/replication": "true", "liqo.io/remoteID": "milan"}}})");
  rome.change(kinds::resource_slices, pool, rest);
}

/// milan denies the slice `pool`.
inline void deny_pool(TestCluster& rome) {
  rome.change(kinds::resource_slices, pool,
              R"({"status": {"conditions": [{"type": "Resources", "status": "Denied", "message": "no room"}]}})");
}

/// Scales liqod there to none.
inline void stop_liqod(TestCluster& cluster) {
  cluster.add(kinds::deployments, deployment_of_liqod, R"({"spec": {"replicas": 0}})");
}

inline constexpr const char* no_liqod = "is scaled to none: kubectl scale -n liqo deployment/liqod --replicas=2";

}  // namespace liqoctl::test
