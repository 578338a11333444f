// The addresses of a Service's endpoints as a provider reaches them, worked out by the consumer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/ip.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core::reflection {

/// The addresses at which one provider reaches addresses of this cluster, or those that this cluster reaches. A value.
///
/// Guarantees: if there is a network between the two (a Configuration), an IP object gives a single address another
/// one, and pods of this cluster are reached as they are called here, because the provider maps their ranges. Nothing
/// else is reached. Without such a network nothing is known here: every address is sent, and the provider takes those
/// that its administrator has declared.
class OutwardAddresses {
 public:
  OutwardAddresses() = default;
  /// `configurations` are those of the provider in its tenant namespace here, `declared` the ranges of this cluster's
  /// pods as its administrator named them.
  static OutwardAddresses of(std::span<const kube::Object> configurations, std::span<const Cidr> declared);

  /// The address by which the provider reaches `address`; nullopt if it cannot. `assigned` is what the IP object for
  /// the address says, "" = nothing yet; nullopt: there is no such object.
  std::optional<IpAddress> outward(const IpAddress& address, std::optional<std::string_view> assigned) const;
  /// Whether there is a network between the two.
  bool has_network() const { return has_network_; }
  bool operator==(const OutwardAddresses&) const = default;

 private:
  bool has_network_ = false;
  std::vector<Cidr> own_;
};

/// What forging a ShadowEndpointSlice looks up beside the EndpointSlice. Answers from caches.
class HomeEndpoints {
 public:
  virtual ~HomeEndpoints() = default;
  /// The ID of the cluster for which a node stands; "" = for none, or there is no such node.
  virtual std::string cluster_of(std::string_view node) const = 0;
  /// The address by which the provider reaches what is called `address` in a namespace of this cluster; nullopt if it
  /// cannot.
  virtual std::optional<IpAddress> outward(std::string_view ns, const IpAddress& address) const = 0;
  /// The address that a pod of the provider has there if its address is shown here as this one; nullopt if no pod's is.
  virtual std::optional<IpAddress> at_provider(const IpAddress&) const { return std::nullopt; }
  /// A Service, of which only annotations need be there; nullopt if there is none.
  virtual std::optional<kube::Object> service(std::string_view ns, std::string_view name) const = 0;
  /// Whether all that is asked for has been read.
  virtual bool is_known() const = 0;
};

}  // namespace liqo::core::reflection
