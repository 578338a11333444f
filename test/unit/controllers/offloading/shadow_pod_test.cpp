// The provider's half of offloading: pods that cannot be made, and the record of those that run.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/offloading/shadow_plan.hpp"
#include "kube/k8s/request.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

const kube::ObjectKey key{"shop-rome", "web"};

/// Acts as an API server that does not know host aliases.
void drop_host_aliases(kube::HttpRequest& request) {
  if (request.verb != "create" || request.resource != "pods") return;
  json::value body = *kube::parse_json(request.body);
  body.as_object()["spec"].as_object().erase("hostAliases");
  request.body = json::serialize(body);
}

/// Provider milan, with ShadowPods of rome.
struct Provider : ClusterFixture {
  /// `server_reads`: see `ClusterFixture::reads`.
  explicit Provider(std::function<void(kube::HttpRequest&)> server_reads = {}) : ClusterFixture("milan") {
    reads = std::move(server_reads);
    start_liqod();
  }
  ~Provider() { stop(); }
  void start_liqod() {
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    start(std::move(settings));
  }

  static kube::Object order_of(json::array aliases = {}, std::string_view policy = "Always",
                               const std::string& name = "web") {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {key.ns, name});
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "milan");
    shadow.mutable_spec()["pod"] =
        json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    shadow.mutable_spec()["pod"].as_object()["restartPolicy"] = policy;
    if (!aliases.empty()) shadow.mutable_spec()["pod"].as_object()["hostAliases"] = std::move(aliases);
    return shadow;
  }
  void order(json::array aliases = {}, std::string_view policy = "Always", const std::string& name = "web") {
    apply(kinds::shadow_pods, order_of(std::move(aliases), policy, name));
  }
  std::optional<kube::Object> pod() { return find(resources::pods, key); }
  std::string told() { return std::string(find(kinds::shadow_pods, key)->annotation(api::annotations::refused)); }
  std::size_t writes_to(std::string_view plural, std::string_view subresource = "") const {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      count += write.actor == link.actor() && write.plural == plural && write.subresource == subresource;
    return count;
  }
  /// The recorded phase of its pod, "" = none.
  std::string recorded() { return std::string(kube::string_at(find(kinds::shadow_pods, key)->status(), {"phase"})); }
  /// Acts as the kubelet.
  void set_phase(std::string_view phase) {
    change(resources::pods, key, "status",
           [&](json::object& next) { kube::ensure_object(next, "status")["phase"] = phase; });
  }
  void order_and_run(std::string_view policy = "Always") {
    order({}, policy);
    REQUIRE(reaches([&] { return pod().has_value(); }));
    set_phase("Running");
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

TEST_CASE("a ShadowPod tells that a webhook has failed for its pod, if that lasts") {
  Provider milan;
  const std::string words = "Internal error occurred: failed calling webhook \"policy.example\": refused";
  bool is_away = true;
  milan.refuses = [&](const kube::HttpRequest& request) {
    return is_away && request.verb == "create" && request.resource == "pods" ? words : std::string();
  };
  milan.refusal_code = 500;
  milan.order();
  milan.pass(10s);
  CHECK(milan.told().empty());
  REQUIRE(milan.reaches([&] { return milan.told() == words; }, 5min));
  milan.pass(10min);
  CHECK(milan.writes_to("shadowpods") == 1);
  is_away = false;
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }, 5min));
  CHECK(milan.reaches([&] { return milan.told().empty(); }));
}

TEST_CASE("an order that nobody refuses costs no write of the ShadowPod") {
  Provider milan;
  milan.order();
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
  milan.pass(5min);
  CHECK(milan.writes_to("shadowpods") == 0);
  CHECK(milan.writes_to("pods") == 1);
}

TEST_CASE("what the API server has dropped of a pod is noted on the pod for its home, in one more write") {
  Provider milan(drop_host_aliases);
  milan.order(json::array{json::object{{"ip", "10.0.0.9"}, {"hostnames", json::array{"db"}}}});
  REQUIRE(milan.reaches([&] { return milan.pod() && milan.pod()->has_annotation(api::annotations::left_out); }));
  CHECK(milan.pod()->annotation(api::annotations::left_out) == R"(["field hostAliases"])");
  milan.pass(5min);
  CHECK(milan.writes_to("pods") == 2);
}

