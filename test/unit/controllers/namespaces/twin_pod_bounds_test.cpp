// Roles of a consumer in its twins, and the pods that may run there because of them, over a fake API server.
#include <doctest/doctest.h>

#include <algorithm>

#include "../cluster_fixture.hpp"
#include "core/peering/forge.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace labels = api::labels;
namespace resources = kube::resources;

constexpr std::string_view with_widgets = R"({"clusterRoles": ["widgets"]})";
const std::string shop = "shop-rome", blog = "blog-rome";

/// Provider milan, which has granted rome ten pods, and has two twins of it.
struct Provider : ClusterFixture {
  Provider() : ClusterFixture("milan") {
    server.serve(kinds::cluster_roles);
    server.serve(kinds::limit_ranges);
    server.serve(kinds::runtime_classes);
    apply(resources::namespaces, core::forge_tenant_namespace("rome"));
    grant(10);
    set_role("example.org", "widgets");
    server.store().on_change([this](const kube::testing::FakeChange& change) {
      if (change.kind->plural != "resourcequotas") return;
      most = std::max(most, admissible());
    });
    refuses = [this](const kube::HttpRequest& request) {
      if (request.method != "POST" || !request.target.ends_with("/namespaces/shop-rome/pods")) return "";
      ++tried;
      return is_full ? "pods \"web\" is forbidden: exceeded quota: liqo-twin-pods, requested: pods=1" : "";
    };
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    start(std::move(settings));
    kube::Object map = kube::Object::make(kinds::namespace_maps, {ns, "milan"});
    map.set_label(labels::replicated, "true");
    map.set_label(labels::replication_origin, "rome");
    map.mutable_spec()["desiredMapping"] = json::object{{"shop", shop}, {"blog", blog}};
    apply(kinds::namespace_maps, map);
    REQUIRE(reaches([&] { return has(kinds::role_bindings, {shop, ns}) && has(kinds::role_bindings, {blog, ns}); }));
  }
  ~Provider() { stop(); }

  void grant(std::int64_t pods) {
    kube::Object quota = kube::Object::make(kinds::quotas, {ns, "pool-1f"});
    quota.mutable_spec() =
        json::object{{"user", "pool-1f"},
                     {"resources", json::object{{"cpu", "4"}, {"memory", "4Gi"}, {"pods", std::to_string(pods)}}}};
    apply(kinds::quotas, quota);
  }
  void set_role(std::string_view group, std::string_view kind) {
    kube::Object role = kube::Object::make(kinds::cluster_roles, {"", "widgets"});
    role.tree()["rules"] = json::array{json::object{
        {"apiGroups", json::array{json::string(group)}},
        {"resources", json::array{json::string(kind)}},
        {"verbs", json::array{"get", "create"}},
    }};
    apply(kinds::cluster_roles, role);
  }
  void set_policy(std::string_view policy) {
    change(resources::namespaces, {"", ns}, "",
           [&](json::object& next) { kube::testing::set_annotation(next, "liqo.io/pod-policy", policy); });
  }
  void order(const std::string& twin, const std::string& name) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {twin, name});
    shadow.set_label(labels::reflection_origin, "rome");
    shadow.set_label(labels::creator_user, "pool-1f");
    shadow.mutable_spec()["pod"] =
        json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    apply(kinds::shadow_pods, shadow);
  }
  /// Acts as an operator.
  void run_pod(const std::string& twin, const std::string& name) {
    kube::Object pod = kube::Object::make(resources::pods, {twin, name});
    pod.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "operated:1"}}};
    apply(resources::pods, pod);
  }
  std::string told(const std::string& twin, const std::string& name) {
    return std::string(find(kinds::shadow_pods, {twin, name})->annotation(api::annotations::refused));
  }
  std::string hard(const std::string& twin, std::string_view name = "pods") {
    const auto quota = find(kinds::resource_quotas, {twin, "liqo-twin-pods"});
    return quota ? std::string(kube::string_at(quota->spec(), {"hard", name})) : "none";
  }
  bool is_bound(const std::string& twin) { return has(kinds::role_bindings, {twin, ns + "-widgets"}); }
  /// The number of pods that the API server may admit in all twins. (This one admits everything.)
  std::int64_t admissible() {
    std::int64_t sum = 0;
    for (const std::string& twin : {shop, blog}) {
      const auto quota = find(kinds::resource_quotas, {twin, "liqo-twin-pods"});
      const json::value* pods = quota ? kube::find(quota->status(), {"hard", "pods"}) : nullptr;
      if (pods) sum += kube::Quantity::from_json(*pods).value_or(kube::Quantity()).value();
    }
    return sum;
  }

  const std::string ns = "liqo-tenant-rome";
  std::int64_t most = 0;
  bool is_full = false;
  std::size_t tried = 0;
};

}  // namespace

