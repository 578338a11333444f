// EndpointSlices reflected from rome to milan, in the world of reflector_fixture.hpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/reflection/home_endpoints.hpp"
#include "liqo/api/kinds.hpp"
#include "reflector_fixture.hpp"

namespace liqo::controllers {

/// Rome's knowledge of its addresses.
struct TestHome final : core::reflection::HomeEndpoints {
  bool known = true;
  std::set<std::string> unreachable;

  std::string cluster_of(std::string_view) const override { return ""; }
  std::optional<core::IpAddress> outward(std::string_view, const core::IpAddress& address) const override {
    return unreachable.contains(address.text()) ? std::nullopt : std::optional(address);
  }
  std::optional<kube::Object> service(std::string_view, std::string_view) const override { return std::nullopt; }
  bool is_known() const override { return known; }
};

/// EndpointSlices of rome, whose copies are ShadowEndpointSlices.
struct Endpoints {
  Endpoints() : world("EndpointSlice", forging_with(home)) {
    world.rome.serve(api::kinds::endpoint_slices);
    world.milan.serve(api::kinds::shadow_endpoint_slices);
  }
  static core::ForgingContext forging_with(const TestHome& home) {
    core::ForgingContext out = forging();
    out.endpoints = &home;
    return out;
  }
  void create(std::string_view name, std::string_view address) {
    REQUIRE(world.rome.create(api::kinds::endpoint_slices,
                              {{"metadata", json::object{{"name", name}, {"namespace", "shop"}}},
                               {"addressType", "IPv4"},
                               {"endpoints", json::array{json::object{{"addresses", json::array{address}}}}}},
                              actor));
  }
  void set_hostname(std::string_view hostname) {
    REQUIRE(world.rome.update(
        {api::kinds::endpoint_slices, {"shop", "web"}},
        [&](json::object& tree) { tree["endpoints"].as_array()[0].as_object()["hostname"] = hostname; }, actor));
  }
  const json::value* endpoint() {
    copy = world.milan.get(api::kinds::shadow_endpoint_slices, {"shop-rome", "web"});
    const json::array& all = copy ? kube::array_at(*copy, {"spec", "template", "endpoints"}) : nothing;
    return all.empty() ? nullptr : &all.front();
  }

  TestHome home;
  World world;
  kube::testing::Tree copy;
  const json::array nothing;
};

}  // namespace liqo::controllers
