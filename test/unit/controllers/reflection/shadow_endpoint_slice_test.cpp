// The provider's half of Services: EndpointSlices with the addresses that consumers want and this cluster allows.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/reflection/endpoint_slice_plan.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

const std::string tenant = "liqo-tenant-rome", twin = "shop-rome";
const kube::ObjectKey key{twin, "web-1"};

/// Provider milan, whose consumer rome has a twin namespace here.
struct Provider : ClusterFixture {
  Provider() : ClusterFixture("milan"), rome(simulator.clock()), to_rome(simulator, rome, "milan") {
    server.serve(kinds::configurations);
    server.serve(kinds::service_cidrs);
    connect = [this](const std::string&,
                     const kube::Object&) -> kube::Result<std::unique_ptr<controllers::ProviderLink>> {
      return std::make_unique<PlainLink>(to_rome);
    };
    kube::Object home = kube::Object::make(resources::namespaces, {"", tenant});
    home.set_label(api::labels::tenant_namespace, "true");
    home.set_label(api::labels::remote_cluster_id, "rome");
    apply(resources::namespaces, home);
    kube::Object place = kube::Object::make(resources::namespaces, {"", twin});
    place.set_label(api::labels::remote_cluster_id, "rome");
    apply(resources::namespaces, place);
    kube::Object peer = kube::Object::make(kinds::foreign_clusters, {"", "rome"});
    peer.mutable_spec()["clusterID"] = "rome";
    apply(kinds::foreign_clusters, peer);
    declare(R"({"endpointCIDRs": ["10.1.0.0/16"]})");
    begin();
  }
  ~Provider() { stop(); }

  void begin() {
    controllers::Settings settings;
    settings.offloading.enforce_resources = false;
    settings.peering.pod_cidrs = "10.2.0.0/16";
    start(std::move(settings));
  }
  void declare(std::string_view policy) {
    change(resources::namespaces, {"", tenant}, "", [&](json::object& next) {
      kube::ensure_object(next["metadata"].as_object(), "annotations")["liqo.io/pod-policy"] = policy;
    });
  }
  void shadow(const std::vector<std::string>& addresses, std::string_view ready = "true",
              const kube::ObjectKey& where = key) {
    std::string text;
    for (const std::string& address : addresses)
      text += std::string(text.empty() ? "" : ",") + R"({"addresses": [")" + address +
              R"("], "conditions": {"ready": )" + std::string(ready) + "}}";
    kube::Object made = kube::Object::make(kinds::shadow_endpoint_slices, where);
    made.set_label(api::labels::reflection_origin, "rome");
    made.set_label("kubernetes.io/service-name", "web");
    made.mutable_spec()["template"] =
        json::parse(R"({"addressType": "IPv4", "ports": [{"port": 80}], "endpoints": [)" + text + "]}");
    apply(kinds::shadow_endpoint_slices, made);
  }
  void put_pod(std::string_view name, std::string_view address, std::string_view ns = "default",
               std::string_view manager = "") {
    kube::Object pod = kube::Object::make(resources::pods, {std::string(ns), std::string(name)});
    if (!manager.empty()) {
      pod.set_label(api::labels::managed_by, manager);
      // A Pod that no ShadowPod owns would be removed.
      const kube::Object owner =
          apply(resources::config_maps, kube::Object::make(resources::config_maps, {std::string(ns), "owner"}));
      pod.add_owner_reference({.api_version = "v1",
                               .kind = "ConfigMap",
                               .name = "owner",
                               .uid = std::string(owner.uid()),
                               .controller = true});
    }
    pod.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "other:1"}}};
    apply(resources::pods, pod);
    change(resources::pods, pod.key(), "status", [&](json::object& next) {
      json::object& status = kube::ensure_object(next, "status");
      status["phase"] = "Running";
      status["podIP"] = address;
      status["podIPs"] = json::array{json::object{{"ip", address}}};
    });
  }
  std::optional<kube::Object> made() { return find(kinds::endpoint_slices, key); }
  /// The addresses in it and whether they are ready, e.g. "10.1.0.5+ 10.1.0.6-"; "(none)" if there is no slice.
  std::string endpoints() {
    const auto slice = made();
    if (!slice) return "(none)";
    std::string text;
    for (const json::value& endpoint : kube::array_at(slice->tree(), {"endpoints"}))
      text += (text.empty() ? "" : " ") + std::string(kube::array_at(endpoint, {"addresses"}).at(0).get_string()) +
              (kube::bool_at(endpoint, {"conditions", "ready"}) ? "+" : "-");
    return text;
  }
  bool shows(std::string_view expected, kube::Duration limit = 1min) {
    return reaches([&] { return endpoints() == expected; }, limit);
  }
  /// The number of endpoints in all EndpointSlices of the twin.
  std::size_t endpoints_in_all() {
    std::size_t sum = 0;
    for (const auto& slice : server.list(kinds::endpoint_slices, twin))
      sum += kube::array_at(*slice, {"endpoints"}).size();
    return sum;
  }
  std::size_t writes_of_slices() const {
    std::size_t count = 0;
    for (const auto& write : server.writes()) count += write.actor == link.actor() && write.plural == "endpointslices";
    return count;
  }

  kube::testing::FakeApiServer rome;
  kube::testing::SimLink to_rome;
};

}  // namespace

