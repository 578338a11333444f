#include "liqo/controllers/assembly.hpp"

#include "liqo/controllers/foreign_cluster.hpp"
#include "liqo/controllers/identity.hpp"
#include "liqo/controllers/local_resource_slice.hpp"
#include "liqo/controllers/namespace_map.hpp"
#include "liqo/controllers/namespace_offloading.hpp"
#include "liqo/controllers/node_failure.hpp"
#include "liqo/controllers/nonce.hpp"
#include "liqo/controllers/outgoing_namespace_map.hpp"
#include "liqo/controllers/pod_status.hpp"
#include "liqo/controllers/remote_resource_slice.hpp"
#include "liqo/controllers/renew.hpp"
#include "liqo/controllers/replicator.hpp"
#include "liqo/controllers/selected_namespaces.hpp"
#include "liqo/controllers/shadow_endpoint_slice.hpp"
#include "liqo/controllers/shadow_pod.hpp"
#include "liqo/controllers/slice_grant.hpp"
#include "liqo/controllers/tenant.hpp"
#include "liqo/controllers/twin_pod_bounds.hpp"
#include "liqo/controllers/unaccounted_pods.hpp"
#include "liqo/controllers/virtual_node_creator.hpp"

namespace liqo::controllers {

std::vector<std::unique_ptr<Runnable>> make_controllers(Context context, const ConnectProvider& connect) {
  std::vector<std::unique_ptr<Runnable>> made;
  made.push_back(std::make_unique<ShadowPodController>(context));
  made.push_back(std::make_unique<ShadowEndpointSliceController>(context));
  if (context.settings.node_failures) made.push_back(std::make_unique<NodeFailureController>(context));
  made.push_back(std::make_unique<UnaccountedPods>(context));
  made.push_back(std::make_unique<OutgoingNamespaceMapController>(context));
  if (context.settings.selected_namespaces) made.push_back(std::make_unique<SelectedNamespaces>(context));
  made.push_back(std::make_unique<NamespaceOffloadingController>(context));
  made.push_back(std::make_unique<NamespaceMapController>(context));
  made.push_back(std::make_unique<TwinPodBounds>(context));
  made.push_back(std::make_unique<PodStatusController>(context));
  // Peers; the others go by these two.
  auto keys = std::make_unique<ClusterKeys>(context);
  auto namespaces = std::make_unique<TenantNamespaces>(context);
  auto replicator = std::make_unique<Replicator>(connect, *namespaces, context);
  Replicator& replication = *replicator;
  made.push_back(std::move(replicator));
  made.push_back(std::make_unique<ForeignClusterController>(context, replication));
  made.push_back(std::make_unique<NonceController>(*namespaces, *keys, context));
  made.push_back(std::make_unique<TenantController>(*namespaces, context));
  made.push_back(std::make_unique<RemoteRenewer>(*namespaces, context));
  made.push_back(std::make_unique<IdentityController>(*namespaces, *keys, context));
  made.push_back(std::make_unique<IdentityCreator>(*namespaces, context));
  made.push_back(std::make_unique<LocalRenewer>(*namespaces, *keys, context));

  // Slices, from the request to the Quota and the VirtualNode.
  made.push_back(std::make_unique<LocalResourceSliceController>(*namespaces, *keys, context));
  made.push_back(std::make_unique<RemoteResourceSliceController>(*namespaces, context));
  made.push_back(std::make_unique<SliceGrantController>(*namespaces, context));
  made.push_back(std::make_unique<VirtualNodeCreator>(*namespaces, context));

  made.push_back(std::move(keys));
  made.push_back(std::move(namespaces));
  return made;
}

}  // namespace liqo::controllers
