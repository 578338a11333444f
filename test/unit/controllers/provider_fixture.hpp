// Provider milan and one pod that rome has ordered there, for tests of changed orders.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>

#include "cluster_fixture.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {

/// The test plays the part of rome; liqod of milan makes the pod "web", with one container "main".
struct ProviderFixture : ClusterFixture {
  /// `resources`: those of the container.
  explicit ProviderFixture(json::object resources = {}) : ClusterFixture("milan") {
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    start(std::move(settings));
    json::object container{{"name", "main"}, {"image", "shop:1"}};
    if (!resources.empty()) container["resources"] = std::move(resources);
    kube::Object shadow = kube::Object::make(api::kinds::shadow_pods, key);
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.mutable_spec()["pod"] = json::object{{"containers", json::array{std::move(container)}}};
    apply(api::kinds::shadow_pods, shadow);
    REQUIRE(reaches([&] { return pod().has_value(); }));
  }
  ~ProviderFixture() { stop(); }

  std::optional<kube::Object> pod() { return find(kube::resources::pods, key); }
  /// Changes rome's ShadowPod.
  void change_order(const std::function<void(json::object& pod_spec)>& how) {
    change(api::kinds::shadow_pods, key, "",
           [&](json::object& next) { how(next["spec"].as_object()["pod"].as_object()); });
  }
  /// How often liqod has written that subresource.
  std::size_t writes_of(std::string_view subresource) const {
    return static_cast<std::size_t>(std::ranges::count_if(server.writes(), [&](const auto& write) {
      return write.actor == link.actor() && write.subresource == subresource;
    }));
  }
  const kube::ObjectKey key{"shop-rome", "web"};
};

}  // namespace liqo::testing
