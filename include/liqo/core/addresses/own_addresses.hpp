// Which addresses this cluster has itself: those of its pods, Services and nodes, and the ranges that it gives them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kube/k8s/object.hpp"
#include "liqo/core/addresses/ip.hpp"

namespace liqo::core {

/// What one object holds. Pods on the nodes of the cluster, until they have ended; cluster, external and load-balancer
/// addresses of Services; addresses of Nodes and the ranges of their pods; the ranges of a ServiceCIDR. Empty for null.
struct HeldAddresses {
  std::vector<IpAddress> addresses;
  std::vector<Cidr> ranges;

  static HeldAddresses of_pod(const kube::Object* pod);
  static HeldAddresses of_service(const kube::Object* service);
  static HeldAddresses of_node(const kube::Object* node);
  static HeldAddresses of_service_cidr(const kube::Object* cidr);
  bool operator==(const HeldAddresses&) const = default;
};

/// The sum of them.
class OwnAddresses {
 public:
  /// For which addresses contain() may answer otherwise since a change.
  struct Change {
    std::vector<IpAddress> addresses;
    bool any = false;  ///< for any: ranges have changed
    bool is_empty() const { return addresses.empty() && !any; }
  };

  /// `declared` are ranges that belong to the cluster whatever its objects say.
  explicit OwnAddresses(std::vector<Cidr> declared) : declared_(std::move(declared)) { merge(); }

  /// Takes what an object holds now; nothing where it is gone. `kind` tells objects of the same key apart.
  Change set(std::string_view kind, const kube::ObjectKey& key, HeldAddresses now);
  bool contain(const IpAddress& address) const;

 private:
  using Number = std::pair<bool, std::array<std::uint8_t, 16>>;  ///< an address that has an order
  static Number number(const IpAddress& address) { return {address.v6, address.bytes}; }
  void merge();

  std::vector<Cidr> declared_;
  std::map<std::pair<std::string, kube::ObjectKey>, HeldAddresses> held_;
  std::map<Number, std::size_t> addresses_;  ///< by how many they are held
  std::vector<Cidr> ranges_;                 ///< of all, in order and apart from each other
};

}  // namespace liqo::core
