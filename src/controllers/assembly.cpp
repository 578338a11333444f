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
#include "liqo/controllers/quota.hpp"
#include "liqo/controllers/remote_resource_slice.hpp"
#include "liqo/controllers/renew.hpp"
#include "liqo/controllers/replicator.hpp"
#include "liqo/controllers/shadow_endpoint_slice.hpp"
#include "liqo/controllers/shadow_pod.hpp"
#include "liqo/controllers/tenant.hpp"
#include "liqo/controllers/twin_pod_bounds.hpp"
#include "liqo/controllers/unaccounted_pods.hpp"
#include "liqo/controllers/virtual_node_creator.hpp"

namespace liqo::controllers {

std::vector<std::unique_ptr<Runnable>> make_controllers(const asio::any_io_executor& executor, Context context,
                                                        const ConnectProvider& connect) {
  std::vector<std::unique_ptr<Runnable>> made;
  made.push_back(std::make_unique<ShadowPodController>(executor, context));
  made.push_back(std::make_unique<ShadowEndpointSliceController>(executor, context));
  if (context.settings.node_failures) made.push_back(std::make_unique<NodeFailureController>(executor, context));
  made.push_back(std::make_unique<UnaccountedPods>(executor, context));
  made.push_back(std::make_unique<OutgoingNamespaceMapController>(executor, context));
  made.push_back(std::make_unique<NamespaceOffloadingController>(executor, context));
  made.push_back(std::make_unique<NamespaceMapController>(executor, context));
  made.push_back(std::make_unique<TwinPodBounds>(executor, context));
  made.push_back(std::make_unique<PodStatusController>(executor, context));
  // Peers; the others go by these two.
  auto keys = std::make_unique<ClusterKeys>(executor, context);
  auto namespaces = std::make_unique<TenantNamespaces>(executor, context);
  auto replicator = std::make_unique<Replicator>(executor, connect, *namespaces, context);
  Replicator& replication = *replicator;
  made.push_back(std::move(replicator));
  made.push_back(std::make_unique<ForeignClusterController>(executor, context, replication));
  made.push_back(std::make_unique<NonceController>(executor, *namespaces, *keys, context));
  made.push_back(std::make_unique<TenantController>(executor, *namespaces, context));
  made.push_back(std::make_unique<RemoteRenewer>(executor, *namespaces, context));
  made.push_back(std::make_unique<IdentityController>(executor, *namespaces, *keys, context));
  made.push_back(std::make_unique<IdentityCreator>(executor, *namespaces, context));
  made.push_back(std::make_unique<LocalRenewer>(executor, *namespaces, *keys, context));

  // Slices, from the request to the Quota and the VirtualNode.
  made.push_back(std::make_unique<LocalResourceSliceController>(executor, *namespaces, *keys, context));
  made.push_back(std::make_unique<RemoteResourceSliceController>(executor, *namespaces, context));
  made.push_back(std::make_unique<QuotaController>(executor, *namespaces, context));
  made.push_back(std::make_unique<VirtualNodeCreator>(executor, *namespaces, context));

  made.push_back(std::move(keys));
  made.push_back(std::move(namespaces));
  return made;
}

}  // namespace liqo::controllers
