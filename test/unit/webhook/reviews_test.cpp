// The rules and their reads from a cluster: an API server in memory, caches, and the quota ledger.
#include "webhook/reviews.hpp"

#include <doctest/doctest.h>

#include "../kubelet/fakes.hpp"
#include "kube/base/base64.hpp"
#include "kube/net/tls/x509.hpp"
#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "webhook/volume_movers.hpp"

namespace {

using namespace liqo::webhook;
using namespace kube::testing;
using namespace std::chrono_literals;
namespace json = kube::json;
namespace kinds = liqo::api::kinds;

/// Passes on everything but reviews of rights; "admin" has all rights, and others have none.
struct Rights final : kube::net::Transport {
  explicit Rights(SimLink& link) : next(link) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest request, kube::Deadline deadline) override {
    if (!request.target.ends_with("/subjectaccessreviews")) co_return co_await next.send(std::move(request), deadline);
    questions.push_back(request.body);
    if (is_away) co_return kube::fail(kube::Errc::connect, "connection refused");
    const auto asked = kube::parse_json(request.body).value();
    const bool allowed = kube::string_at(asked, {"spec", "user"}) == "admin";
    kube::net::Response response;
    response.head.status = 201;
    response.body = std::make_unique<liqo::test::FakeBody>(
        std::vector<std::string>{json::serialize(json::object{{"status", json::object{{"allowed", allowed}}}})},
        std::nullopt);
    co_return response;
  }
  SimTransport next;
  std::vector<std::string> questions;
  bool is_away = false;
};

struct World : BasicOneCluster<Rights> {
  explicit World(liqo::core::NamespaceSelection selected = {}, std::size_t max_listed = 100'000)
      : BasicOneCluster({.name = "milan", .actor = "liqod", .component = "liqo"}),
        leadership(simulator.executor()),
        ledger({environment(), informers, events, leadership}, api, liqo::quota::LedgerSettings{}),
        callers(environment(), api),
        reviews({.home = informers,
                 .replica_api = api,
                 .ledger = &ledger,
                 .callers = &callers,
                 .selected_namespaces = std::move(selected),
                 .max_listed = max_listed}),
        admission(environment(), tls(), {.address = "127.0.0.1", .port = 0}) {
    for (const kube::Resource& kind :
         {kinds::quotas, kinds::namespace_offloadings, kinds::tenants, kinds::resource_slices, kinds::namespace_maps,
          kinds::renews, kinds::shadow_pods, kinds::ingresses, kinds::vk_options_templates, kinds::virtual_nodes,
          kinds::limit_ranges, kinds::runtime_classes})
      server.serve(kind);
    reviews.add_to(admission);
  }
  ~World() { stop(); }

  static kube::net::TlsContext tls() {
    static const auto pair =
        kube::net::make_self_signed({.common_name = "x"}, VirtualClock::default_start, 24h).value();
    return kube::net::TlsContext::server(
               {.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem, .client_ca_pem = {}})
        .value();
  }
  void start() {
    group.spawn(informers.run());
    group.spawn(ledger.run());
    REQUIRE(reaches([this] { return reviews.waiting_for().empty(); }));
  }
  void make(const kube::Resource& kind, std::string_view object) {
    REQUIRE(server.create(kind, json::parse(object).as_object(), "admin"));
  }
  /// Gives room to the ShadowPods of user "pool-1f" of cluster rome.
  void grant() {
    make(kinds::quotas, R"({"metadata":{"name":"pool","namespace":"liqo-tenant-rome"},"spec":{"user":"pool-1f",
        "limitsEnforcement":"None","resources":{"cpu":"8"}}})");
    simulator.run_for(1s);
  }
  /// The answer to the creation of an object, or to its change from `before`: "" or the message.
  std::string ask(std::string path, std::string_view ns, std::string_view object, std::string_view user = "pool-1f",
                  std::string_view organization = "rome", std::string_view before = "") {
    json::object request{{"uid", "1"}, {"operation", "CREATE"}, {"namespace", ns}, {"object", json::parse(object)}};
    if (!before.empty()) {
      request["operation"] = "UPDATE";
      request["oldObject"] = json::parse(before);
    }
    request["userInfo"] = json::object{{"username", user}, {"groups", json::array{json::string(organization)}}};
    request["dryRun"] = is_dry_run;
    request["resource"] = json::object{{"resource", path.substr(path.rfind('/') + 1)}};
    request["name"] = kube::string_at(request["object"], {"metadata", "name"});
    json::object review{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}};
    review["request"] = std::move(request);
    kube::net::ServerRequest asked;
    asked.method = "POST";
    asked.target = std::move(path);
    asked.body = json::serialize(review);
    asked.peer_address = address;
    liqo::test::FakeResponse response;
    simulator.run(admission.handle(asked, response));
    held = response.held;
    REQUIRE(response.status == 200);
    const auto answer = kube::parse_json(response.body).value();
    patch = kube::decode_base64(kube::string_at(answer, {"response", "patch"})).value();
    return std::string(kube::string_at(answer, {"response", "status", "message"}));
  }

  kube::SoleLeader leadership;
  liqo::quota::QuotaLedger ledger;
  bool is_dry_run = false;
  std::string address;   ///< of the caller; "" = a certificate shows that it is an API server
  std::string patch;     ///< of the last answer
  std::size_t held = 0;  ///< for it
  liqo::webhook::Callers callers;
  Reviews reviews;
  AdmissionServer admission;
};

constexpr std::string_view twin = R"({"metadata":{"name":"shop-rome","labels":{"liqo.io/remote-cluster-id":"rome"}}})";
constexpr std::string_view shadow = R"({"metadata":{"name":"web","namespace":"shop-rome","uid":"uid-1","labels":{
    "offloading.liqo.io/origin":"rome","liqo.io/creator-user":"pool-1f"}},
    "spec":{"pod":{"containers":[{"name":"a","ports":[{"containerPort":1,"hostPort":1}]}]}}})";