TEST_CASE("a role of the policy is bound in each twin where the pods are counted, and taken back with its bounds") {
  Provider milan;
  CHECK(milan.hard(shop) == "none");
  bool bound_early = false;
  milan.server.store().on_change([&](const kube::testing::FakeChange& change) {
    if (change.kind->plural != "rolebindings" || change.key.name != milan.ns + "-widgets") return;
    const auto quota = milan.find(kinds::resource_quotas, {change.key.ns, "liqo-twin-pods"});
    bound_early = bound_early || !quota || !kube::find(quota->status(), {"used", "pods"});
  });
  milan.set_policy(with_widgets);
  REQUIRE(milan.reaches([&] { return milan.is_bound(shop) && milan.is_bound(blog); }));
  CHECK(milan.hard(shop) == "5");
  CHECK(milan.hard(blog) == "5");
  CHECK(milan.hard(shop, "requests.cpu") == "2");
  CHECK(milan.hard(shop, "count/widgets.example.org") == "1k");
  const auto binding = milan.find(kinds::role_bindings, {shop, milan.ns + "-widgets"});
  CHECK(kube::string_at(binding->tree(), {"roleRef", "name"}) == "widgets");
  milan.pass(5s);
  const std::size_t before = milan.writes();
  milan.pass(10min);
  CHECK(milan.writes() == before);

  // Objects that are changed or removed are restored.
  milan.change(kinds::resource_quotas, {shop, "liqo-twin-pods"}, "",
               [](json::object& next) { kube::testing::ensure_path(next, {"spec", "hard"})["pods"] = "1000"; });
  CHECK(milan.reaches([&] { return milan.hard(shop) == "5"; }));
  (void)milan.server.remove(kinds::role_bindings, {shop, milan.ns + "-widgets"}, {}, "operator");
  CHECK(milan.reaches([&] { return milan.is_bound(shop); }));

  milan.set_policy("{}");
  CHECK(milan.reaches([&] { return milan.hard(shop) == "none" && milan.hard(blog) == "none"; }));
  CHECK_FALSE(milan.is_bound(shop));
  CHECK_FALSE(milan.is_bound(blog));
  CHECK_FALSE(bound_early);
  CHECK(milan.has(kinds::role_bindings, {shop, milan.ns}));
}

TEST_CASE("what an operator runs takes room from all twins, and pods of the consumer wait for it") {
  Provider milan;
  milan.set_policy(with_widgets);
  REQUIRE(milan.reaches([&] { return milan.hard(shop) == "5" && milan.hard(blog) == "5"; }));
  for (int i = 0; i < 4; ++i) milan.run_pod(shop, "operated-" + std::to_string(i));
  // Six are left, of which each twin may have the half.
  CHECK(milan.reaches([&] { return milan.hard(shop) == "7" && milan.hard(blog) == "3"; }));
  for (int i = 0; i < 6; ++i) milan.order(blog, "web-" + std::to_string(i));
  CHECK(milan.reaches([&] { return milan.find(resources::pods, {blog, "web-5"}).has_value(); }));
  CHECK(milan.reaches([&] { return milan.hard(shop) == "4" && milan.hard(blog) == "6"; }));
  CHECK(milan.most <= 10);
  const auto pod = milan.find(resources::pods, {blog, "web-0"});
  const kube::json::value& container = kube::array_at(pod->spec(), {"containers"})[0];
  CHECK(kube::string_at(container, {"resources", "requests", "cpu"}) == "0");
  CHECK(kube::string_at(container, {"resources", "requests", "memory"}) == "0");
  milan.grant(4);
  CHECK(milan.reaches([&] { return milan.hard(shop) == "1" && milan.hard(blog) == "2"; }));
}

