// Which addresses belong to this cluster: those of its pods, Services and nodes, and the ranges from which they come.
// Tested by test/unit/core/reflection/endpoint_slice_plan_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/ip.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The addresses and ranges that one object holds: a Pod those of its status until it has ended; a Service its cluster,
/// external and load-balancer addresses; a Node its addresses and the ranges of its pods; a ServiceCIDR its ranges.
/// Empty for null.
struct HeldAddresses {
  std::vector<IpAddress> addresses;
  std::vector<Cidr> ranges;
  /// The twin namespace, if the object is a running pod that a consumer has here with addresses of its own. "" for all
  /// others, also for a pod in the network of its node.
  std::string twin = {};

  static HeldAddresses of_pod(const kube::Object* pod);
  static HeldAddresses of_service(const kube::Object* service);
  static HeldAddresses of_node(const kube::Object* node);
  static HeldAddresses of_service_cidr(const kube::Object* cidr);
  bool operator==(const HeldAddresses&) const = default;
};

/// The addresses of all objects of this cluster together.
class OwnAddresses {
 public:
  /// The addresses for which the result of contain() or twin_of() may have changed by set().
  struct Change {
    std::vector<IpAddress> addresses;
    std::set<std::string> twins;  ///< the twins that twin_of() has named for one of them, or names now
    bool any = false;             ///< ranges have changed, so this may be any address
    bool is_empty() const { return addresses.empty() && !any; }
  };

  /// `declared` are ranges that belong to the cluster whatever its objects say.
  explicit OwnAddresses(std::vector<Cidr> declared) : declared_(std::move(declared)) { merge(); }

  /// Records what an object holds now; `now` is empty if the object is gone. `kind` distinguishes objects with the same
  /// key.
  Change set(std::string_view kind, const kube::ObjectKey& key, HeldAddresses now);
  /// Whether the address belongs to this cluster: an object holds it, or a range has it.
  bool contain(const IpAddress& address) const;
  /// The twin namespace whose running pod has the address, if no other object holds it; "" = there is none. The result
  /// is valid until set() is called.
  std::string_view twin_of(const IpAddress& address) const;

 private:
  using Number = std::pair<bool, std::array<std::uint8_t, 16>>;  ///< sorts addresses by family, then by bytes
  static Number number(const IpAddress& address) { return {address.v6, address.bytes}; }
  void hold(const HeldAddresses& held);
  void release(const HeldAddresses& held);
  void merge();

  std::vector<Cidr> declared_;
  std::map<std::pair<std::string, kube::ObjectKey>, HeldAddresses> held_;
  std::map<Number, std::size_t> addresses_;  ///< and how many objects hold each
  /// Those of consumers' pods, and how many pods of which twin hold each.
  std::map<Number, std::map<std::string, std::size_t>> twins_;
  std::vector<Cidr> ranges_;  ///< declared and held ones, sorted and without overlap
};

}  // namespace liqo::core