constexpr std::string_view policy = R"({"metadata":{"name":"liqo-tenant-rome","labels":{
    "liqo.io/remote-cluster-id":"rome","liqo.io/tenant-namespace":"true"},"annotations":{
    "liqo.io/pod-policy":"{\"hostPorts\":true}"}}})";
constexpr std::string_view quota =
    R"({"metadata":{"name":"q","namespace":"liqo-tenant-rome"},"spec":{"user":"pool-1f","resources":{}}})";

}  // namespace

TEST_CASE("nothing is let in before the caches are complete, and it is said when to try again") {
  World world;
  world.make(kube::resources::namespaces, twin);
  world.make(kube::resources::namespaces, policy);
  CHECK(world.reviews.waiting_for() != "");
  // The caches do not run yet: the namespace comes from the server, and the policy is the strict one.
  world.group.spawn(world.informers.run());
  world.group.spawn(world.ledger.run());
  CHECK(world.ask("/validate/shadowpods", "shop-rome", shadow) != "");
  CHECK(world.simulator.run_until([&] { return world.reviews.waiting_for().empty(); }, 1min) ==
        Simulator::End::reached);
}

TEST_CASE("a selected namespace is marked as it is made, and its pods follow before its NamespaceOffloading is there") {
  World world(
      liqo::core::NamespaceSelection::read({.selector = "team=ml", .pod_strategy = "Remote", .clusters = {}}, "liqo")
          .value());
  world.start();
  constexpr std::string_view pod = R"({"metadata":{"name":"web"},"spec":{"containers":[{"name":"a"}]}})";
  const auto make = [&](std::string_view ns) {
    CHECK(world.ask("/mutate/namespaces", "", ns) == "");
    world.make(kube::resources::namespaces, ns);
    return world.patch;
  };
  const auto patch_of_pod = [&](std::string_view ns) {
    CHECK(world.ask("/mutate/pod", ns, pod) == "");
    return world.patch;
  };
  CHECK(make(R"({"metadata":{"name":"shop","labels":{"team":"ml"}}})") ==
        R"([{"op":"add","path":"/metadata/labels/liqo.io~1scheduling-enabled","value":"true"}])");
  CHECK(patch_of_pod("shop").contains("virtual-node"));
  CHECK(make(R"({"metadata":{"name":"office","labels":{"team":"sales"}}})") == "");
  CHECK(patch_of_pod("office") == "");
  CHECK(make(R"({"metadata":{"name":"kube-flannel","labels":{"team":"ml"}}})") == "");
  CHECK(patch_of_pod("kube-flannel") == "");
  // An object made by hand is followed, not the operator's strategy.
  world.make(kinds::namespace_offloadings, R"({"metadata":{"name":"offloading","namespace":"shop"},
      "spec":{"podOffloadingStrategy":"Local"}})");
  CHECK(patch_of_pod("shop") == "");
}

TEST_CASE("a DaemonSet's template follows its namespace, and a changed pod keeps what admission gave it") {
  World world;
  world.start();
  constexpr std::string_view set = R"({"metadata":{"name":"agent"},"spec":{"template":{"spec":{}}}})";
  const auto patch_of = [&](std::string_view path, std::string_view object, std::string_view before = "") {
    CHECK(world.ask(std::string(path), "shop", object, "pool-1f", "rome", before) == "");
    return world.patch;
  };
  CHECK(patch_of("/mutate/daemonsets", set) == "");
  world.make(kinds::namespace_offloadings, R"({"metadata":{"name":"offloading","namespace":"shop"},
      "spec":{"podOffloadingStrategy":"Remote"}})");
  CHECK(patch_of("/mutate/daemonsets", set).contains(R"("path":"/spec/template/spec/tolerations")"));
  CHECK(patch_of("/mutate/daemonsets", set, set).contains(R"("path":"/spec/template/spec/affinity")"));

  constexpr std::string_view had = R"({"metadata":{"name":"web"},"spec":{"tolerations":[
      {"key":"virtual-node.liqo.io/not-allowed","operator":"Exists","effect":"NoExecute"}]}})";
  constexpr std::string_view has =
      R"({"metadata":{"name":"web"},"spec":{"tolerations":[{"key":"gpu","operator":"Exists"}]}})";
  CHECK(patch_of("/mutate/pod", has, had) ==
        R"([{"op":"add","path":"/spec/tolerations/-","value":)"
        R"({"key":"virtual-node.liqo.io/not-allowed","operator":"Exists","effect":"NoExecute"}}])");
  CHECK(patch_of("/mutate/pod", had, had) == "");
}

TEST_CASE("a pod that is restored from a backup loses what liqod has noted on the earlier one") {
  World world;
  world.start();
  world.make(kinds::namespace_offloadings, R"({"metadata":{"name":"offloading","namespace":"shop"},
      "spec":{"podOffloadingStrategy":"LocalAndRemote"}})");
  constexpr std::string_view restored = R"({"metadata":{"name":"web","labels":{"app":"web","liqo.io/local-pod":"true"},
      "annotations":{"liqo.io/api-server-support":"home","offloading.liqo.io/restart-offset":"5"}},"spec":{}})";
  CHECK(world.ask("/mutate/pod", "shop", restored) == "");
  CHECK(world.patch.contains(R"({"op":"remove","path":"/metadata/labels/liqo.io~1local-pod"})"));
  CHECK(world.patch.contains(R"({"op":"remove","path":"/metadata/annotations/offloading.liqo.io~1restart-offset"})"));
  CHECK_FALSE(world.patch.contains("api-server-support"));
  CHECK(world.patch.contains("virtual-node"));
}

