// The provider's half of a consumer's endpoints: which EndpointSlice a ShadowEndpointSlice makes here. Pure.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/addresses/consumer_addresses.hpp"
#include "core/addresses/own_addresses.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// The most endpoints in all EndpointSlices of one consumer together, because each is an entry in the proxy of every
/// node.
inline constexpr std::size_t max_consumer_endpoints = 10'000;

/// Whether pods of this cluster can be expected to reach the consumer, by its ForeignCluster: the conditions of its API
/// server and of the network, if there are any. Null = the peering has ended, or has not begun.
bool is_reachable(const kube::Object* foreign_cluster);

/// What the plan for a ShadowEndpointSlice depends on beside itself.
struct EndpointSurroundings {
  std::string_view consumer;  ///< whose twin its namespace is; "" = nobody's
  const ConsumerAddresses& addresses;
  const PodPolicy& policy;
  const OwnAddresses& own;
  bool reachable = false;                     ///< is_reachable()
  std::size_t room = max_consumer_endpoints;  ///< endpoints that its other EndpointSlices leave
  /// The address to which this cluster's network maps one of a third cluster with a direct connection to the consumer.
  std::function<std::optional<IpAddress>(const std::string& cluster, const IpAddress& address)> map_direct;
  bool denies_direct = false;  ///< no address of a third cluster is taken, whatever is declared
  /// The ID of this cluster. An endpoint whose node has that name is, as the consumer says, a pod of its own here.
  std::string_view provider = {};
};

namespace endpoint_slice_action {
/// There is nothing to write: the EndpointSlice is as it should be, or it is refused and we have none.
struct Keep {};
/// The object of that name is being deleted already.
struct AwaitEnd {};
/// Remove the live EndpointSlice, which is or was ours and cannot become the wanted one.
struct Remove {
  std::string uid;
};
/// Server-side apply.
struct Apply {
  kube::Object wanted;  ///< bears the UID of the live one, if there is one
};
}  // namespace endpoint_slice_action

/// What is to be done, and what is to be reported and remembered of it.
struct EndpointSlicePlan {
  std::variant<endpoint_slice_action::Keep, endpoint_slice_action::AwaitEnd, endpoint_slice_action::Remove,
               endpoint_slice_action::Apply>
      action;
  std::string refusal;            ///< why there is no EndpointSlice
  std::string left_out;           ///< what is left out, as its annotation says it; "" = nothing
  std::string left_out_words;     ///< the sentence about what is left out
  std::vector<IpAddress> judged;  ///< addresses as they are reached from here, in order: those kept, and those left out
                                  ///< that this cluster's own pods or objects may make good or bad
  std::set<std::string> direct;   ///< third clusters with addresses in the EndpointSlice
  std::size_t endpoints = 0;      ///< how many it has
  bool crowded = false;           ///< it has all there was room for
};

/// Whether an EndpointSlice was made by us and has no controller any more: its ShadowEndpointSlice was deleted with the
/// order to orphan it.
bool is_orphan(const kube::Object& slice);

/// Plans the EndpointSlice of a ShadowEndpointSlice. `live` is the EndpointSlice of that name, null if there is none.
///
/// Of each endpoint the first address counts, as it does for proxies. It is judged after it is mapped: those that are
/// not declared, that this cluster has itself, or that no endpoint can have are left out, and what is in the slice
/// already is not repeated. The address of a running pod that the consumer has in this twin is taken whatever is
/// declared, while nothing else here has it. `serving` and `terminating` stay as they are, readiness also needs a
/// consumer that is reachable, unless the endpoint is such a pod; zone, hints and nodes mean nothing here. Labels by
/// which others take orders, and annotations that do more than describe, do not pass, as with pods.
EndpointSlicePlan plan_endpoint_slice(const kube::Object& shadow, const kube::Object* live,
                                      const EndpointSurroundings& around);

}  // namespace liqo::core::reflection
