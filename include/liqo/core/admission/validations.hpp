// One function for each kind whose objects are validated or completed: what the object, and what it is held against,
// make of the answer. What they are held against is read by the caller.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "liqo/core/admission/review.hpp"

namespace liqo::core::admission {

/// The longest name of a ResourceSlice: with a hash of the consumer it names the user of the slice, which is the value
/// of a label on each of its pods.
inline constexpr std::size_t max_slice_name = 50;

/// ResourceSlice. `namesakes`: keys ("namespace/name") of the local slices in the cluster that have the same name,
/// itself not among them; Nodes are named after slices.
Answer validate_resource_slice(const Request& request, std::span<const std::string> namesakes);

/// Whether the amount of what a consumer asks by has to be looked at: it creates one more.
bool asks_for_more(const Request& request);
/// How much a consumer asks for: a new replica of its ResourceSlices, NamespaceMaps or Renews (`plural`) is refused
/// where there are `most` of that kind already. `have`: how many there are in its tenant namespace.
Answer check_amount(std::string_view plural, std::size_t have, std::int64_t most);

/// What a Tenant is held against.
struct TenantSurroundings {
  bool is_tenant_namespace = false;           ///< the namespace has the label
  std::string namespace_cluster;              ///< whose tenant namespace it is
  std::span<const std::string> in_namespace;  ///< names of the other Tenants of the namespace
  std::span<const std::string> namesakes;     ///< namespaces of the other Tenants of the same name
  std::string decisions;                      ///< kept there from an earlier Tenant
  std::string owned_namespace;  ///< one of others that its ID would make its own (core/namespaces/twin_names.hpp)
};
Answer validate_tenant(const Request& request, const TenantSurroundings& around);
/// Gives a Tenant the label with its cluster ID where it has none, and one that a consumer makes anew the `decisions`
/// of the one before it.
Answer mutate_tenant(const Request& request, std::string_view decisions = "");

/// Gives a ForeignCluster the label with its cluster ID.
Answer mutate_foreign_cluster(const Request& request);

/// NamespaceOffloading: its name, the naming of the twins, which cannot change, and the cluster selector.
Answer validate_namespace_offloading(const Request& request);

/// NamespaceMap: each twin has a name that a namespace can have, and that is not one of Kubernetes' own.
Answer validate_namespace_map(const Request& request);

/// VirtualNode: fills in `createNode` and `disableNetworkCheck`, when it is made as its VkOptionsTemplate says (null =
/// it follows none), later by true and false; and refuses one whose Node would be somebody else's. `node`: the Node of
/// that name, or null where there is none.
Answer mutate_virtual_node(const Request& request, const kube::Object* node,
                           const kube::Object* options_template = nullptr);
/// Whether the creation of a VirtualNode leaves open what its VkOptionsTemplate says.
bool needs_options_template(const Request& request);
Answer validate_virtual_node(const Request& request);

/// Quota. `others`: keys ("namespace/name") of the other Quotas for the same user (escaped).
Answer validate_quota(const Request& request, std::span<const std::string> others);

/// The first mistake in a map of resource names to quantities: no quantity, or a negative one; "" if there is none.
/// `path` is what the sentence calls the map.
std::string check_resources(const json::value* resources, std::string_view path);

}  // namespace liqo::core::admission