namespace {

constexpr std::string_view carrier = R"({"metadata":{"name":"liqo-move-data-to","labels":{
    "app.kubernetes.io/component":"volume-carrier","app.kubernetes.io/managed-by":"liqoctl"}},"spec":{
    "restartPolicy":"Never","activeDeadlineSeconds":60,"nodeName":"rome-1","tolerations":[{"operator":"Exists"}],
    "containers":[{"name":"carrier","command":["/usr/bin/liqoctl","volume","hold"]}],
    "volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}}]}})";

/// Makes the pods of namespace `shop` run at providers.
void offload_shop(World& world) {
  world.make(kinds::namespace_offloadings, R"({"metadata":{"name":"offloading","namespace":"shop"},
      "spec":{"podOffloadingStrategy":"Remote"}})");
}

}  // namespace

TEST_CASE("a pod that carries a volume is let be where its maker may move volumes, and nobody else's is") {
  World world;
  world.start();
  offload_shop(world);
  CHECK(world.ask("/mutate/pod", "shop", carrier, "admin") == "");
  CHECK(world.patch == "");
  REQUIRE(world.transport.questions.size() == 1);
  CHECK(world.transport.questions.front().contains(
      R"("resourceAttributes":{"version":"v1","resource":"persistentvolumes","verb":"patch"})"));
  CHECK(world.transport.questions.front().contains(R"("groups":["rome"])"));
  // It claims to be one, and its creator may not move volumes.
  CHECK(world.ask("/mutate/pod", "shop", carrier, "somebody") == "");
  CHECK(world.patch.contains("nodeAffinity"));
  // Rights are not reviewed for other pods.
  CHECK(world.ask("/mutate/pod", "shop", R"({"metadata":{"name":"web"},"spec":{}})", "admin") == "");
  CHECK(world.patch.contains("nodeAffinity"));
  CHECK(world.transport.questions.size() == 2);
  world.transport.is_away = true;
  CHECK(world.ask("/mutate/pod", "shop", carrier, "admin").starts_with("Liqo cannot decide now: "));
}

TEST_CASE("strangers do not hear what a user may do, where every API server is known") {
  World world;
  world.start();
  offload_shop(world);
  world.make(kinds::endpoint_slices, R"({"metadata":{"name":"kubernetes","namespace":"default"},"addressType":"IPv4",
      "endpoints":[{"addresses":["10.0.0.1"]}]})");
  world.group.spawn(world.callers.run());
  world.callers.confirm("10.0.0.1");
  world.address = "10.244.3.7";
  CHECK(world.ask("/mutate/pod", "shop", carrier, "admin") == "");
  CHECK(world.patch.contains("nodeAffinity"));
  CHECK(world.transport.questions.empty());
  world.address = "10.0.0.1";
  CHECK(world.ask("/mutate/pod", "shop", carrier, "admin") == "");
  CHECK(world.patch == "");
  CHECK(world.transport.questions.size() == 1);
}

TEST_CASE("where an API server may be unknown, volumes are moved through it, and strangers cause few questions") {
  World world;
  world.start();
  offload_shop(world);
  world.address = "10.0.0.7";
  for (int i = 0; i < 4; ++i) {
    CHECK(world.ask("/mutate/pod", "shop", carrier, "admin") == "");
    CHECK(world.patch == "");
  }
  std::string last;
  for (int i = 0; i < 16; ++i) last = world.ask("/mutate/pod", "shop", carrier, "admin");
  CHECK(last.starts_with("Liqo cannot decide now: too many pods that carry volumes"));
  CHECK(world.transport.questions.size() >= 8);
  CHECK(world.transport.questions.size() <= 13);
}

TEST_CASE("about a user with groups without end nobody is asked") {
  CHECK(is_askable({.name = "admin", .groups = {"system:masters"}}));
  CHECK(is_askable({.name = "admin", .groups = std::vector<std::string>(1000, "group")}));
  CHECK_FALSE(is_askable({.name = "admin", .groups = std::vector<std::string>(100, std::string(1000, 'g'))}));
  CHECK_FALSE(is_askable({.name = std::string(2000, 'n'), .groups = {}}));
  World world;
  world.start();
  offload_shop(world);
  CHECK(world.ask("/mutate/pod", "shop", carrier, "admin", std::string(100'000, 'g')) == "");
  CHECK(world.patch.contains("nodeAffinity"));
  CHECK(world.transport.questions.empty());
}

TEST_CASE("under the strategy Local a selected namespace is not marked") {
  World world(
      liqo::core::NamespaceSelection::read({.selector = "team=ml", .pod_strategy = "Local", .clusters = {}}, "liqo")
          .value());
  world.start();
  CHECK(world.ask("/mutate/namespaces", "", R"({"metadata":{"name":"shop","labels":{"team":"ml"}}})") == "");
  CHECK(world.patch == "");
}

TEST_CASE("a VirtualNode is made where its VkOptionsTemplate is there, or nothing is left open") {
  World world;
  world.start();
  const auto ask = [&](std::string_view spec) {
    return world.ask(
        "/mutate/virtualnodes", "liqo-tenant-milan",
        R"({"metadata":{"name":"milan","namespace":"liqo-tenant-milan"},"spec":)" + std::string(spec) + "}");
  };
  const char* follows = R"({"clusterID":"milan","vkOptionsTemplateRef":{"name":"strict"}})";
  CHECK(ask(R"({"clusterID":"milan"})") == "");
  CHECK(ask(follows).starts_with("the VkOptionsTemplate liqo/strict does not exist"));
  CHECK(ask(R"({"createNode":true,"disableNetworkCheck":true,"vkOptionsTemplateRef":{"name":"strict"}})") == "");
  world.make(kinds::vk_options_templates, R"({"metadata":{"name":"strict","namespace":"liqo"}})");
  CHECK(ask(follows) == "");
}

TEST_CASE("a VirtualNode and a slice are let in where the Node of their name would be nobody else's") {
  World world;
  world.start();
  const auto make_node = [&](std::string_view ns) {
    return world.ask(
        "/validate/virtualnodes", ns,
        R"({"metadata":{"name":"gpu","namespace":")" + std::string(ns) + R"("},"spec":{"clusterID":"milan"}})");
  };
  const auto make_slice = [&](std::string_view ns, std::string_view annotations = "{}") {
    return world.ask("/validate/resourceslices", ns,
                     R"({"metadata":{"name":"gpu","namespace":")" + std::string(ns) + R"(","annotations":)" +
                         std::string(annotations) + R"(},"spec":{}})");
  };
  CHECK(make_node("liqo-tenant-milan") == "");
  CHECK(make_slice("liqo-tenant-milan") == "");
  world.make(kube::resources::nodes, R"({"metadata":{"name":"gpu","labels":{"liqo.io/type":"virtual-node",
      "liqo.io/remote-cluster-id":"naples"}}})");
  CHECK(make_node("liqo-tenant-milan").starts_with("there is a node \"gpu\" already that is of cluster \"naples\""));
  REQUIRE(world.server.remove(kube::resources::nodes, {"", "gpu"}, {}, "admin"));
  CHECK(make_node("liqo-tenant-milan") == "");
  world.make(kinds::virtual_nodes, R"({"metadata":{"name":"gpu","namespace":"liqo-tenant-naples"},"spec":{}})");
  CHECK(make_node("liqo-tenant-milan")
            .starts_with("there is a VirtualNode of that name already, liqo-tenant-naples/gpu, and both would have"));
  CHECK(make_slice("liqo-tenant-milan")
            .starts_with("there is VirtualNode liqo-tenant-naples/gpu already: the node of this slice would have"));
  CHECK(make_slice("liqo-tenant-milan", R"({"liqo.io/create-virtual-node":"false"})") == "");
  // The one of its own namespace is that which the server finds itself, or that of the slice.
  CHECK(make_node("liqo-tenant-naples") == "");
  CHECK(make_slice("liqo-tenant-naples") == "");
}