TEST_CASE(
    "a role that escapes the firewall, or is not there, is told and not bound; one that becomes so is taken back") {
  Provider milan;
  milan.set_policy(R"({"clusterRoles": ["widgets", "gears"]})");
  REQUIRE(milan.reaches([&] { return milan.is_bound(shop); }));
  REQUIRE(milan.reaches([&] { return !milan.events("TenantRoleRefused").empty(); }));
  CHECK(milan.events("TenantRoleRefused").front() ==
        "ClusterRole gears does not exist: create it. It is tried again every 15 seconds.");
  milan.pass(5min);
  CHECK(milan.events("TenantRoleRefused").size() == 1);

  milan.set_role("batch", "jobs");
  CHECK(milan.reaches([&] { return !milan.is_bound(shop) && !milan.is_bound(blog); }, 2min));
  REQUIRE(milan.reaches([&] { return milan.events("TenantRoleRefused").size() == 2; }));
  // Events of one moment are in no order.
  CHECK(std::ranges::any_of(milan.events("TenantRoleRefused"), [](const std::string& words) {
    return words.contains("its rule 1 lets \"create\" \"jobs.batch\"");
  }));
  // Started pods go on, and stay bounded.
  CHECK(milan.hard(shop) == "5");
  milan.set_role("example.org", "widgets");
  CHECK(milan.reaches([&] { return milan.is_bound(shop) && milan.is_bound(blog); }));
  milan.set_policy("{");
  CHECK(milan.reaches([&] { return !milan.is_bound(shop) && !milan.is_bound(blog); }));
  milan.pass(5s);
  CHECK(milan.hard(shop) == "5");
}

TEST_CASE("a role that the policy names no longer is not bound in the twins that are left") {
  std::size_t sent = 0;
  Provider milan;
  milan.grant(100);
  milan.change(kinds::namespace_maps, {milan.ns, "milan"}, "", [](json::object& next) {
    json::object& wanted = kube::testing::ensure_path(next, {"spec", "desiredMapping"});
    for (int i = 0; i < 20; ++i) wanted["more-" + std::to_string(i)] = "more-" + std::to_string(i) + "-rome";
  });
  // All twins are bounded before the first role that can be bound.
  milan.set_policy(R"({"clusterRoles": ["gears"]})");
  REQUIRE(milan.reaches([&] { return milan.hard("more-0-rome") != "none" && milan.hard("more-19-rome") != "none"; }));
  milan.pass(1min);
  milan.link.on_send([&](const kube::HttpRequest& request) {
    if (request.verb == "create" && request.resource == "rolebindings" && ++sent == 1) milan.set_policy("{}");
  });
  milan.set_policy(with_widgets);
  REQUIRE(milan.reaches([&] { return sent > 0; }));
  milan.pass(1min);
  CHECK(sent < 10);
  CHECK_FALSE(milan.is_bound(shop));
}