TEST_CASE("an EndpointSlice follows its ShadowEndpointSlice, is put right, and goes with it") {
  Provider milan;
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.shows("10.1.0.5+"));
  CHECK(milan.made()->controller()->kind == "ShadowEndpointSlice");
  milan.shadow({"10.1.0.5", "10.1.0.6"});
  CHECK(milan.shows("10.1.0.5+ 10.1.0.6+", 3s));
  milan.shadow({"10.1.0.6"}, "false");
  CHECK(milan.shows("10.1.0.6-", 3s));
  // It is changed, loses its label, is deleted.
  milan.change(kinds::endpoint_slices, key, "", [](json::object& next) { next["endpoints"] = json::array(); });
  CHECK(milan.shows("10.1.0.6-", 30s));
  milan.change(kinds::endpoint_slices, key, "", [](json::object& next) {
    next["metadata"].as_object()["labels"].as_object()["liqo.io/managed-by"] = "somebody";
  });
  CHECK(milan.reaches([&] { return milan.made()->label("liqo.io/managed-by") == "shadowendpointslice"; }, 30s));
  (void)milan.server.remove(kinds::endpoint_slices, key, {}, "operator");
  CHECK(milan.shows("10.1.0.6-", 30s));
  const std::size_t writes = milan.writes_of_slices();
  milan.pass(10min);
  CHECK(milan.writes_of_slices() == writes);
  (void)milan.server.remove(kinds::shadow_endpoint_slices, key, {}, "operator");
  CHECK(milan.shows("(none)"));
  milan.pass(1min);
  CHECK(milan.endpoints() == "(none)");
}

TEST_CASE("no finalizer of a ShadowEndpointSlice keeps its EndpointSlice, and no order to orphan it") {
  Provider milan;
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.shows("10.1.0.5+"));
  const auto hold = [&](json::array finalizers) {
    milan.change(kinds::shadow_endpoint_slices, key, "",
                 [&](json::object& next) { next["metadata"].as_object()["finalizers"] = finalizers; });
  };
  hold({"example.com/hold"});
  (void)milan.server.remove(kinds::shadow_endpoint_slices, key, {}, "consumer");
  CHECK(milan.shows("(none)"));
  CHECK(milan.has(kinds::shadow_endpoint_slices, key));
  hold({});
  REQUIRE(milan.reaches([&] { return !milan.has(kinds::shadow_endpoint_slices, key); }));

  const auto orphan = [&] {
    milan.shadow({"10.1.0.5"});
    REQUIRE(milan.shows("10.1.0.5+"));
    milan.stop();
    (void)milan.server.remove(kinds::shadow_endpoint_slices, key, {.propagation = kube::Propagation::orphan},
                              "consumer");
    REQUIRE(milan.reaches([&] { return !milan.has(kinds::shadow_endpoint_slices, key); }));
    REQUIRE(milan.made());
    REQUIRE_FALSE(milan.made()->controller());
  };
  orphan();
  milan.begin();
  CHECK(milan.shows("(none)"));
  orphan();
  milan.shadow({"10.1.0.6"});
  milan.begin();
  CHECK(milan.shows("10.1.0.6+"));
  (void)milan.server.remove(kinds::shadow_endpoint_slices, key, {.propagation = kube::Propagation::orphan}, "consumer");
  CHECK(milan.shows("(none)"));
  // An object of that name without an owner, or in another namespace, is left alone.
  kube::Object foreign = kube::Object::make(kinds::endpoint_slices, key);
  foreign.tree()["addressType"] = "IPv4";
  foreign.tree()["endpoints"] = json::array();
  milan.apply(kinds::endpoint_slices, foreign);
  kube::Object elsewhere = kube::Object::make(kinds::endpoint_slices, {"default", "web-1"});
  elsewhere.set_label("liqo.io/managed-by", "shadowendpointslice");
  milan.apply(kinds::endpoint_slices, elsewhere);
  milan.pass(1min);
  CHECK(milan.made());
  CHECK(milan.has(kinds::endpoint_slices, elsewhere.key()));
}