TEST_CASE("a ShadowPod is held against its namespace, the policy of its tenant, and its Quota") {
  World world;
  world.start();
  const auto ask = [&] { return world.ask("/validate/shadowpods", "shop-rome", shadow); };
  CHECK(ask().find("belongs to no consumer") != std::string::npos);
  // As it is now, not as the cache saw it.
  world.make(kube::resources::namespaces, twin);
  CHECK(ask().find("hostPort") != std::string::npos);
  world.make(kube::resources::namespaces, policy);
  world.simulator.run_for(1s);
  CHECK(ask().starts_with("there is no quota for user \"pool-1f\" of cluster rome"));
  world.grant();
  CHECK(ask() == "");
}

TEST_CASE(
    "ephemeral containers are held against the policy of the tenant, and one that is not understood lets none in") {
  World world;
  world.start();
  world.grant();
  world.make(kube::resources::namespaces, twin);
  const auto with = [](std::string_view list) {
    json::object made = json::parse(shadow).as_object();
    made["spec"] = json::object{{"pod", json::object{{"containers", json::parse(R"([{"name":"a"}])")},
                                                     {"ephemeralContainers", json::parse(list)}}}};
    return json::serialize(made);
  };
  const auto ask = [&](std::string_view list) {
    return world.ask("/validate/shadowpods", "shop-rome", with(list), "pool-1f", "rome", with("[]"));
  };
  const std::string_view plain = R"([{"name":"look"}])";
  CHECK(ask(plain) == "");
  CHECK(ask(R"([{"name":"look","securityContext":{"privileged":true}}])")
            .contains("the policy key privileged would allow it"));
  const auto with_policy = [](std::string_view text) {
    json::object made = json::parse(policy).as_object();
    made["metadata"].as_object()["annotations"].as_object()["liqo.io/pod-policy"] = text;
    return json::serialize(made);
  };
  SUBCASE("none are allowed") {
    world.make(kube::resources::namespaces, with_policy(R"({"maxEphemeralContainers":0})"));
    world.simulator.run_for(1s);
    CHECK(ask(plain).contains("may have no ephemeral containers"));
  }
  SUBCASE("a policy that is not understood") {
    world.make(kube::resources::namespaces, with_policy(R"({"maxEphemeralContainer":1})"));
    world.simulator.run_for(1s);
    CHECK(ask(plain).contains("cannot be understood"));
    CHECK(ask("[]") == "");
  }
}

TEST_CASE("names that are taken are looked up in the whole cluster") {
  World world;
  world.start();
  world.make(kinds::resource_slices, R"({"metadata":{"name":"pool","namespace":"liqo-tenant-turin"}})");
  const std::string_view slice = R"({"metadata":{"name":"pool","namespace":"liqo-tenant-rome"}})";
  CHECK(world.ask("/validate/resourceslices", "liqo-tenant-rome", slice, "admin").find("liqo-tenant-turin/pool") !=
        std::string::npos);
  world.make(kinds::quotas, quota);
  const std::string_view second =
      R"({"metadata":{"name":"r","namespace":"x"},"spec":{"user":"pool-1f","resources":{}}})";
  CHECK(world.ask("/validate/quotas", "x", second, "admin").find("liqo-tenant-rome/q") != std::string::npos);
  world.make(kube::resources::nodes, R"({"metadata":{"name":"worker"}})");
  CHECK(world.ask("/validate/virtualnodes", "x", R"({"metadata":{"name":"worker"},"spec":{}})").find("not virtual") !=
        std::string::npos);
}

TEST_CASE("a consumer is not let in whose ID would give it the name of a namespace that is no twin") {
  World world;
  world.start();
  world.make(kube::resources::namespaces, R"({"metadata":{"name":"liqo-tenant-production","labels":{
      "liqo.io/remote-cluster-id":"production","liqo.io/tenant-namespace":"true"}}})");
  world.make(kube::resources::namespaces,
             R"({"metadata":{"name":"blog-production","labels":{"liqo.io/remote-cluster-id":"production"}}})");
  world.simulator.run_for(1s);
  const auto ask = [&] {
    return world.ask("/validate/tenants", "liqo-tenant-production", R"({"metadata":{"name":"production","labels":{
        "liqo.io/remote-cluster-id":"production"}},"spec":{"clusterID":"production"}})",
                     "admin", "system:masters");
  };
  CHECK(ask() == "");
  world.make(kube::resources::namespaces, R"({"metadata":{"name":"shop-frontend-production"}})");
  world.simulator.run_for(1s);
  CHECK(ask().contains("so has namespace shop-frontend-production, which is not a twin"));
}

