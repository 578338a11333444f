// The rights of callers at the port of a virtual node: the table of docs/security.md. For each path exactly the rights
// in this table are reviewed, and the answer of the API server decides.
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

/// The rights that each caller's roles give on the node milan. "viewer" and "developer" have the ClusterRoles `view`
/// and `edit` in a namespace, which give no rights on nodes. "monitor" may get nodes/metrics, "reader" get nodes/proxy,
/// and "admin" everything with nodes/proxy.
bool has_right(std::string_view user, std::string_view verb, std::string_view subresource) {
  if (user == "monitor") return verb == "get" && subresource == "metrics";
  if (user == "reader") return verb == "get" && subresource == "proxy";
  return user == "admin" && subresource == "proxy";
}

/// The kubelet API of the node milan, on port 1, with the pod rome/web.
struct World {
  std::string asked;  // "verb subresource;" of each review
  FakeHome home{[this](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    const auto body = kube::parse_json(request.body).value();
    const auto& wanted = kube::object_at(body, {"spec", "resourceAttributes"});
    CHECK(request.target == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    CHECK(wanted.size() == 5);
    CHECK(wanted.at("resource") == "nodes");
    CHECK(wanted.at("name") == "milan");
    CHECK(wanted.at("version") == "v1");
    const std::string verb(wanted.at("verb").as_string()), subresource(wanted.at("subresource").as_string());
    asked += verb + " " + subresource + ";";
    const bool allowed = has_right(kube::string_at(body, {"spec", "user"}), verb, subresource);
    return FakeAnswer{.status = 201, .pieces = {allowed ? R"({"status":{"allowed":true}})" : R"({"status":{}})"}};
  }};
  Authorizer authorizer{home.api, kube::Counter()};
  std::shared_ptr<FakeTransport> provider =
      std::make_shared<FakeTransport>([](const kube::HttpRequest&) { return FakeAnswer{.pieces = {"line\n"}}; });
  KubeletServer server{
      home.environment,
      authorizer,
      [this](const std::string& ns, const std::string& pod) -> kube::Result<PodRoute> {
        if (pod != "web") return kube::fail(kube::Errc::missing, "pod " + pod + " is not there");
        return PodRoute{.transport = provider, .remote_namespace = ns, .remote_pod = pod, .node = "milan"};
      },
      liqo::test::make_tls(),
      {.address = "127.0.0.1", .port = 0},
      NodeApi([](std::uint16_t) { return std::set<std::string>{"milan"}; }, pods,
              [](const std::string& node) { return std::optional(node_named(node)); },
              std::make_unique<UsageApi>(
                  home.environment,
                  [this](const std::string&) -> kube::Result<UsageSource> {
                    return UsageSource{.transport = provider, .upgrader = {}, .provider = "milan", .consumer = "rome"};
                  },
                  pods, [] { return std::vector<std::string>{"milan"}; }))};

  static kube::Result<CachedPods> pods(const std::string&) {
    return CachedPods{.keys = {},
                      .find = [](const kube::ObjectKey&) { return std::optional<kube::Object>(); },
                      .uid = [](const kube::ObjectKey&) { return std::string(); },
                      .is_there = [] { return true; }};
  }
  static kube::Object node_named(const std::string& name) {
    return kube::Object(
        kube::json::object{{"metadata", kube::json::object{{"name", name}}}, {"status", kube::json::object()}});
  }
  /// The status of the answer.
  int ask(std::string_view user, std::string method, std::string target) {
    kube::net::ServerRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.port = 1;
    if (user != "anonymous") request.peer = kube::net::PeerIdentity{std::string(user), {}};
    FakeResponse response;
    home.simulator.run(server.handle(request, response));
    return response.status;
  }
};

}  // namespace

