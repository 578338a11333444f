// Which addresses a provider's pods may show at home: what this cluster's administrator declared, never what the
// provider says.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/addresses/ip.hpp"

namespace liqo::core {

/// What is declared here about the pods of one provider. A value; equal ones show equal addresses.
class PeerAddresses {
 public:
  enum class Basis {
    undeclared,  ///< nothing is declared: no address is shown
    invalid,     ///< what is declared cannot be read, or not used: no address is shown
    none,        ///< declared to be none
    declared,    ///< ranges in the annotation `liqo.io/remote-pod-cidrs` of the ForeignCluster
    mapped,      ///< a network Configuration alone
    unchecked,   ///< the peering is older than declarations: every address is shown
  };

  /// `foreign_cluster` bears the annotation; `configurations` and `ips` are those of the peer's tenant namespace, which
  /// the network module or a person of this cluster wrote. An address that an IP object names is shown as the one that
  /// was assigned to it; one in a range of the Configuration is mapped; one in a declared range is shown as it is.
  static PeerAddresses of(const kube::Object& foreign_cluster, std::span<const kube::Object> configurations,
                          std::span<const kube::Object> ips);

  Basis basis() const { return basis_; }
  /// Why nothing is shown, or from where; one sentence for people.
  const std::string& words() const { return words_; }
  /// The address under which home shows `address`; nullopt where it is to be left out, also if it is none that a pod of
  /// another cluster can have.
  std::optional<IpAddress> shown(std::string_view address) const;
  /// Whether addresses are left out for a reason that stands nowhere else: they contradict the declaration.
  bool tells_left_out() const { return basis_ == Basis::declared || basis_ == Basis::mapped; }

  bool operator==(const PeerAddresses&) const = default;

 private:
  std::optional<IpAddress> find(const IpAddress& address) const;

  Basis basis_ = Basis::undeclared;
  std::vector<Cidr> ranges_;
  IpMapping mapping_;
  std::map<std::string, std::string> assigned_;  ///< of IP objects: `spec.ip` to `status.ip`, "" until it is assigned
  std::string words_;
};

}  // namespace liqo::core
