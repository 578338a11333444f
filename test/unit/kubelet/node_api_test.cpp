// Requests to the port of one virtual node.
#include "kubelet/node_api.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kubelet/kubelet_server.hpp"
#include "server_tls.hpp"

namespace {

using namespace liqo::kubelet;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::FakeResponse;
using liqo::test::FakeTransport;
using liqo::test::make_tls;

/// "admin" may do everything with every node, "local" everything with the node milan; "viewer" may only see the pods of
/// milan.
kube::Result<FakeAnswer> review(const kube::HttpRequest& request) {
  const auto body = kube::parse_json(request.body).value();
  const std::string_view user = kube::string_at(body, {"spec", "user"});
  const bool is_milan = kube::string_at(body, {"spec", "resourceAttributes", "name"}) == "milan";
  const bool is_pods = kube::string_at(body, {"spec", "resourceAttributes", "subresource"}) == "pods";
  const bool allowed = user == "admin" || (user == "local" && is_milan) || (user == "viewer" && is_milan && is_pods);
  return FakeAnswer{.status = 201, .pieces = {allowed ? R"({"status":{"allowed":true}})" : R"({"status":{}})"}};
}

kube::Object node_named(const std::string& name) {
  return kube::Object(kube::parse_json(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": ")" + name +
                                       R"(", "creationTimestamp": "2026-01-01T00:00:00Z"},
      "spec": {"providerID": "liqo://milan/milan"}, "status": {"allocatable": {"pods": "20"},
      "daemonEndpoints": {"kubeletEndpoint": {"Port": 10251}}}})")
                          .value()
                          .as_object());
}

kube::Object pod_named(const std::string& name, const std::string& statuses = "[]") {
  return kube::Object(kube::parse_json(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name +
                                       R"(", "namespace": "rome", "uid": "u-)" + name +
                                       R"("}, "spec": {"nodeName": "milan"}, "status": {"containerStatuses": )" +
                                       statuses + "}}")
                          .value()
                          .as_object());
}

/// The node milan has port 1, turin port 2, genoa and bari share port 3. In milan run `pods`.
struct World {
  std::map<std::string, kube::Object> pods;
  bool has_session = true;
  bool is_replaced = false;
  std::size_t may_hold = 1 << 20;
  FakeHome home{review};
  Authorizer authorizer{home.api, kube::Counter()};
  std::shared_ptr<FakeTransport> provider =
      std::make_shared<FakeTransport>([](const kube::HttpRequest&) { return FakeAnswer{.pieces = {"line\n"}}; });
  KubeletServer server{home.environment,
                       authorizer,
                       [this](const std::string& ns, const std::string& pod) -> kube::Result<PodRoute> {
                         if (pod == "nobody") return kube::fail(kube::Errc::missing, "pod " + pod + " is not there");
                         return PodRoute{.transport = provider,
                                         .remote_namespace = ns,
                                         .remote_pod = pod,
                                         .node = pod == "elsewhere" ? "turin"
                                                 : pod == "shared"  ? "bari"
                                                                    : "milan"};
                       },
                       make_tls(),
                       {.address = "127.0.0.1", .port = 0},
                       NodeApi(
                           [](std::uint16_t port) {
                             if (port == 1) return std::set<std::string>{"milan"};
                             if (port == 2) return std::set<std::string>{"turin"};
                             if (port == 3) return std::set<std::string>{"bari", "genoa"};
                             return std::set<std::string>{};
                           },
                           [this](const std::string& node) { return pods_of(node); },
                           [](const std::string& node) { return std::optional(node_named(node)); },
                           std::make_unique<UsageApi>(
                               home.environment,
                               [this](const std::string&) -> kube::Result<UsageSource> {
                                 return UsageSource{
                                     .transport = provider, .upgrader = {}, .provider = "milan", .consumer = "rome"};
                               },
                               [this](const std::string& node) { return pods_of(node); },
                               [] { return std::vector<std::string>{"milan"}; }))};
  FakeResponse response;

  kube::Result<CachedPods> pods_of(const std::string& node) {
    if (!has_session) return kube::fail(kube::Errc::missing, "there is no session");
    CachedPods cached{
        .keys = {},
        .find = [this](const kube::ObjectKey& key) -> std::optional<kube::Object> {
          const auto found = pods.find(key.name);
          return found == pods.end() ? std::nullopt : std::optional(found->second);
        },
        .uid = [this](const kube::ObjectKey& key) { return pods.contains(key.name) ? "u-" + key.name : ""; },
        .is_there = [this] { return !is_replaced; }};
    if (node == "milan")
      for (const auto& [name, pod] : pods) cached.keys.push_back(pod.key());
    return cached;
  }

