// The lookups for forging a ShadowEndpointSlice, from the state of the simulated home cluster.
#pragma once

#include <optional>

#include "cluster.hpp"
#include "core/reflection/home_endpoints.hpp"

namespace liqo::sim {

/// Answers from the server's own state, not from a cache. There is no network between the clusters: addresses are
/// reached as they are called.
class EndpointsAtHome : public core::reflection::HomeEndpoints {
 public:
  explicit EndpointsAtHome(Cluster& home) : home_(home) {}

  std::string cluster_of(std::string_view node) const override;
  std::optional<core::IpAddress> outward(std::string_view, const core::IpAddress& address) const override {
    return address;
  }
  std::optional<kube::Object> service(std::string_view ns, std::string_view name) const override;
  bool is_known() const override { return true; }

 private:
  Cluster& home_;
};

/// Answers for one moment, at which this Service existed, or none. It is used only for selections, so it knows no
/// addresses.
class EndpointsOfThen final : public core::reflection::HomeEndpoints {
 public:
  explicit EndpointsOfThen(Tree service) : service_(std::move(service)) {}

  std::string cluster_of(std::string_view) const override { return {}; }
  std::optional<core::IpAddress> outward(std::string_view, const core::IpAddress& address) const override {
    return address;
  }
  std::optional<kube::Object> service(std::string_view, std::string_view) const override {
    return service_ ? std::optional<kube::Object>(*service_) : std::nullopt;
  }
  bool is_known() const override { return true; }

 private:
  Tree service_;
};

}  // namespace liqo::sim
