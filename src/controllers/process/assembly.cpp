#include "controllers/process/assembly.hpp"

#include "controllers/namespaces/namespace_map.hpp"
#include "controllers/namespaces/namespace_offloading.hpp"
#include "controllers/namespaces/network_policy_notices.hpp"
#include "controllers/namespaces/outgoing_namespace_map.hpp"
#include "controllers/namespaces/selected_namespaces.hpp"
#include "controllers/namespaces/twin_pod_bounds.hpp"
#include "controllers/nodes/node_failure.hpp"
#include "controllers/offloading/pod_label.hpp"
#include "controllers/offloading/shadow_pod.hpp"
#include "controllers/offloading/unaccounted_pods.hpp"
#include "controllers/offloading/waiting_pods.hpp"
#include "controllers/peering/foreign_cluster.hpp"
#include "controllers/peering/identity.hpp"
#include "controllers/peering/identity_creator.hpp"
#include "controllers/peering/nonce.hpp"
#include "controllers/peering/renew.hpp"
#include "controllers/peering/replicator.hpp"
#include "controllers/peering/tenant.hpp"
#include "controllers/reflection/shadow_endpoint_slice.hpp"
#include "controllers/reflection/stale_addresses.hpp"
#include "controllers/slices/local_resource_slice.hpp"
#include "controllers/slices/slice_grant.hpp"
#include "controllers/slices/slice_identity.hpp"
#include "controllers/slices/virtual_node_creator.hpp"

namespace liqo::controllers {

std::vector<std::unique_ptr<Runnable>> make_controllers(Context context, const ConnectProvider& connect,
                                                        ProviderBudgets& budgets, quota::QuotaLedger* ledger) {
  std::vector<std::unique_ptr<Runnable>> made;
  made.push_back(std::make_unique<ShadowPodController>(context));
  made.push_back(std::make_unique<ShadowEndpointSliceController>(context));
  if (context.settings.nodes.node_failures) made.push_back(std::make_unique<NodeFailureController>(context));
  made.push_back(std::make_unique<UnaccountedPods>(context));
  made.push_back(std::make_unique<OutgoingNamespaceMapController>(context));
  if (context.settings.namespaces.selected_namespaces) made.push_back(std::make_unique<SelectedNamespaces>(context));
  made.push_back(std::make_unique<NamespaceOffloadingController>(context));
  made.push_back(std::make_unique<NetworkPolicyNotices>(context));
  made.push_back(std::make_unique<StaleAddresses>(context));
  made.push_back(std::make_unique<NamespaceMapController>(context));
  made.push_back(std::make_unique<TwinPodBounds>(context));
  made.push_back(std::make_unique<PodLabelController>(context));
  made.push_back(std::make_unique<WaitingPods>(context));
  // Peers.
  auto keys = std::make_unique<ClusterKeys>(context);
  auto namespaces = std::make_unique<TenantNamespaces>(context);
  auto replicator = std::make_unique<Replicator>(connect, *namespaces, budgets, context);
  Replicator& replication = *replicator;
  made.push_back(std::move(replicator));
  made.push_back(std::make_unique<ForeignClusterController>(context, replication));
  made.push_back(std::make_unique<NonceController>(*namespaces, *keys, context));
  made.push_back(std::make_unique<TenantController>(*namespaces, context));
  made.push_back(std::make_unique<RemoteRenewer>(*namespaces, context));
  made.push_back(std::make_unique<IdentityController>(*namespaces, *keys, context));
  made.push_back(std::make_unique<IdentityCreator>(*namespaces, budgets, context));
  made.push_back(std::make_unique<LocalRenewer>(*namespaces, *keys, budgets, context));

  // Slices, from the request to the Quota and the VirtualNode.
  made.push_back(std::make_unique<LocalResourceSliceController>(*namespaces, *keys, context));
  made.push_back(std::make_unique<SliceIdentityController>(*namespaces, context));
  made.push_back(std::make_unique<SliceGrantController>(*namespaces, context, ledger));
  made.push_back(std::make_unique<VirtualNodeCreator>(*namespaces, budgets, context));

  made.push_back(std::move(keys));
  made.push_back(std::move(namespaces));
  return made;
}

}  // namespace liqo::controllers