  void ask(std::uint16_t port, std::string target, std::string user = "admin", std::string method = "GET") {
    kube::net::ServerRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.port = port;
    if (!user.empty()) request.peer = kube::net::PeerIdentity{std::move(user), {}};
    response = FakeResponse();
    response.may_hold = may_hold;
    home.simulator.run(server.handle(request, response));
  }
};

}  // namespace

TEST_CASE("a port answers for its own node") {
  struct Case {
    std::string title;
    std::uint16_t port;
    const char* user;
    const char* target;
    int status;
    std::string words;  // "" = not looked at
  };
  const Case cases[] = {
      {"a pod of this node", 1, "local", "/containerLogs/rome/web/main", 200, "line\n"},
      {"a pod of another node", 2, "admin", "/containerLogs/rome/web/main", 404,
       "pod rome/web does not run on node turin\n"},
      {"a pod of another node, exec", 2, "admin", "/exec/rome/web/main?command=sh&output=1", 404,
       R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pod rome/web does not run on )"
       R"(node turin","reason":"NotFound","code":404})"
       "\n"},
      {"a pod of another node, with the right on that one only", 2, "local", "/containerLogs/rome/web/main", 403, ""},
      {"a pod of another node, with the right on this one only", 1, "local", "/containerLogs/rome/elsewhere/main", 404,
       "pod rome/elsewhere does not run on node milan\n"},
      {"no such pod, with the right on this node", 1, "local", "/containerLogs/rome/nobody/main", 404,
       "pod rome/nobody does not run on node milan\n"},
      {"a pod of one of those who share the port", 3, "admin", "/containerLogs/rome/shared/main", 200, "line\n"},
      {"a pod of none of those who share the port", 3, "admin", "/containerLogs/rome/web/main", 404,
       "pod rome/web does not run on a virtual node that has this port\n"},
      {"no such pod where several share, with the right on one node", 3, "local", "/containerLogs/rome/nobody/main",
       403, ""},
      {"health", 1, "local", "/healthz", 200, "ok"},
      {"health of another node", 2, "local", "/healthz", 403, ""},
      {"health, of a stranger", 1, "", "/healthz", 401, ""},
      {"health where several share", 3, "admin", "/healthz", 501,
       "this port is that of several virtual nodes, so a path that names no pod is of none of them\n"},
      {"a port of nobody", 4, "admin", "/healthz", 404, "no virtual node has this port\n"},
      {"pods, by the narrower right", 1, "viewer", "/pods", 200, ""},
      {"pods that run, by the narrower right", 1, "viewer", "/runningpods/", 200, ""},
      {"health, by the right to see pods", 1, "viewer", "/healthz", 403, ""},
      {"logs, by the right to see pods", 1, "viewer", "/containerLogs/rome/web/main", 403, ""},
      {"pods where several share", 3, "admin", "/pods", 501,
       "this port is that of several virtual nodes, so a path that names no pod is of none of them\n"},
      {"the configuration", 1, "local", "/configz", 200, ""},
      {"run", 1, "admin", "/run/rome/web/main", 501, "run is not served by virtual nodes: exec runs commands\n"},
      {"a checkpoint", 1, "admin", "/checkpoint/rome/web/main", 501,
       "checkpoints are not served by virtual nodes: containers run in another cluster\n"},
      {"the configuration, by the right to see pods", 1, "viewer", "/configz", 403, ""},
      {"statistics of another node", 2, "local", "/stats/summary", 403, ""},
      {"statistics, by the right to see pods", 1, "viewer", "/stats/summary", 403, ""},
      {"statistics", 1, "local", "/stats/summary", 200, ""},
      {"figures", 1, "local", "/metrics/resource", 200, ""},
      {"figures of another node", 2, "local", "/metrics/resource", 403, ""},
      {"figures, by the right to see pods", 1, "viewer", "/metrics", 403, ""},
      {"figures, of a stranger", 1, "", "/metrics/cadvisor", 401, ""},
      {"figures where several share", 3, "admin", "/metrics/resource", 501,
       "this port is that of several virtual nodes, so a path that names no pod is of none of them\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    world.ask(c.port, c.target, c.user);
    CHECK(world.response.status == c.status);
    if (!c.words.empty()) CHECK(world.response.body == c.words);
    CHECK(world.response.body.size() > 1);
  }
}