TEST_CASE("an EndpointSlice goes when the server refuses what has become of it") {
  Provider milan;
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.shows("10.1.0.5+"));
  milan.stop();
  bool refuses = true;
  milan.reads = [&](kube::HttpRequest& request) {
    if (!refuses || request.method != "PATCH" || !request.target.contains("/endpointslices/")) return;
    for (auto& [name, value] : request.headers)
      if (name == "content-type") value = "text/plain";
  };
  milan.begin();
  milan.shadow({"10.1.0.6"});
  CHECK(milan.shows("(none)"));
  CHECK(milan.reaches([&] { return !milan.events("FailedReflection").empty(); }));
  refuses = false;
  CHECK(milan.shows("10.1.0.6+", 30min));
  milan.stop();
  milan.reads = nullptr;
}

TEST_CASE("all endpoints of a consumer are bounded, and what one gives up another gets") {
  Provider milan;
  std::vector<std::string> addresses(100);
  for (int slice = 0; slice <= 100; ++slice) {
    for (std::size_t i = 0; i < 100; ++i) addresses[i] = "10.1." + std::to_string(slice) + "." + std::to_string(i + 1);
    milan.shadow(addresses, "true", {twin, "web-" + std::to_string(slice)});
  }
  REQUIRE(milan.reaches([&] { return milan.server.list(kinds::endpoint_slices, twin).size() == 101; }, 5min));
  milan.pass(10min);
  CHECK(milan.endpoints_in_all() == core::reflection::max_consumer_endpoints);
  CHECK(milan.events("AddressLeftOut").size() == 1);
  int with_most = -1;
  for (int slice = 0; slice <= 100 && with_most < 0; ++slice) {
    const auto made = milan.find(kinds::endpoint_slices, {twin, "web-" + std::to_string(slice)});
    if (made && kube::array_at(made->tree(), {"endpoints"}).size() == 100) with_most = slice;
  }
  (void)milan.server.remove(kinds::shadow_endpoint_slices, {twin, "web-" + std::to_string(with_most)}, {}, "consumer");
  REQUIRE(milan.reaches([&] { return milan.endpoints_in_all() < core::reflection::max_consumer_endpoints; }));
  CHECK(milan.reaches([&] { return milan.endpoints_in_all() == core::reflection::max_consumer_endpoints; }, 10min));
}