TEST_CASE("a consumer's Secrets are held against its own namespaces") {
  World world;
  world.start();
  world.make(kube::resources::namespaces, twin);
  const std::string_view token = R"({"metadata":{"name":"t"},"type":"kubernetes.io/service-account-token"})";
  CHECK(world.ask("/validate/secrets", "shop-rome", token).find("a token of this cluster") != std::string::npos);
  CHECK(world.ask("/validate/secrets", "shop-rome", R"({"metadata":{"name":"t"},"type":"Opaque"})") == "");
  CHECK(world.ask("/validate/secrets", "elsewhere", token) == "");
}

TEST_CASE("an object of a consumer names its own namespace alone as its owner, by the UID that it has now") {
  World world;
  world.make(kube::resources::namespaces, twin);
  world.start();
  world.grant();
  const auto uid = [&] {
    return std::string(
        kube::string_at(*world.server.get(kube::resources::namespaces, {"", "shop-rome"}), {"metadata", "uid"}));
  };
  const auto object = [](std::string_view owner) {
    return R"({"metadata":{"name":"web","namespace":"shop-rome","uid":"uid-1","labels":{
        "offloading.liqo.io/origin":"rome","liqo.io/creator-user":"pool-1f"},
        "ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"shop-rome","uid":")" +
           std::string(owner) + R"("}]},"spec":{"pod":{"containers":[{"name":"a"}]}}})";
  };
  const std::string former = uid();
  for (const char* path :
       {"/validate/shadowpods", "/validate/twin-objects", "/validate/shadowendpointslices", "/validate/services",
        "/validate/ingresses", "/validate/persistentvolumeclaims", "/validate/poddisruptionbudgets"}) {
    CAPTURE(path);
    CHECK(world.ask(path, "shop-rome", object(former)).find("ownerReferences") == std::string::npos);
    CHECK(world.ask(path, "shop-rome", object("other")).contains("metadata.ownerReferences"));
    CHECK(world.ask(path, "shop-rome", object("other"), "admin", "system:masters").find("ownerReferences") ==
          std::string::npos);
    CHECK(world.ask(path, "shop-rome", object("other"), "pool-1f", "rome", object("other")).find("ownerReferences") ==
          std::string::npos);
  }
  // The cache need not have seen that the twin was made anew.
  REQUIRE(world.server.remove(kube::resources::namespaces, {"", "shop-rome"}, {}, "admin"));
  world.make(kube::resources::namespaces, twin);
  REQUIRE(uid() != former);
  CHECK(world.ask("/validate/twin-objects", "shop-rome", object(former)).contains("of another UID"));
  CHECK(world.ask("/validate/twin-objects", "shop-rome", object(uid())) == "");
}