TEST_CASE("a note that the policy has filled already is not written again for what the API server has dropped") {
  Provider milan(drop_host_aliases);
  kube::Object shadow =
      Provider::order_of(json::array{json::object{{"ip", "10.0.0.9"}, {"hostnames", json::array{"db"}}}});
  for (int i = 0; i < 20; ++i) shadow.set_annotation("acme.example/key" + std::to_string(i), "x");
  milan.apply(kinds::shadow_pods, shadow);
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
  milan.pass(5min);
  CHECK(milan.writes_to("pods") == 1);
  CHECK_FALSE(milan.pod()->annotation(api::annotations::left_out).contains("field"));
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

TEST_CASE("that a pod runs which restarts always is recorded when nothing is in the way any more") {
  Provider milan;
  milan.order_and_run();
  milan.pass(4s);
  CHECK(milan.writes_to("shadowpods", "status") == 0);
  CHECK(milan.metrics().contains("liqo_shadowpods_unrecorded 1"));
  REQUIRE(milan.reaches([&] { return milan.recorded() == "Running"; }, 5s));
  milan.pass(2min);
  CHECK(milan.writes_to("shadowpods", "status") == 1);
  CHECK(milan.metrics().contains("liqo_shadowpods_unrecorded 0"));
}

TEST_CASE("while pods are made all the time it is recorded within a minute all the same") {
  Provider milan;
  milan.order_and_run();
  for (int second = 0; second < 60; ++second) {
    milan.order({}, "Always", "next-" + std::to_string(second));
    milan.pass(1s);
    if (second == 30) CHECK(milan.writes_to("shadowpods", "status") == 0);
  }
  CHECK(milan.recorded() == "Running");
  CHECK(milan.writes_to("shadowpods", "status") == 1);
}

TEST_CASE("what a restart of liqod leaves unrecorded is recorded within a minute") {
  Provider milan;
  milan.order_and_run();
  milan.pass(1s);
  milan.stop();
  milan.pass(1h);
  REQUIRE(milan.writes_to("shadowpods", "status") == 0);
  milan.start_liqod();
  CHECK(milan.reaches([&] { return milan.recorded() == "Running"; }));
}

TEST_CASE("that a pod runs which must not run twice is recorded at once") {
  for (const char* policy : {"Never", "OnFailure"}) {
    CAPTURE(policy);
    Provider milan;
    milan.order_and_run(policy);
    CHECK(milan.reaches([&] { return milan.recorded() == "Running"; }, 1s));
  }
}

TEST_CASE("the record that waits does not undo how the pod has ended") {
  Provider milan;
  milan.order_and_run();
  milan.pass(1s);
  milan.set_phase("Failed");
  REQUIRE(milan.reaches([&] { return milan.recorded() == "Failed"; }, 1s));
  milan.pass(2min);
  CHECK(milan.recorded() == "Failed");
}

TEST_CASE("a pod that has its finalizer again, as in a restored database, is released again") {
  Provider milan;
  milan.order_and_run("Never");
  const auto finalizers = milan.pod()->metadata().at("finalizers");
  milan.set_phase("Succeeded");
  const auto is_free = [&] { return kube::array_at(milan.pod()->metadata(), {"finalizers"}).empty(); };
  REQUIRE(milan.reaches(is_free));
  milan.change(resources::pods, key, "",
               [&](json::object& next) { next["metadata"].as_object()["finalizers"] = finalizers; });
  CHECK_FALSE(is_free());
  CHECK(milan.reaches(is_free));
}

TEST_CASE("a pod of which the watch shows too late how it has ended is recorded, and not made again") {
  Provider milan;
  milan.order_and_run("OnFailure");
  const json::object binding{{"apiVersion", "v1"}, {"kind", "Binding"}, {"target", json::object{{"name", "worker-1"}}}};
  (void)milan.server.handle(
      kube::request::create_subresource(resources::pods, key, "binding", kube::json::serialize(binding)), "scheduler");
  REQUIRE(milan.reaches([&] { return milan.recorded() == "Running"; }));
  (void)milan.server.remove(resources::pods, key, {.grace_period_seconds = 0}, "operator");
  const std::string uid(milan.pod()->uid());
  // Its node is waited for, and reports how it ended when the time is nearly over.
  milan.pass(core::node_patience - 1s);
  milan.link.set_faults({.stalled = 1, .stalled_by = 1min});
  milan.change(resources::pods, key, "status", [](json::object& next) {
    const json::object ended{{"terminated", json::object{{"exitCode", 0}}}};
    json::object& status = kube::ensure_object(next, "status");
    status["phase"] = "Succeeded";
    status["containerStatuses"] = json::array{json::object{{"name", "main"}, {"restartCount", 0}, {"state", ended}}};
  });
  milan.pass(3s);
  CHECK(milan.recorded() != "Succeeded");
  REQUIRE(milan.pod());
  CHECK(milan.pod()->uid() == uid);
  CHECK(milan.reaches([&] { return milan.recorded() == "Succeeded" && !milan.pod(); }, 2min));
  milan.pass(1min);
  CHECK_FALSE(milan.pod());
}

TEST_CASE("a pod that runs and that the cache does not show is not recorded as lost") {
  Provider milan;
  milan.order_and_run("Never");
  REQUIRE(milan.reaches([&] { return milan.recorded() == "Running"; }));
  int looks = 0;
  milan.reads = [&](kube::HttpRequest& request) {
    looks += request.method == "GET" && request.target.ends_with("/pods/web");
  };
  const auto label = [&](std::string_view value) {
    milan.change(resources::pods, key, "", [&](json::object& next) {
      next["metadata"].as_object()["labels"].as_object()[api::labels::managed_by] = value;
    });
  };
  label("nobody");
  milan.pass(1min);
  CHECK(milan.recorded() == "Running");
  CHECK(looks > 1);
  CHECK(looks <= 13);
  label(api::labels::managed_by_shadow_pod);
  milan.set_phase("Succeeded");
  CHECK(milan.reaches([&] { return milan.recorded() == "Succeeded"; }, 5s));
}

TEST_CASE("where a pod may have run before liqod was started, its ShadowPod is read before it is made again") {
  Provider milan;
  milan.order();
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
  milan.stop();
  (void)milan.server.remove(resources::pods, key, {.grace_period_seconds = 0}, "operator");
  int looks = 0;
  milan.reads = [&](kube::HttpRequest& request) {
    looks += request.method == "GET" && request.target.contains("/shadowpods/web");
  };
  milan.start_liqod();
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
  CHECK(looks == 1);
  // ShadowPods that were created since are known from their beginning.
  milan.pass(1min);
  milan.order({}, "Always", "web-2");
  REQUIRE(milan.reaches([&] { return milan.has(resources::pods, {key.ns, "web-2"}); }));
  CHECK(looks == 1);
}

TEST_CASE("what is older than liqod is told by the server's clock, wherever liqod's own stands") {
  Provider milan;
  milan.stop();
  milan.server_ahead = 2min;
  int looks = 0;
  milan.reads = [&](kube::HttpRequest& request) {
    looks += request.method == "GET" && request.target.contains("/shadowpods/web");
  };
  milan.start_liqod();
  milan.pass(1min);
  milan.order();
  REQUIRE(milan.reaches([&] { return milan.pod().has_value(); }));
  CHECK(looks == 1);
  milan.pass(2min);
  milan.order({}, "Always", "web-2");
  REQUIRE(milan.reaches([&] { return milan.has(resources::pods, {key.ns, "web-2"}); }));
  CHECK(looks == 1);
}

TEST_CASE("an order that came late is removed when its consumer has not confirmed it in time") {
  Provider milan;
  milan.pass(1min);
  const auto order_late = [&](const std::string& name) {
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, {key.ns, name});
    shadow.set_label(api::labels::reflection_origin, "rome");
    shadow.set_label(api::labels::reflection_destination, "milan");
    shadow.set_annotation(api::annotations::ordered_at,
                          kube::format_time(milan.simulator.clock().wall() - std::chrono::minutes(2)));
    shadow.mutable_spec()["pod"] =
        json::object{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    milan.apply(kinds::shadow_pods, shadow);
  };
  order_late("web");
  order_late("web-2");
  milan.pass(4min);
  CHECK(milan.has(kinds::shadow_pods, key));
  CHECK_FALSE(milan.pod());
  milan.change(kinds::shadow_pods, {key.ns, "web-2"}, "", [](json::object& next) {
    next["metadata"].as_object()["annotations"].as_object().erase(api::annotations::ordered_at);
  });
  CHECK(milan.reaches([&] { return !milan.has(kinds::shadow_pods, key); }, 2min));
  milan.pass(10min);
  CHECK(milan.events("OrderExpired").size() == 1);
  CHECK(milan.has(resources::pods, {key.ns, "web-2"}));
  CHECK(milan.has(kinds::shadow_pods, {key.ns, "web-2"}));
  CHECK_FALSE(milan.pod());
}

}  // namespace liqo::testing