TEST_CASE("while the addresses of this cluster are not known, one look at a time is taken") {
  Provider milan;
  milan.stop();
  bool fails = true;
  milan.reads = [&](kube::HttpRequest& request) {
    if (fails && request.target.contains("/servicecidrs")) request.method = "PUT";
  };
  milan.begin();
  const auto name = [](int i) { return "web-" + std::to_string(i); };
  for (int i = 0; i < 100; ++i) milan.shadow({"10.1.0." + std::to_string(i + 1)}, "true", {twin, name(i)});
  const auto looks = [&] {
    const std::string text = milan.metrics(),
                      sample = R"(controller_runtime_reconcile_time_seconds_count{controller="shadowendpointslice"} )";
    const auto at = text.find(sample);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + sample.size()));
  };
  milan.pass(1min);
  CHECK(milan.endpoints_in_all() == 0);
  const int before = looks();
  REQUIRE(before > 0);
  milan.pass(1min);
  // Each of them would be looked at 300 times.
  CHECK(looks() - before < 400);
  fails = false;
  CHECK(milan.reaches([&] { return milan.endpoints_in_all() == 100; }, 5min));
  milan.stop();
  milan.reads = nullptr;
}

TEST_CASE("endpoints that change in a burst are written once a second, and end as they are") {
  Provider milan;
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.shows("10.1.0.5+"));
  milan.pass(5s);
  const std::size_t before = milan.writes_of_slices();
  for (int i = 0; i < 50; ++i) {
    milan.shadow({"10.1.0.5"}, i % 2 == 0 ? "false" : "true");
    milan.pass(100ms);
  }
  milan.shadow({"10.1.0.7"});
  CHECK(milan.shows("10.1.0.7+", 1500ms));
  const std::size_t writes = milan.writes_of_slices() - before;
  CHECK(writes >= 2);
  CHECK(writes <= 8);
}

TEST_CASE("addresses follow the policy, the network and what this cluster has, and are told once") {
  Provider milan;
  milan.shadow({"10.1.0.5", "10.2.0.5", "10.4.0.5"});
  REQUIRE(milan.shows("10.1.0.5+"));
  REQUIRE(milan.reaches([&] { return !milan.events("AddressLeftOut").empty(); }));
  CHECK(milan.events("AddressLeftOut")
            .front()
            .starts_with("2 of 3 addresses are left out here: 10.2.0.5 (not declared), 10.4.0.5 (not declared); "
                         "Services of rome lead "
                         "here to addresses in 10.1.0.0/16; "));
  // A pod of this cluster gets the address, and gives it back.
  milan.put_pod("thief", "10.1.0.5");
  CHECK(milan.shows(""));
  (void)milan.server.remove(resources::pods, {"default", "thief"}, {.grace_period_seconds = 0}, "operator");
  CHECK(milan.shows("10.1.0.5+"));
  kube::Object range = kube::Object::make(kinds::service_cidrs, {"", "kubernetes"});
  range.mutable_spec()["cidrs"] = json::array{json::string("10.1.0.0/28")};
  milan.apply(kinds::service_cidrs, range);
  CHECK(milan.shows(""));
  (void)milan.server.remove(kinds::service_cidrs, range.key(), {}, "operator");
  CHECK(milan.shows("10.1.0.5+"));
  CHECK(milan.events("AddressLeftOut").size() == 1);
  milan.stop();
  milan.begin();
  milan.pass(30s);
  CHECK(milan.events("AddressLeftOut").size() == 1);

  milan.declare(R"({"endpointCIDRs": ["10.4.0.0/16", "10.2.0.0/16"]})");
  CHECK(milan.shows("10.4.0.5+"));
  CHECK(milan.reaches([&] { return milan.events("AddressLeftOut").size() == 2; }));
  milan.declare("");
  CHECK(milan.shows(""));
  milan.change(kinds::foreign_clusters, {"", "rome"}, "", [](json::object& next) {
    kube::ensure_object(next["metadata"].as_object(), "annotations")["liqo.io/remote-pod-cidrs"] = "10.1.0.0/16";
  });
  CHECK(milan.shows("10.1.0.5+"));
  kube::Object network = kube::Object::make(kinds::configurations, {tenant, "rome"});
  network.set_label(api::labels::remote_cluster_id, "rome");
  network.mutable_spec()["remote"] = json::parse(R"({"cidr": {"pod": ["10.4.0.0/16"]}})");
  milan.apply(kinds::configurations, network);
  milan.change(kinds::configurations, network.key(), "status", [](json::object& next) {
    next["status"] = json::parse(R"({"remote": {"cidr": {"pod": ["10.40.0.0/16"]}},
                                     "conditions": [{"type": "NetworkCIDRsConfigured", "status": "True"}]})");
  });
  CHECK(milan.shows("10.1.0.5+ 10.40.0.5+"));
  (void)milan.server.remove(kinds::configurations, network.key(), {}, "operator");
  CHECK(milan.shows("10.1.0.5+"));
}