TEST_CASE("GET /pods is a list of the node's pods, in pieces") {
  World world;
  world.ask(2, "/pods");
  CHECK(world.response.header("content-type") == "application/json");
  CHECK(kube::parse_json(world.response.body).value() ==
        kube::parse_json(R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]})").value());

  for (int i = 0; i < 500; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    world.pods.emplace(name, pod_named(name, R"([{"name": "main", "message": ")" + std::string(200, 'x') + "\"}]"));
  }
  world.ask(1, "/pods");
  CHECK(world.response.status == 200);
  for (const std::string& piece : world.response.writes) CHECK(piece.size() < 40 * 1024);
  CHECK(world.response.writes.size() > 3);
  const auto list = kube::parse_json(world.response.body).value();
  CHECK(kube::string_at(list, {"kind"}) == "PodList");
  const auto& items = kube::array_at(list, {"items"});
  REQUIRE(items.size() == 500);
  kube::json::object first = world.pods.at("pod-0").tree();
  first.erase("kind");
  first.erase("apiVersion");
  CHECK(items[0] == first);

  world.ask(2, "/pods");
  CHECK(kube::array_at(kube::parse_json(world.response.body).value(), {"items"}).empty());
}

TEST_CASE("a caller that goes away ends the list, and a session that is not there is said") {
  World world;
  world.pods.emplace("web", pod_named("web"));
  world.response.gone = true;
  world.ask(1, "/pods");
  world.has_session = false;
  world.ask(1, "/pods");
  CHECK(world.response.status == 503);
  CHECK(world.response.body == "there is no session\n");
  // A node is asked for its health all the same.
  world.ask(1, "/healthz");
  CHECK(world.response.status == 200);
}

TEST_CASE("half a list does not look like a whole one, and lists have their bound") {
  World world;
  world.is_replaced = true;
  world.ask(1, "/pods");
  CHECK(world.response.aborted);
  CHECK_FALSE(world.response.body.ends_with("]}\n"));
  world.is_replaced = false;
  world.pods.emplace("one", pod_named("one"));
  world.may_hold = 100;
  world.ask(1, "/pods");
  CHECK(world.response.status == 503);
}

TEST_CASE("GET /runningpods/ names what runs, and nothing else of it") {
  World world;
  const char* const running = R"([{"name": "main", "image": "busybox", "state": {"running": {}}},
                                  {"name": "ended", "image": "busybox", "state": {"terminated": {}}}])";
  world.pods.emplace("web", pod_named("web", running));
  world.pods.emplace("idle", pod_named("idle", R"([{"name": "main", "state": {"waiting": {}}}])"));
  world.ask(1, "/runningpods/");
  CHECK(kube::parse_json(world.response.body).value() == kube::parse_json(R"({"kind": "PodList", "apiVersion": "v1",
      "metadata": {}, "items": [{"metadata": {"name": "web", "namespace": "rome", "uid": "u-web"},
      "spec": {"containers": [{"name": "main", "image": "busybox", "resources": {}}]}, "status": {}}]})")
                                                             .value());
  kube::Object pod = pod_named("init");
  pod.mutable_status()["initContainerStatuses"] =
      kube::parse_json(R"([{"name": "side", "image": "i", "state": {"running": {"startedAt": "x"}}}])").value();
  pod.mutable_status()["ephemeralContainerStatuses"] =
      kube::parse_json(R"([{"name": "debug", "image": "e", "state": {"running": {}}}, 7])").value();
  const auto entry = running_pod(pod);
  REQUIRE(entry);
  CHECK(kube::array_at(*entry, {"spec", "containers"}).size() == 2);
  CHECK_FALSE(running_pod(pod_named("none")).has_value());
}

TEST_CASE("GET /configz tells what is true of a virtual node") {
  World world;
  world.ask(1, "/configz");
  CHECK(world.response.status == 200);
  CHECK(world.response.header("content-type") == "application/json");
  const auto answer = kube::parse_json(world.response.body).value();
  CHECK(kube::string_at(answer, {"kubeletconfig", "kind"}) == "KubeletConfiguration");
  CHECK(kube::int_at(answer, {"kubeletconfig", "port"}) == 10251);
  CHECK(kube::int_at(answer, {"kubeletconfig", "maxPods"}) == 20);
  CHECK(kube::string_at(answer, {"kubeletconfig", "providerID"}) == "liqo://milan/milan");
}

TEST_CASE("GET /metrics/slis is a scrape without samples, and asks nobody") {
  World world;
  world.ask(1, "/metrics/slis");
  CHECK(world.response.status == 200);
  CHECK(world.response.body.empty());
  CHECK(world.provider->requests.empty());
}
