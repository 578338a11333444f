// Which addresses the endpoints of a consumer's Services may have in this cluster, which is its provider: what this
// cluster's administrator and network say, never what the consumer says.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/addresses/ip.hpp"
#include "liqo/core/admission/pod_policy.hpp"

namespace liqo::core {

/// The objects of this cluster that say something of a consumer's addresses.
struct AddressDeclarations {
  const kube::Result<admission::PodPolicy>& policy;
  const kube::Object* foreign_cluster = nullptr;  ///< null = there is none
  std::span<const kube::Object> configurations;   ///< of the consumer, in its tenant namespace here
};

/// What is declared here about the endpoints of one consumer. A value; equal ones judge equally.
///
/// An address that the network Configuration of the consumer maps is taken as it is reached from here, and one that
/// lies in a declared range as it is. Ranges are declared by `endpointCIDRs` in the consumer's policy; where that is
/// not set, by the annotation `liqo.io/remote-pod-cidrs` of its ForeignCluster, which says the same of its pods. A
/// declaration without any range forbids all. Where nothing is declared and no network maps, no address is taken.
class ConsumerAddresses {
 public:
  static ConsumerAddresses of(std::string_view consumer, std::string_view tenant_namespace,
                              const AddressDeclarations& declarations);

  /// The address at which this cluster reaches what the consumer calls `address`; nullopt where it is to be left out.
  /// Not looked at is whether this cluster has it itself.
  std::optional<IpAddress> reached(const IpAddress& address) const;
  /// Whether the address, as it is reached from here, is in a declared range.
  bool declares(const IpAddress& address) const;
  /// Whether an endpoint may have the address, which is as it is reached from here.
  bool may_have(const IpAddress& address) const { return declares(address) || mapping_.reaches(address); }
  /// As this cluster's network maps an address of that cluster, for endpoints of others that are there; nullopt where
  /// it does not.
  std::optional<IpAddress> mapped(const IpAddress& address) const { return mapping_.find(address); }
  /// What may be, or why nothing may, in one sentence for people of both clusters.
  const std::string& words() const { return words_; }

  bool operator==(const ConsumerAddresses&) const = default;

 private:
  std::vector<Cidr> ranges_;
  IpMapping mapping_;
  bool forbids_ = false;  ///< also what the network maps
  std::string words_;
};

}  // namespace liqo::core
