// Makes the objects of commands from their arguments. Pure: sends nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "model/resources.hpp"

namespace liqoctl::model {

using kube::Object;

/// An annotation of namespaces that this program made, which unpeer may delete.
inline constexpr std::string_view made_by = "liqo.io/made-by";
inline constexpr std::string_view made_by_liqoctl = "liqoctl";

/// Errors: Errc::invalid_input for a text that cannot be the name of an object, or is longer than `max_size`.
kube::Result<void> check_name(std::string_view name, std::size_t max_size);
/// Errors: Errc::invalid_input for a text that is not the "namespace/name" of a possible object.
kube::Result<void> check_key(std::string_view key);

/// Several objects as one, as `kubectl get -o json` has them.
json::object forge_list(json::array items);

/// The content of a ResourceSlice.
struct SliceRequest {
  std::string name, ns, provider;
  std::string slice_class = {};  ///< "" = the default class
  json::object resources = {};
  std::optional<bool> create_virtual_node = {};  ///< unset: yes
};
/// The consumer's ResourceSlice: labels of replication, whether a virtual node is wanted, class and resources.
Object forge_resource_slice(const SliceRequest& request);

/// The content of a VirtualNode.
struct VirtualNodeRequest {
  std::string name, ns, provider;
  std::string kubeconfig_secret;
  std::string slice;  ///< "" = made from a Secret alone
  json::object resources;
  std::optional<bool> create_node, disable_network_check;  ///< unset: as the VkOptionsTemplate says
  std::string runtime_class;
  std::string options_template;  ///< "namespace/name", "" = the default
  std::vector<std::string> storage_classes, ingress_classes, load_balancer_classes;  ///< the first is the default
  json::object labels, node_selector;
};
/// The consumer's VirtualNode.
Object forge_virtual_node(const VirtualNodeRequest& request);
/// Why the VirtualNode cannot be made beside others of its name, which would have the same Node: a sentence with the
/// remedy. "" if none of them is in another namespace.
std::string refuse_namesakes(const Object& wanted, const std::vector<Object>& namesakes);

/// Takes over the amounts, classes, labels and selector for nodes from a granted slice.
void take_from_slice(VirtualNodeRequest& request, const Object& slice);

struct OffloadingRequest {
  std::string ns;
  std::string pod_strategy = "LocalAndRemote", mapping_strategy = "DefaultName", remote_name;
  std::vector<std::string> cluster_selectors;  ///< each a list of requirements that must all hold; one list is enough
};
/// The NamespaceOffloading `offloading`. An empty selector takes every virtual node. Errors: Errc::invalid_input for a
/// selector.
kube::Result<Object> forge_namespace_offloading(const OffloadingRequest& request);

/// The terms of the cluster selector of a NamespaceOffloading, each in the form of `--selector`. A term that
/// `--selector` cannot express becomes words of another form.
std::vector<std::string> selectors_of(const Object& offloading);

/// The cluster selector of a NamespaceOffloading as `--selector` takes it, several joined by " or "; "" = every virtual
/// node.
std::string selector_in_words(const Object& offloading);

/// "milan (region=south, tier=gold)", one after the other: virtual nodes, with the labels by which to choose between
/// them.
std::string nodes_in_words(const std::vector<Object>& nodes);

/// The pods that run or will run, except those of DaemonSets, by namespace: "demo (web-1, web-2 and 3 more), shop
/// (db)". "" = there are none.
std::string pods_in_words(const std::vector<Object>& pods);

/// A consumer's policy at its provider (annotation `liqo.io/pod-policy`) that also allows these names of twins, besides
/// the usual ones, which end in `-<consumer>`. Errors: those of a text that is no JSON object.
kube::Result<std::string> with_twin_names(std::string_view policy, std::string_view consumer,
                                          const std::vector<std::string>& names);

/// "k=v" pairs as `--labels` and `--global-labels` take them. Commas may separate several pairs. Errors:
/// Errc::invalid_input.
kube::Result<json::object> pairs(const std::vector<std::string>& given, const std::string& flag);

}  // namespace liqoctl::model