TEST_CASE("a RoleBinding of somebody else is left alone and told, until its name is free") {
  Provider milan;
  kube::Object foreign = kube::Object::make(kinds::role_bindings, {shop, milan.ns + "-widgets"});
  foreign.tree()["roleRef"] = json::object{{"kind", "ClusterRole"}, {"name", "view"}};
  milan.apply(kinds::role_bindings, foreign);
  milan.set_policy(with_widgets);
  REQUIRE(milan.reaches([&] { return milan.is_bound(blog) && !milan.events("TenantRoleRefused").empty(); }));
  CHECK(milan.events("TenantRoleRefused").front().starts_with("RoleBinding shop-rome/liqo-tenant-rome-widgets exists"));
  const auto left = milan.find(kinds::role_bindings, {shop, milan.ns + "-widgets"});
  CHECK(kube::string_at(left->tree(), {"roleRef", "name"}) == "view");
  (void)milan.server.remove(kinds::role_bindings, {shop, milan.ns + "-widgets"}, {}, "operator");
  CHECK(milan.reaches([&] {
    const auto now = milan.find(kinds::role_bindings, {shop, milan.ns + "-widgets"});
    return now && kube::string_at(now->tree(), {"roleRef", "name"}) == "widgets";
  }));
}

TEST_CASE("a pod that its twin has no room for is tried again when there is, and told of only where that takes long") {
  Provider milan;
  milan.set_policy(with_widgets);
  REQUIRE(milan.reaches([&] { return milan.is_bound(shop) && milan.is_bound(blog); }));
  milan.is_full = true;
  milan.order(shop, "web");
  milan.pass(2s);
  CHECK(milan.tried > 0);
  CHECK(milan.told(shop, "web").empty());
  // After a while it is tried rarely.
  REQUIRE(milan.reaches([&] { return milan.told(shop, "web").contains("exceeded quota: liqo-twin-pods"); }));
  milan.pass(10min);
  milan.is_full = false;
  const std::size_t before = milan.tried;
  milan.change(kinds::resource_quotas, {shop, "liqo-twin-pods"}, "status",
               [](json::object& next) { kube::testing::ensure_path(next, {"status", "hard"})["pods"] = "6"; });
  CHECK(milan.reaches([&] { return milan.has(resources::pods, {shop, "web"}); }, 1s));
  CHECK(milan.tried == before + 1);
  CHECK(milan.reaches([&] { return milan.told(shop, "web").empty(); }));
}

TEST_CASE("of namespaces only the policy of its consumer has a pod tried again that waits for bounds") {
  Provider milan;
  milan.set_policy(with_widgets);
  REQUIRE(milan.reaches([&] { return milan.is_bound(shop) && milan.is_bound(blog); }));
  milan.is_full = true;
  milan.order(shop, "web");
  REQUIRE(milan.reaches([&] { return !milan.told(shop, "web").empty(); }));
  // After a while it is tried rarely.
  milan.pass(10min);
  const std::size_t before = milan.tried;
  milan.apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "other"}));
  milan.apply(resources::namespaces, core::forge_tenant_namespace("paris"));
  milan.change(resources::namespaces, {"", milan.ns}, "",
               [](json::object& next) { kube::testing::set_annotation(next, "note", "a good customer"); });
  milan.pass(1s);
  CHECK(milan.tried == before);
  milan.set_policy(R"({"clusterRoles": ["widgets"], "maxDrainGracePeriodSeconds": 60})");
  milan.pass(1s);
  CHECK(milan.tried == before + 1);
}

TEST_CASE("where nobody counts the pods of a twin none is made, no role is bound, and the consumer is told") {
  Provider milan;
  milan.quota_controller.stop();
  milan.set_policy(with_widgets);
  milan.order(shop, "web");
  milan.pass(20s);
  CHECK_FALSE(milan.has(resources::pods, {shop, "web"}));
  CHECK(milan.reaches([&] {
    return milan.find(kinds::shadow_pods, {shop, "web"})
        ->annotation(api::annotations::refused)
        .contains("nobody counts");
  }));
  CHECK_FALSE(milan.is_bound(shop));
  milan.set_policy("{}");
  CHECK(milan.reaches([&] { return milan.has(resources::pods, {shop, "web"}); }));
}

}  // namespace liqo::testing