TEST_CASE("what a consumer writes may be as large as its policy and the number of its objects let it") {
  World world;
  world.make(kube::resources::namespaces, twin);
  world.make(kube::resources::namespaces, R"({"metadata":{"name":"liqo-tenant-rome","labels":{
    "liqo.io/remote-cluster-id":"rome","liqo.io/tenant-namespace":"true"},"annotations":{
    "liqo.io/pod-policy":"{\"maxTwinBytes\":100000}"}}})");
  world.start();
  const auto ask = [&](std::string path, std::size_t bytes, std::string_view user = "pool-1f") {
    return world.ask(
        std::move(path), "shop-rome",
        R"({"metadata":{"name":"s","namespace":"shop-rome"},"data":{"x":")" + std::string(bytes, 'x') + "\"}}", user,
        user == "admin" ? "system:masters" : "rome");
  };
  CHECK(ask("/validate/twin-objects", 90'000) == "");
  CHECK(ask("/validate/twin-objects", 100'000).contains("maxTwinBytes in the policy"));
  CHECK(ask("/validate/twin-objects", 100'000, "admin") == "");
  // As many as Kubernetes counts, in all twins together.
  for (const char* ns : {"shop-rome", "blog-rome"}) {
    world.make(kinds::resource_quotas,
               R"({"metadata":{"name":"liqo-twin","namespace":")" + std::string(ns) +
                   R"(","labels":{"app.kubernetes.io/managed-by":"liqo","liqo.io/remote-cluster-id":"rome"}}})");
    static_cast<void>(world.server.update(
        {kinds::resource_quotas, {ns, "liqo-twin"}, "status"},
        [](json::object& next) {
          kube::ensure_object(next, "status")["used"] =
              json::object{{"count/secrets", "3"}, {"count/configmaps", "2"}, {"services.nodeports", "90"}};
        },
        "controller-manager"));
  }
  world.simulator.run_for(1s);
  for (const char* path :
       {"/validate/twin-objects", "/validate/shadowendpointslices", "/validate/services", "/validate/ingresses"}) {
    CAPTURE(path);
    CHECK(ask(path, 9'000) == "");
    CHECK(ask(path, 9'500).contains("hold 10 objects, none of"));
  }
  CHECK(ask("/validate/persistentvolumeclaims", 9'500) != "");
}

TEST_CASE("a consumer's Services and Ingresses are held against its policy and its namespaces") {
  World world;
  world.start();
  world.make(kube::resources::namespaces, twin);
  const std::string_view bad = R"({"metadata":{"name":"s"},"spec":{"externalIPs":["10.96.0.1"]}})";
  const std::string_view alias =
      R"({"metadata":{"name":"s"},"spec":{"type":"ExternalName","externalName":"a.shop-rome.svc.cluster.local"}})";
  const std::string_view stranger =
      R"({"metadata":{"name":"s"},"spec":{"type":"ExternalName","externalName":"a.elsewhere.svc.cluster.local"}})";
  const std::string_view route = R"({"metadata":{"name":"i"},"spec":{"rules":[{"host":"a.example.com"}]}})";
  CHECK(world.ask("/validate/services", "shop-rome", bad).find("spec.externalIPs") != std::string::npos);
  CHECK(world.ask("/validate/services", "elsewhere", bad) == "");
  world.simulator.run_for(1s);
  CHECK(world.ask("/validate/services", "shop-rome", alias) == "");
  CHECK(world.ask("/validate/services", "shop-rome", stranger).find("what others have") != std::string::npos);
  CHECK(world.ask("/validate/ingresses", "shop-rome", route) == "");
  const auto with_policy = [](std::string_view text) {
    json::object made = json::parse(policy).as_object();
    made["metadata"].as_object()["annotations"].as_object()["liqo.io/pod-policy"] = text;
    return json::serialize(made);
  };
  SUBCASE("the policy says otherwise") {
    world.make(kube::resources::namespaces, with_policy(R"({"externalIPs":true,"ingressHosts":["b.example.com"]})"));
    world.simulator.run_for(1s);
    CHECK(world.ask("/validate/services", "shop-rome", bad) == "");
    CHECK(world.ask("/validate/ingresses", "shop-rome", route).find("ingressHosts") != std::string::npos);
  }
  SUBCASE("a policy that is not understood lets nothing in, of the consumer's") {
    world.make(kube::resources::namespaces, with_policy(R"({"extrnalIPs":true})"));
    world.simulator.run_for(1s);
    CHECK(world.ask("/validate/services", "shop-rome", alias).find("cannot be understood") != std::string::npos);
    CHECK(world.ask("/validate/ingresses", "shop-rome", route).find("cannot be understood") != std::string::npos);
  }
}

TEST_CASE("a consumer's budgets are held against its policy, and a twin whose budgets held a drain gets no new ones") {
  World world;
  world.start();
  world.make(kube::resources::namespaces, twin);
  const std::string_view path = "/validate/poddisruptionbudgets";
  const std::string_view copy = R"({"metadata":{"name":"b","labels":{"offloading.liqo.io/origin":"rome"}},"spec":{
      "minAvailable":3,"selector":{},"unhealthyPodEvictionPolicy":"AlwaysAllow"}})";
  const std::string_view stays = R"({"metadata":{"name":"b","labels":{"offloading.liqo.io/origin":"rome"},
      "finalizers":["x.io/stay"]},"spec":{"minAvailable":3,"selector":{},"unhealthyPodEvictionPolicy":"AlwaysAllow"}})";
  world.simulator.run_for(1s);
  CHECK(world.ask(std::string(path), "shop-rome", copy).contains("no disruptionBudgets"));
  CHECK(world.ask(std::string(path), "shop-rome", copy, "admin", "system:masters") == "");
  json::object tenant = json::parse(policy).as_object();
  tenant["metadata"].as_object()["annotations"].as_object()["liqo.io/pod-policy"] =
      R"({"disruptionBudgets":{"maxBlock":"10m"}})";
  world.make(kube::resources::namespaces, json::serialize(tenant));
  world.simulator.run_for(1s);
  CHECK(world.ask(std::string(path), "shop-rome", copy) == "");
  // Nothing but the finalizers differs.
  CHECK(world.ask(std::string(path), "shop-rome", stays, "pool-1f", "rome", copy).contains("it has finalizers"));
  static_cast<void>(world.server.update(
      {kube::resources::namespaces, {"", "shop-rome"}},
      [](json::object& next) {
        kube::ensure_object(next["metadata"].as_object(), "annotations")["offloading.liqo.io/budgets-lifted"] = "now";
      },
      "liqod"));
  world.simulator.run_for(1s);
  CHECK(world.ask(std::string(path), "shop-rome", copy).contains("have held the drain of a node"));
  CHECK(world.ask(std::string(path), "shop-rome", copy, "pool-1f", "rome", copy) == "");
}

TEST_CASE("an Ingress and a Service that stands for another name do not meet, whichever comes first") {
  World world;
  world.make(kube::resources::namespaces, twin);
  world.start();
  const std::string_view alias = R"({"metadata":{"name":"api","namespace":"shop-rome"},"spec":{"type":"ExternalName",
      "externalName":"db.example.com"}})";
  const std::string_view route = R"({"metadata":{"name":"i","namespace":"shop-rome"},"spec":{"rules":[{"http":{"paths":[
      {"backend":{"service":{"name":"api"}}}]}}]}})";
  CHECK(world.ask("/validate/services", "shop-rome", alias) == "");
  CHECK(world.ask("/validate/ingresses", "shop-rome", route) == "");
  SUBCASE("the Service") {
    world.make(kube::resources::services, alias);
    CHECK(world.ask("/validate/ingresses", "shop-rome", route).find("externalNameBackends") != std::string::npos);
  }
  SUBCASE("the Ingress") {
    world.make(kinds::ingresses, route);
    CHECK(world.ask("/validate/services", "shop-rome", alias).find("externalNameBackends") != std::string::npos);
  }
}