TEST_CASE("readiness follows the consumer's API server") {
  Provider milan;
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.shows("10.1.0.5+"));
  // Milan offloads to rome, too, and so probes it.
  kube::Object secret = kube::Object::make(resources::secrets, {tenant, "kubeconfig"});
  secret.set_label(api::labels::identity_type, "ControlPlane");
  secret.set_label(api::labels::remote_cluster_id, "rome");
  secret.set_annotation(api::annotations::remote_tenant_namespace, "liqo-tenant-milan");
  secret.tree()["data"] = json::object{{"kubeconfig", kube::encode_base64("rome")}};
  milan.apply(resources::secrets, secret);
  const auto answers = [&] {
    const auto peer = milan.find(kinds::foreign_clusters, {"", "rome"});
    for (const json::value& entry : kube::array_at(peer->status(), {"conditions"}))
      if (kube::string_at(entry, {"type"}) == "APIServerStatus") return std::string(kube::string_at(entry, {"status"}));
    return std::string("?");
  };
  REQUIRE(milan.reaches([&] { return answers() == "Established"; }));
  CHECK(milan.endpoints() == "10.1.0.5+");
  milan.to_rome.partition();
  REQUIRE(milan.reaches([&] { return answers() == "Error"; }));
  CHECK(milan.shows("10.1.0.5-", 3s));
  milan.to_rome.heal();
  CHECK(milan.shows("10.1.0.5+", 2min));
  // The peering ends.
  milan.stop();
  (void)milan.server.remove(kinds::foreign_clusters, {"", "rome"}, {}, "operator");
  (void)milan.server.remove(resources::secrets, secret.key(), {}, "operator");
  milan.begin();
  CHECK(milan.shows("10.1.0.5-"));
}

TEST_CASE("a name that is taken is told once, and used when it is free") {
  Provider milan;
  kube::Object foreign = kube::Object::make(kinds::endpoint_slices, key);
  foreign.tree()["addressType"] = "IPv4";
  foreign.tree()["endpoints"] = json::parse(R"([{"addresses": ["192.0.2.1"], "conditions": {"ready": true}}])");
  milan.apply(kinds::endpoint_slices, foreign);
  const std::string before = milan.made()->text();
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.reaches([&] { return !milan.events("FailedReflection").empty(); }));
  milan.pass(10min);
  CHECK(milan.made()->text() == before);
  CHECK(milan.events("FailedReflection") ==
        std::vector<std::string>{"no EndpointSlice is made of this: an EndpointSlice of this name exists that was not "
                                 "made for this ShadowEndpointSlice"});
  for (const auto& event : milan.server.list(resources::events)) CHECK(kube::int_at(*event, {"count"}) == 1);
  (void)milan.server.remove(kinds::endpoint_slices, key, {}, "operator");
  CHECK(milan.shows("10.1.0.5+", 31s));
}

TEST_CASE("an EndpointSlice that somebody else makes in the moment in which its name is taken is given back") {
  Provider milan;
  kube::Object foreign = kube::Object::make(kinds::endpoint_slices, key);
  bool is_answered = true, is_taken = false;
  SUBCASE("and that is seen at once") {}
  SUBCASE("and the answer is lost") { is_answered = false; }
  milan.link.on_send([&](const kube::HttpRequest& request) {
    if (request.method != "PATCH" || request.resource != "endpointslices" || std::exchange(is_taken, true)) return;
    (void)milan.server.create(kinds::endpoint_slices, foreign.tree(), "somebody");
    if (!is_answered) milan.link.set_faults({.lost_answer = 1.0});
  });
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.reaches([&] { return is_taken; }));
  milan.pass(1s);
  milan.link.set_faults({});
  REQUIRE(milan.reaches([&] { return !milan.events("FailedReflection").empty(); }, 2min));
  milan.pass(1min);
  CHECK(milan.made()->labels().empty());
  CHECK_FALSE(milan.made()->controller());
  // It is not removed with an object to which it never belonged.
  (void)milan.server.remove(kinds::shadow_endpoint_slices, key, {}, "rome");
  milan.pass(1min);
  CHECK(milan.made());
  milan.shadow({"10.1.0.6"});
  milan.pass(1min);
  (void)milan.server.remove(kinds::endpoint_slices, key, {}, "somebody");
  CHECK(milan.shows("10.1.0.6+", 31s));
}

