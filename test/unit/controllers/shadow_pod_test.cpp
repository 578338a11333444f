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

  void order(json::array aliases = {}) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, key);
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "milan");
    shadow.mutable_spec()["pod"] =
        json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    if (!aliases.empty()) shadow.mutable_spec()["pod"].as_object()["hostAliases"] = std::move(aliases);
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

TEST_CASE(
    "the host alias of the API server at home gets the address by which the network reaches it, once it is known") {
  Provider milan;
  milan.server.serve(kinds::configurations);
  for (const auto& [name, is_tenant] : {std::pair{"liqo-tenant-rome", true}, std::pair{"shop-rome", false}}) {
    kube::Object ns = kube::Object::make(resources::namespaces, {"", name});
    ns.set_label(api::labels::remote_cluster_id, "rome");
    if (is_tenant) ns.set_label(api::labels::tenant_namespace, "true");
    milan.apply(resources::namespaces, ns);
  }
  const kube::ObjectKey network{"liqo-tenant-rome", "rome"};
  const auto ranges = [](std::string_view range) {
    const json::array one{json::value(range)};
    return json::object{{"cidr", json::object{{"pod", one}}}};
  };
  kube::Object configuration = kube::Object::make(kinds::configurations, network);
  configuration.set_label(api::labels::remote_cluster_id, "rome");
  configuration.mutable_spec()["remote"] = ranges("10.70.0.0/16");
  milan.apply(kinds::configurations, configuration);
  milan.pass(1min);
  const json::object alias{{"ip", "10.70.0.3"}, {"hostnames", json::array{"kubernetes.default"}}};
  SUBCASE("but not for an address that is in none of its ranges") {
    milan.order(json::array{json::object{{"ip", "203.0.113.7"}, {"hostnames", json::array{"kubernetes.default"}}}});
    REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
    CHECK(kube::string_at(kube::array_at(milan.pod()->spec(), {"hostAliases"}).at(0), {"ip"}) == "203.0.113.7");
    return;
  }
  milan.order(json::array{alias});
  REQUIRE(milan.reaches([&] { return milan.told().starts_with("the address of the API server of its home"); }));
  CHECK_FALSE(milan.pod());
  milan.change(kinds::configurations, network, "status", [&](json::object& next) {
    const json::object ready{{"type", "NetworkCIDRsConfigured"}, {"status", "True"}};
    next["status"] = json::object{{"remote", ranges("10.71.0.0/16")}, {"conditions", json::array{ready}}};
  });
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
  CHECK(kube::string_at(kube::array_at(milan.pod()->spec(), {"hostAliases"}).at(0), {"ip"}) == "10.71.0.3");
}

}  // namespace liqo::testing
