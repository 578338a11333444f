// One function for each kind whose objects are validated or completed. The caller reads the other objects that the
// answer depends on.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// ResourceSlice. `namesakes`: the other local slices in the cluster that have the same name and, if it is to have a
/// VirtualNode, those of the same name in other namespaces, each as "Kind namespace/name". Nodes are named after
/// slices.
Answer validate_resource_slice(const Request& request, std::span<const std::string> namesakes);

/// Whether the request creates an object that `check_amount` has to count.
bool asks_for_more(const Request& request);
/// Bounds the replicas of a consumer's ResourceSlices, NamespaceMaps or Renews (`plural`): a new one is refused if its
/// tenant namespace has `max_amount` of that kind already. `have`: how many it has.
Answer check_amount(std::string_view plural, std::size_t have, std::int64_t max_amount);

/// What the answer for a Tenant depends on.
struct TenantSurroundings {
  bool is_tenant_namespace = false;           ///< the namespace has the label
  std::string namespace_cluster;              ///< its consumer's cluster ID
  std::span<const std::string> in_namespace;  ///< names of the other Tenants of the namespace
  std::span<const std::string> namesakes;     ///< namespaces of the other Tenants of the same name
  std::string decisions;                      ///< kept on the namespace from an earlier Tenant
  std::string owned_namespace;                ///< that of somebody else which the ID would claim (namespace_of_id)
};
/// Tenant: its cluster ID is that of the namespace, which has no other Tenant. Consumers write neither its status nor
/// what its provider decides.
Answer validate_tenant(const Request& request, const TenantSurroundings& around);
/// Gives a Tenant the label with its cluster ID if it has none. A Tenant that a consumer creates again gets the
/// `decisions` of the one before it.
Answer mutate_tenant(const Request& request, std::string_view decisions = "");

/// Gives a ForeignCluster the label with its cluster ID.
Answer mutate_foreign_cluster(const Request& request);

/// NamespaceOffloading: its name, the naming of the twins, which cannot change, and the cluster selector.
Answer validate_namespace_offloading(const Request& request);

/// NamespaceMap: each twin has a name that a namespace can have, and that is not one of Kubernetes' own.
Answer validate_namespace_map(const Request& request);

/// VirtualNode: fills in `createNode` and `disableNetworkCheck`, on CREATE as its VkOptionsTemplate says (null = it
/// follows none), later with true and false.
Answer mutate_virtual_node(const Request& request, const kube::Object* options_template = nullptr);
/// Whether the request creates a VirtualNode that leaves a field to its VkOptionsTemplate.
bool needs_options_template(const Request& request);
/// VirtualNode: its name fits into a label, its amounts are quantities, and its provider stays.
Answer validate_virtual_node(const Request& request);
/// VirtualNode that is to be created: no other owner has a Node of its name. `node`: the Node of that name, null =
/// there is none; one that a VirtualNode of the same cluster left behind is taken over. `namesakes`: keys
/// ("namespace/name") of the VirtualNodes of that name in other namespaces.
Answer check_node_of(const Request& request, const kube::Object* node, std::span<const std::string> namesakes);

/// Quota. `others`: keys ("namespace/name") of the other Quotas for the same user (escaped).
Answer validate_quota(const Request& request, std::span<const std::string> others);

/// The first mistake in a map of resource names to quantities, as `read_resources` finds it; "" if there is none.
/// `path` is the path of the map in the sentence.
std::string check_resources(const json::value* resources, std::string_view path);

}  // namespace liqo::core::admission