TEST_CASE("a namespace that is no twin any more has no endpoints of the consumer") {
  Provider milan;
  milan.shadow({"10.1.0.5"});
  REQUIRE(milan.shows("10.1.0.5+"));
  milan.change(resources::namespaces, {"", twin}, "", [](json::object& next) {
    next["metadata"].as_object()["labels"].as_object()["liqo.io/remote-cluster-id"] = "turin";
  });
  CHECK(milan.shows("(none)"));
  milan.change(resources::namespaces, {"", twin}, "", [](json::object& next) {
    next["metadata"].as_object()["labels"].as_object()["liqo.io/remote-cluster-id"] = "rome";
  });
  CHECK(milan.shows("10.1.0.5+"));
}

TEST_CASE("nothing is made in a twin that ends") {
  Provider milan;
  milan.change(resources::namespaces, {"", twin}, "",
               [](json::object& next) { next["metadata"].as_object()["finalizers"] = json::array{"kubernetes"}; });
  (void)milan.server.remove(resources::namespaces, {"", twin}, {}, "operator");
  milan.pass(1s);
  milan.shadow({"10.1.0.7"});
  milan.pass(10s);
  CHECK_FALSE(milan.find(kinds::endpoint_slices, key).has_value());
}

TEST_CASE("a hand-written endpoint leads to a pod of the consumer in its twin while that runs, and to nobody else") {
  Provider milan;
  // No pod has the addresses yet.
  milan.shadow({"10.2.0.21", "10.2.0.22", "10.2.0.23", "10.2.0.24"});
  REQUIRE(milan.shows(""));
  milan.put_pod("dns", "10.2.0.22", "kube-system");
  milan.put_pod("pg-0", "10.2.0.23", "shop-turin", "shadowpod");
  milan.put_pod("tool", "10.2.0.24", twin, "operator");
  milan.put_pod("pg-0", "10.2.0.21", twin, "shadowpod");
  CHECK(milan.shows("10.2.0.21+", 3s));
  milan.pass(5s);
  const std::size_t writes = milan.writes_of_slices();
  // Nothing is written while nothing changes that matters here.
  milan.put_pod("web", "10.2.0.30", twin, "shadowpod");
  milan.put_pod("web", "10.2.0.31", "kube-system");
  milan.pass(1min);
  CHECK(milan.writes_of_slices() == writes);
  CHECK(milan.endpoints() == "10.2.0.21+");

  SUBCASE("its pod ends, and somebody else gets the address") {
    milan.change(resources::pods, {twin, "pg-0"}, "status",
                 [](json::object& next) { next["status"].as_object()["phase"] = "Succeeded"; });
    CHECK(milan.shows("", 3s));
    milan.put_pod("dns-2", "10.2.0.21", "kube-system");
    milan.pass(1min);
    CHECK(milan.endpoints() == "");
  }
  SUBCASE("its pod is removed by force") {
    (void)milan.server.remove(resources::pods, {twin, "pg-0"}, {.grace_period_seconds = 0}, "operator");
    CHECK(milan.shows("", 3s));
  }
  SUBCASE("somebody else gets the address before that is seen") {
    milan.put_pod("dns-2", "10.2.0.21", "kube-system");
    CHECK(milan.shows("", 3s));
    (void)milan.server.remove(resources::pods, {"kube-system", "dns-2"}, {.grace_period_seconds = 0}, "operator");
    CHECK(milan.shows("10.2.0.21+", 3s));
  }
}

}  // namespace liqo::testing
