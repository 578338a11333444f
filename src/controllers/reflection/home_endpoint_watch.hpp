// What decides at home about the endpoints that one provider is told of, watched from when it is needed.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/reflection/home_endpoints.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::controllers {

/// Watches virtual nodes, IP objects, and the annotations of Services; told of the network to the provider by its
/// owner. One thread.
class HomeEndpointWatch final : public core::HomeEndpoints {
 public:
  /// `concerns` says whether a namespace is reflected. `changed` is called with a namespace whose answers may have
  /// changed, "" = with all. Neither may suspend. `declared_ranges`: of this cluster's pods, as its administrator named
  /// them.
  HomeEndpointWatch(kube::InformerSet& home, const std::string& declared_ranges,
                    std::function<bool(const std::string& ns)> concerns,
                    std::function<void(const std::string& ns)> changed);

  /// Begins to watch, unless it does.
  void start();
  /// The Configurations of the provider in its tenant namespace here.
  void set_network(std::span<const kube::Object> configurations);

  std::string cluster_of(std::string_view node) const override;
  std::optional<core::IpAddress> outward(std::string_view ns, const core::IpAddress& address) const override;
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
  std::optional<core::OutwardAddresses> addresses_;
  kube::InformerHandle nodes_, ips_, services_;
  std::map<std::string, std::string, std::less<>> clusters_;  ///< by virtual node
  /// What Services say, and what IP objects assign, also in namespaces that are not reflected yet: the end of what was
  /// there before must be noticed.
  std::map<kube::ObjectKey, std::string> said_, assigned_;
};

}  // namespace liqo::controllers
