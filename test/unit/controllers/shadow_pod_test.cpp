// The provider's half of offloading, where a pod cannot be made.
#include <doctest/doctest.h>

#include "cluster_fixture.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

const kube::ObjectKey key{"shop-rome", "web"};

/// Provider milan, to whom rome gives orders.
struct Provider : ClusterFixture {
  Provider() : ClusterFixture("milan") {
    controllers::Settings settings;
    settings.enforce_resources = false;
    start(std::move(settings));
  }
  ~Provider() { stop(); }

  void order() {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, key);
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "milan");
    shadow.mutable_spec()["pod"] =
        json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    apply(kinds::shadow_pods, shadow);
  }
  std::optional<kube::Object> pod() { return find(resources::pods, key); }
  std::string told() { return std::string(find(kinds::shadow_pods, key)->annotation(api::annotations::refused)); }
  std::size_t writes_to(std::string_view plural) const {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      count += write.actor == link.actor() && write.plural == plural && write.subresource.empty();
    return count;
  }
};

}  // namespace

TEST_CASE("a ShadowPod tells why its pod is not made, once, and no longer than that") {
  Provider milan;
  kube::Object taken = kube::Object::make(resources::pods, key);
  taken.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "other:1"}}};
  milan.apply(resources::pods, taken);
  milan.order();
  REQUIRE(milan.reaches([&] { return !milan.told().empty(); }));
  CHECK(milan.told() == "a pod of this name exists that was not made for this ShadowPod");
  milan.pass(10min);
  CHECK(milan.writes_to("shadowpods") == 1);
  (void)milan.server.remove(resources::pods, key, {.grace_period_seconds = 0}, "operator");
  REQUIRE(milan.reaches([&] { return milan.pod() && milan.pod()->controller(); }, 2min));
  REQUIRE(milan.reaches([&] { return milan.told().empty(); }));
  CHECK_FALSE(milan.pod()->has_annotation(api::annotations::refused));
  milan.pass(5min);
  CHECK(milan.writes_to("shadowpods") == 2);
  CHECK(milan.writes_to("pods") <= 2 + 25);
}

TEST_CASE("an order that nobody refuses costs no write of the ShadowPod") {
  Provider milan;
  milan.order();
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
  milan.pass(5min);
  CHECK(milan.writes_to("shadowpods") == 0);
  CHECK(milan.writes_to("pods") == 1);
}

}  // namespace liqo::testing