TEST_CASE("who may ask for what: each path, each caller, and what is asked of the API server") {
  struct Row {
    const char* method;
    const char* target;
    const char* asked;  // of a refused caller: all of it
    int monitor, reader, admin;
  };
  const Row rows[] = {
      {"GET", "/containerLogs/rome/web/main", "get proxy;", 403, 200, 200},
      // Past the rights: 400 if no upgrade is asked for, 404 for a pod that is not there.
      {"GET", "/exec/rome/web/main?command=id&output=1", "create proxy;", 403, 403, 400},
      {"POST", "/exec/rome/web/main?command=id&output=1", "create proxy;", 403, 403, 400},
      {"GET", "/attach/rome/web/main?output=1", "create proxy;", 403, 403, 400},
      {"POST", "/attach/rome/web/main?output=1", "create proxy;", 403, 403, 400},
      {"GET", "/portForward/rome/web", "create proxy;", 403, 403, 400},
      {"POST", "/portForward/rome/web", "create proxy;", 403, 403, 400},
      {"GET", "/containerLogs/rome/none/main", "get proxy;", 403, 404, 404},
      {"POST", "/exec/rome/none/main?command=id&output=1", "create proxy;", 403, 403, 404},
      {"GET", "/pods", "get pods;get proxy;", 403, 200, 200},
      {"GET", "/runningpods/", "get pods;get proxy;", 403, 200, 200},
      {"GET", "/healthz", "get healthz;get proxy;", 403, 200, 200},
      {"GET", "/configz", "get configz;get proxy;", 403, 200, 200},
      {"GET", "/stats/summary", "get stats;", 403, 403, 403},
      {"GET", "/metrics", "get metrics;", 200, 403, 403},
      {"GET", "/metrics/cadvisor", "get metrics;", 200, 403, 403},
      {"GET", "/metrics/probes", "get metrics;", 200, 403, 403},
      {"GET", "/metrics/resource", "get metrics;", 200, 403, 403},
      {"GET", "/metrics/slis", "get metrics;", 200, 403, 403},
      {"GET", "/run/rome/web/main?cmd=id", "create proxy;", 403, 403, 501},
      {"POST", "/run/rome/web/main?cmd=id", "create proxy;", 403, 403, 501},
      {"POST", "/checkpoint/rome/web/main", "create checkpoint;", 403, 403, 403},
      {"GET", "/logs/", "get log;", 403, 403, 403},
      // A path that does not exist, or is malformed, needs the default right, whatever it looks like.
      {"GET", "/", "get proxy;", 403, 404, 404},
      {"POST", "/debug/pprof/heap", "get proxy;", 403, 404, 404},
      {"GET", "/metrics/../exec/rome/web/main", "get proxy;", 403, 404, 404},
      {"GET", "/metrics%2fresource", "get proxy;", 403, 404, 404},
      {"GET", "//exec/rome/web/main", "get proxy;", 403, 404, 404},
      {"GET", "/%65xec/rome/web/main", "get proxy;", 403, 404, 404},
      {"POST", "/exec/rome/..%2fother/main?command=id&output=1", "get proxy;", 403, 400, 400},
      {"POST", "/exec/rome//main?command=id&output=1", "get proxy;", 403, 400, 400},
      {"DELETE", "/exec/rome/web/main", "get proxy;", 403, 405, 405},
      {"POST", "/pods", "get proxy;", 403, 405, 405},
  };
  World world;
  for (const Row& row : rows) {
    const std::string title = std::string(row.method) + " " + row.target;
    CAPTURE(title);
    const auto ask = [&world, &row](std::string_view user) {
      world.asked.clear();
      // Cached answers of the row before must not be used for this one.
      world.home.simulator.run(world.home.clock.sleep(std::chrono::seconds(11)));
      return world.ask(user, row.method, row.target);
    };
    CHECK(ask("anonymous") == 401);
    CHECK(world.asked.empty());
    for (const char* user : {"viewer", "developer"}) {
      CHECK(ask(user) == 403);
      CHECK(world.asked == row.asked);
    }
    CHECK(ask("monitor") == row.monitor);
    CHECK(ask("reader") == row.reader);
    CHECK(ask("admin") == row.admin);
    CHECK(std::string_view(row.asked).starts_with(world.asked));
  }
}