TEST_CASE("claims, and their templates in pods, are of the classes that the consumer's slices were granted") {
  World world;
  world.make(kube::resources::namespaces, twin);
  world.make(kube::resources::namespaces, policy);
  world.grant();
  world.start();
  const std::string_view claim = R"({"metadata":{"name":"c"},"spec":{"storageClassName":"fast"}})";
  const std::string_view pod = R"({"metadata":{"name":"web","namespace":"shop-rome","uid":"uid-1","labels":{
      "offloading.liqo.io/origin":"rome","liqo.io/creator-user":"pool-1f"}},"spec":{"pod":{"containers":[{"name":"a"}],
      "volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"storageClassName":"fast"}}}}]}}})";
  const auto both = [&](std::string_view expected) {
    for (const std::string& said : {world.ask("/validate/persistentvolumeclaims", "shop-rome", claim),
                                    world.ask("/validate/shadowpods", "shop-rome", pod)})
      CHECK((expected.empty() ? said.empty() : said.find(expected) != std::string::npos));
  };
  both("storageClasses in the policy");
  // Offers of others to this cluster are no grant.
  world.make(kinds::resource_slices, R"({"metadata":{"name":"own","namespace":"liqo-tenant-rome"}})");
  world.make(kinds::resource_slices, R"({"metadata":{"name":"pool","namespace":"liqo-tenant-rome",
      "labels":{"liqo.io/replicated":"true"}}})");
  const auto grant = [&](std::string_view name) {
    const auto granted = [](json::object& next) {
      next["status"] = json::parse(R"({"storageClasses":[{"storageClassName":"fast"}]})");
    };
    REQUIRE(world.server.update({kinds::resource_slices, {"liqo-tenant-rome", std::string(name)}, "status"}, granted,
                                "admin"));
  };
  grant("own");
  world.simulator.run_for(1s);
  both("storageClasses in the policy");
  grant("pool");
  world.simulator.run_for(1s);
  const std::uint64_t requests = world.link.requests();
  CHECK(world.ask("/validate/persistentvolumeclaims", "shop-rome", claim) == "");
  // Known without a request to the server, whatever the consumer's slices contain.
  CHECK(world.link.requests() == requests);
  both("");
  CHECK(world.ask("/validate/persistentvolumeclaims", "elsewhere",
                  R"({"metadata":{"name":"c"},"spec":{"volumeName":"any"}})") == "");
}

/// An object that a consumer replicates into its tenant namespace, with that many bytes in its spec.
std::string replica(std::string_view name, std::size_t bytes = 0, std::string_view finalizers = "[]") {
  return R"({"metadata":{"name":")" + std::string(name) + R"(","namespace":"liqo-tenant-rome","labels":{
      "liqo.io/replicated":"true","liqo.io/replication":"false","liqo.io/originID":"rome",
      "liqo.io/remote-cluster-id":"rome"},"finalizers":)" +
         std::string(finalizers) + R"(},"spec":{"csr":")" + std::string(bytes, 'x') + "\"}}";
}

/// rome's tenant namespace, with that limit of objects of each kind.
std::string tenant_with(int max_objects) {
  json::object tenant = json::parse(policy).as_object();
  tenant["metadata"].as_object()["annotations"].as_object()["liqo.io/pod-policy"] =
      R"({"maxObjects":)" + std::to_string(max_objects) + "}";
  return json::serialize(tenant);
}

TEST_CASE("what a consumer asks by is counted in its tenant namespace, kind by kind") {
  World world;
  world.start();
  world.make(kube::resources::namespaces, tenant_with(2));
  world.is_dry_run = true;
  const auto ask = [&](std::string_view path) {
    world.simulator.run_for(1s);
    return world.ask(std::string(path), "liqo-tenant-rome", replica("new"), "rome", "liqo.io");
  };
  world.make(kinds::resource_slices, R"({"metadata":{"name":"own","namespace":"liqo-tenant-rome"}})");
  world.make(kinds::resource_slices, replica("one"));
  CHECK(ask("/validate/resourceslices") == "");
  world.make(kinds::resource_slices, replica("two"));
  CHECK(ask("/validate/resourceslices").find("maxObjects") != std::string::npos);
  CHECK(ask("/validate/namespacemaps") == "");
  CHECK(ask("/validate/renews") == "");
  for (std::string_view name : {"one", "two"}) world.make(kinds::namespace_maps, replica(name));
  for (std::string_view name : {"one", "two"}) world.make(kinds::renews, replica(name));
  CHECK(ask("/validate/namespacemaps").find("maxObjects") != std::string::npos);
  CHECK(ask("/validate/renews").find("maxObjects") != std::string::npos);
}

TEST_CASE("a burst of what a consumer asks by is counted before the caches show it") {
  World world;
  world.make(kube::resources::namespaces, tenant_with(2));
  world.start();
  const auto ask = [&](std::string_view name) {
    return world.ask("/validate/resourceslices", "liqo-tenant-rome", replica(name), "rome", "liqo.io");
  };
  world.is_dry_run = true;
  for (const char* name : {"a", "b", "c"}) CHECK(ask(name) == "");
  world.is_dry_run = false;
  const std::uint64_t requests = world.link.requests();
  CHECK(ask("a") == "");
  CHECK(ask("b") == "");
  CHECK(ask("c").contains("there are 2 resourceslices of this consumer already"));
  // It is asked again when an answer was lost.
  CHECK(ask("b") == "");
  CHECK(world.link.requests() == requests);
  // An object that was not stored by now never will be.
  world.make(kinds::resource_slices, replica("a"));
  world.simulator.run_for(11s);
  CHECK(ask("c") == "");
  CHECK(ask("d").contains("maxObjects"));
}

TEST_CASE("what somebody makes up who is no API server does not count against a consumer") {
  World world;
  world.make(kube::resources::namespaces, tenant_with(2));
  world.start();
  const auto ask = [&](std::string_view name) {
    return world.ask("/validate/resourceslices", "liqo-tenant-rome", replica(name), "rome", "liqo.io");
  };
  world.address = "10.9.9.9";
  for (const char* name : {"x", "y", "z"}) CHECK(ask(name) == "");
  world.address = "10.0.0.1";
  world.callers.confirm(world.address);
  for (const char* name : {"a", "b"}) CHECK(ask(name) == "");
  CHECK(ask("c").contains("maxObjects"));
}

