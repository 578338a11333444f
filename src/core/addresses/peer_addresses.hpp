// Which addresses of a provider's pods are shown at home. This cluster's administrator and its network decide that,
// never the provider.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/ip.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// What is declared here about the pods of one provider. A value: equal values show equal addresses.
class PeerAddresses {
 public:
  enum class Basis {
    undeclared,  ///< nothing is declared: only addresses that IP objects name are shown
    invalid,     ///< what is declared cannot be read or used: no address is shown
    none,        ///< the annotation says "none": no address is shown
    declared,    ///< ranges in the annotation `liqo.io/remote-pod-cidrs` of the ForeignCluster
    mapped,      ///< a network Configuration alone
    unchecked,   ///< the peering is older than declarations: every address is shown
  };

  /// `foreign_cluster` bears the annotation; `configurations` and `ips` are those of the peer's tenant namespace, which
  /// the network module or an administrator of this cluster wrote. An address that an IP object names is shown as the
  /// address assigned to it, an address in a range of the Configuration as it is mapped, and an address in a declared
  /// range as it is.
  static PeerAddresses of(const kube::Object& foreign_cluster, std::span<const kube::Object> configurations,
                          std::span<const kube::Object> ips);

  Basis basis() const { return basis_; }
  /// Which addresses are shown, or why none is; one sentence for people.
  const std::string& words() const { return words_; }
  /// The address that is shown at home in place of `address`; nullopt if none is, also if no pod of another cluster can
  /// have it (`IpAddress::is_special`).
  std::optional<IpAddress> shown(std::string_view address) const;
  /// The address that a pod of the provider has there if its address is shown here as this one; nullopt if nothing is
  /// declared of it. An address is declared by an IP object, by a Configuration, or by ranges, and not by the age of
  /// the peering.
  std::optional<IpAddress> original_of(const IpAddress& shown) const;
  /// Whether an address that is left out is worth an Event: it contradicts what is declared, and nothing else reports
  /// it.
  bool reports_left_out() const { return basis_ == Basis::declared || basis_ == Basis::mapped; }

  bool operator==(const PeerAddresses&) const = default;

 private:
  std::optional<IpAddress> find(const IpAddress& address) const;

  Basis basis_ = Basis::undeclared;
  std::vector<Cidr> ranges_;
  IpMapping mapping_;
  std::map<std::string, std::string> assigned_;  ///< `spec.ip` of IP objects to `status.ip`; "" until it is assigned
  std::string words_;
};

}  // namespace liqo::core
