// Which addresses the endpoints of a consumer's Services may have in this cluster, its provider. This cluster's
// administrator and its network decide that, never the consumer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/ip.hpp"
#include "core/policy/pod_policy.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The objects of this cluster that declare a consumer's addresses.
struct AddressDeclarations {
  const kube::Result<PodPolicy>& policy;
  const kube::Object* foreign_cluster = nullptr;  ///< null = there is none
  std::span<const kube::Object> configurations;   ///< of the consumer, in its tenant namespace here
};

/// What is declared here about the endpoints of one consumer. A value: equal values decide equally.
///
/// Guarantees: an address that the consumer's network Configuration maps is replaced by the address at which this
/// cluster reaches it. An address in a declared range stays as it is. Ranges are declared by `endpointCIDRs` in the
/// consumer's policy or, if that is not set, by the annotation `liqo.io/remote-pod-cidrs` of its ForeignCluster. A
/// declaration without any range forbids every address, also those that the network maps. Without a declaration and a
/// Configuration no address is allowed.
///
/// Failures: a declaration that cannot be understood forbids every address, and words() says why.
class ConsumerAddresses {
 public:
  /// Reads the declarations about the consumer; its ID and its tenant namespace here are for the words. A declaration
  /// that cannot be understood forbids every address.
  static ConsumerAddresses of(std::string_view consumer, std::string_view tenant_namespace,
                              const AddressDeclarations& declarations);

  /// The address at which this cluster reaches what the consumer calls `address`; nullopt if it is to be left out. The
  /// caller checks whether the address is one of this cluster's own (OwnAddresses).
  std::optional<IpAddress> reached(const IpAddress& address) const;
  /// Whether an address as this cluster reaches it is in a declared range.
  bool declares(const IpAddress& address) const;
  /// Whether an endpoint may have an address as this cluster reaches it.
  bool may_have(const IpAddress& address) const { return declares(address) || mapping_.reaches(address); }
  /// The address to which this cluster's network maps an address of the consumer's cluster; nullopt if it maps none.
  /// For endpoints of another consumer whose pods run in that cluster.
  std::optional<IpAddress> mapped(const IpAddress& address) const { return mapping_.find(address); }
  /// Which addresses are allowed, or why none is, in one sentence for people of both clusters.
  const std::string& words() const { return words_; }

  bool operator==(const ConsumerAddresses&) const = default;

 private:
  std::vector<Cidr> ranges_;
  IpMapping mapping_;
  bool forbids_ = false;  ///< no address is allowed, not even one that the network maps
  std::string words_;
};

}  // namespace liqo::core
