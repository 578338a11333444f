// Watches the objects at home that decide which endpoints one provider gets, once they are needed.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/addresses/peer_addresses.hpp"
#include "core/reflection/home_endpoints.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Watches virtual nodes, IP objects, and the annotations of Services. Its owner passes it the network to the provider.
/// One thread.
class HomeEndpointWatch final : public core::reflection::HomeEndpoints {
 public:
  /// `concerns` returns whether a namespace is reflected. `changed` is called with a namespace whose endpoints may have
  /// changed, "" = all namespaces. Neither may suspend. `declared_ranges`: the CIDRs of this cluster's pods, as its
  /// administrator has configured them.
  HomeEndpointWatch(kube::InformerSet& home, const std::string& declared_ranges,
                    std::function<bool(const std::string& ns)> concerns,
                    std::function<void(const std::string& ns)> changed);

  /// Begins to watch, unless it does already.
  void start();
  /// Sets the Configurations of the provider in its tenant namespace here.
  void set_network(std::span<const kube::Object> configurations);
  /// Sets how the addresses of the provider's pods are shown here.
  void set_shown(const core::PeerAddresses& shown);

  std::string cluster_of(std::string_view node) const override;
  std::optional<core::IpAddress> outward(std::string_view ns, const core::IpAddress& address) const override;
  std::optional<core::IpAddress> at_provider(const core::IpAddress& address) const override {
    return shown_.original_of(address);
  }
  std::optional<kube::Object> service(std::string_view ns, std::string_view name) const override;
  bool is_known() const override;

 private:
  void take_node(const kube::Change& node);
  void take_service(const kube::Change& service);
  void take_ip(const kube::Change& ip);

  kube::InformerSet& home_;
  std::vector<core::Cidr> declared_;
  std::function<bool(const std::string& ns)> concerns_;
  std::function<void(const std::string& ns)> changed_;
  std::optional<core::reflection::OutwardAddresses> addresses_;
  core::PeerAddresses shown_;
  kube::InformerHandle nodes_, ips_, services_;
  std::map<std::string, std::string, std::less<>> clusters_;  ///< by virtual node
  /// The annotations of Services, and the addresses that IP objects assign. They include namespaces that are not
  /// reflected yet, because the removal of something that existed before must be noticed.
  std::map<kube::ObjectKey, std::string> said_, assigned_;
};

}  // namespace liqo::controllers