TEST_CASE("what a consumer writes into its tenant namespace is small, and what is stored already may shrink and go") {
  World world;
  world.start();
  const auto ask = [&](std::string_view path, const std::string& object, const std::string& before = "",
                       std::string_view user = "rome") {
    return world.ask(std::string(path), "liqo-tenant-rome", object, user, user == "rome" ? "liqo.io" : "system:masters",
                     before);
  };
  const std::string small = replica("s", 1'000), large = replica("s", 100 << 10);
  for (const char* path : {"/validate/resourceslices", "/validate/renews"}) {
    CAPTURE(path);
    CHECK(ask(path, small) == "");
    CHECK(ask(path, large).contains("a consumer may write 32768 of them"));
    CHECK(ask(path, large, small).contains("a consumer may write 32768 of them"));
    CHECK(ask(path, large, large) == "");
    CHECK(ask(path, replica("s", 99 << 10), large) == "");
    CHECK(ask(path, large, "", "admin") == "");
    CHECK(ask(path, large, replica("s", 100 << 10, R"(["crdReplicator.liqo.io/resource"])"), "admin") == "");
  }
  CHECK(ask("/validate/namespacemaps", large) == "");
  CHECK(ask("/validate/namespacemaps", replica("s", 600 << 10)).contains("a consumer may write 524288 of them"));
}

TEST_CASE("what decisions read is held for them, and read together by those who come at once") {
  World world;
  world.make(kube::resources::namespaces, twin);
  world.start();
  json::object route = json::parse(R"({"metadata":{"name":"i","namespace":"shop-rome"}})").as_object();
  for (int i = 0; i < 30; ++i) {
    route["metadata"].as_object()["name"] = "i" + std::to_string(i);
    route["metadata"].as_object()["annotations"] = json::object{{"note", std::string(200'000, 'x')}};
    world.make(kinds::ingresses, json::serialize(route));
  }
  const auto body = [](int number) {
    return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE",
        "namespace":"shop-rome","dryRun":true,"userInfo":{"username":"pool-1f","groups":["rome"]},
        "object":{"metadata":{"name":"s)" +
           std::to_string(number) + R"("},
        "spec":{"type":"ExternalName","externalName":"db.example.com"}}}})";
  };
  constexpr int count = 20;
  std::vector<kube::net::ServerRequest> asked(count);
  std::vector<liqo::test::FakeResponse> responses(count);
  std::size_t lists = 0;
  world.link.on_send([&](const kube::HttpRequest& request) {
    lists += request.target.contains("/ingresses") && !request.target.contains("continue=") ? 1 : 0;
  });
  for (int i = 0; i < count; ++i) {
    asked[std::size_t(i)].method = "POST";
    asked[std::size_t(i)].target = "/validate/services";
    asked[std::size_t(i)].body = body(i);
    world.group.spawn(world.admission.handle(asked[std::size_t(i)], responses[std::size_t(i)]));
  }
  REQUIRE(world.simulator.run_until(
              [&] { return std::ranges::all_of(responses, [](const auto& each) { return each.status == 200; }); },
              1min) == Simulator::End::reached);
  std::size_t held = 0;
  for (const liqo::test::FakeResponse& each : responses) {
    CHECK(each.body.contains("\"allowed\":true"));
    held += each.held;
  }
  // Two lists, and with them the twenty reviews themselves.
  CHECK(lists == 2);
  CHECK(held > 2 * LiveReads::one_list);
  CHECK(held < 3 * LiveReads::one_list);
}

TEST_CASE("amounts of a Quota change without a look at all others") {
  World world;
  world.make(kinds::quotas, quota);
  world.start();
  std::size_t lists = 0;
  world.link.on_send([&](const kube::HttpRequest& request) { lists += request.target.contains("/quotas?") ? 1 : 0; });
  const std::string_view more = R"({"metadata":{"name":"q","namespace":"liqo-tenant-rome"},"spec":{"user":"pool-1f",
      "resources":{"cpu":"9"}}})";
  CHECK(world.ask("/validate/quotas", "liqo-tenant-rome", more, "admin", "", quota) == "");
  CHECK(lists == 0);
  const std::string_view other = R"({"metadata":{"name":"r","namespace":"x"},"spec":{"user":"pool-2","resources":{}}})";
  const std::string_view renamed =
      R"({"metadata":{"name":"r","namespace":"x"},"spec":{"user":"pool-1f","resources":{}}})";
  CHECK(world.ask("/validate/quotas", "x", renamed, "admin", "", other).contains("has a Quota already"));
  CHECK(lists == 1);
}

TEST_CASE("a policy with a typo is refused as it is written") {
  World world;
  world.start();
  const std::string_view typo = R"({"metadata":{"name":"liqo-tenant-rome","labels":{"liqo.io/tenant-namespace":"true",
      "liqo.io/remote-cluster-id":"rome"},"annotations":{"liqo.io/pod-policy":"{\"maxResorces\":{}}"}}})";
  CHECK(world.ask("/validate/namespaces", "", typo, "admin").contains("did you mean maxResources?"));
  CHECK(world.ask("/validate/namespaces", "", typo, "admin", "", typo) == "");
}

TEST_CASE("what cannot be read to its end is a reason to try again, not a verdict") {
  World world({}, 2);
  world.start();
  const auto of = [](std::string_view user) {
    return R"({"metadata":{"name":")" + std::string(user) + R"(","namespace":"x"},"spec":{"user":")" +
           std::string(user) + R"(","resources":{}}})";
  };
  for (std::string_view user : {"a", "b"}) world.make(kinds::quotas, of(user));
  CHECK(world.ask("/validate/quotas", "x", of("new"), "admin") == "");
  world.make(kinds::quotas, of("c"));
  CHECK(world.ask("/validate/quotas", "x", of("new"), "admin") ==
        "Liqo cannot decide now: there are more than 2 quotas");
}

TEST_CASE("a server that is away is a reason to try again, not a verdict") {
  World world;
  world.start();
  const auto answers = [&](std::string_view expected) {
    CHECK(world.ask("/validate/quotas", "shop-rome", quota).find(expected) != std::string::npos);
    CHECK(world.ask("/validate/shadowpods", "shop-rome", shadow).find(expected) != std::string::npos);
  };
  world.link.refuse();
  answers("Liqo cannot decide now");
  world.link.heal();
  world.link.partition();
  answers("Liqo could not decide in time");
}
