#include "kubelet/kubelet_server.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "server_tls.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::FakeResponse;
using liqo::test::FakeTransport;
using liqo::test::make_tls;
namespace asio = boost::asio;

/// Allows "admin" everything on every node, and "local" everything on the node milan.
kube::Result<FakeAnswer> review(const kube::HttpRequest& request) {
  const auto body = kube::parse_json(request.body).value();
  const std::string_view user = kube::string_at(body, {"spec", "user"});
  const bool milan = kube::string_at(body, {"spec", "resourceAttributes", "name"}) == "milan";
  const bool allowed = user == "admin" || (user == "local" && milan);
  return FakeAnswer{.status = 201,
                    .pieces = {allowed ? R"({"status":{"allowed":true}})" : R"({"status":{"allowed":false}})"}};
}

struct World {
  FakeHome home{review};
  Authorizer authorizer{home.api, kube::Counter()};
  std::string trouble;  ///< of the pod
  int looked = 0;       ///< how often the obstacles were looked up
  std::shared_ptr<FakeTransport> provider;
  KubeletServer server;
  FakeResponse response;

  explicit World(FakeTransport::Answer answer =
                     [](const kube::HttpRequest&) { return FakeAnswer{.pieces = {"line 1\n", "line 2\n"}}; })
      : provider(std::make_shared<FakeTransport>(std::move(answer))),
        server(home.environment, authorizer,
               [this](const std::string& ns, const std::string& pod) -> kube::Result<PodRoute> {
                 if (ns != "rome" || pod != "web")
                   return kube::fail(kube::Errc::missing, "pod " + ns + "/" + pod + " does not run on a virtual node");
                 return PodRoute{.transport = provider,
                                 .remote_namespace = "rome-milan",
                                 .remote_pod = "web",
                                 .provider = "turin",
                                 .obstacles = [this](const std::string& container) { return obstacles(container); },
                                 .node = "milan"};
               },
               make_tls(), {.address = "127.0.0.1", .port = 0}) {}

  liqo::core::PodObstacles obstacles(const std::string& container) {
    ++looked;
    return {.pod = trouble,
            .refused = container == "debugger" ? "cluster milan does not run it" : "",
            .waiting = container == "slow" ? "it waits: ErrImagePull" : ""};
  }

  void handle(std::string user, std::string method, std::string target) {
    kube::net::ServerRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    if (!user.empty()) request.peer = kube::net::PeerIdentity{std::move(user), {}};
    home.simulator.run(server.handle(request, response));
  }
};

}  // namespace

TEST_CASE("a log of an offloaded pod comes from the provider, piece by piece") {
  World world;
  world.handle("local", "GET", "/containerLogs/rome/web/main?follow=true&tailLines=5");
  CHECK(world.response.status == 200);
  CHECK(world.response.writes == std::vector<std::string>{"line 1\n", "line 2\n"});
  REQUIRE(world.provider->requests.size() == 1);
  CHECK(world.provider->requests[0].method == "GET");
  CHECK(world.provider->requests[0].target ==
        "/api/v1/namespaces/rome-milan/pods/web/log?container=main&follow=true&tailLines=5");
}

TEST_CASE("the log of a container that the provider does not run says why") {
  World world;
  world.handle("local", "GET", "/containerLogs/rome/web/debugger");
  CHECK(world.response.status == 400);
  CHECK(world.response.body == "cluster milan does not run it\n");
  CHECK(world.provider->requests.empty());
}

TEST_CASE("a pod of which nothing runs says why before anything is asked of its provider") {
  const std::string why = "pod rome/web does not run at cluster turin: hostPath is not allowed";
  for (const char* path : {"/containerLogs/rome/web/main", "/exec/rome/web/main?command=sh&output=1",
                           "/attach/rome/web/main?output=1", "/portForward/rome/web"}) {
    CAPTURE(path);
    World world;
    world.trouble = why;
    world.handle("local", "GET", path);
    CHECK(world.response.status == 400);
    CHECK(world.provider->requests.empty());
    if (std::string_view(path).starts_with("/containerLogs")) {
      // The API server makes a Status of it.
      CHECK(world.response.body == why + "\n");
      continue;
    }
    CHECK(world.response.header("content-type") == "application/json");
    const auto status = kube::parse_json(world.response.body).value();
    CHECK(kube::string_at(status, {"kind"}) == "Status");
    CHECK(kube::string_at(status, {"apiVersion"}) == "v1");
    CHECK(kube::string_at(status, {"reason"}) == "BadRequest");
    CHECK(kube::string_at(status, {"message"}) == why);
  }
}

TEST_CASE("who may not ask does not hear why a pod does not run") {
  World world;
  world.trouble = "hostPath is not allowed";
  world.handle("eve", "GET", "/containerLogs/rome/web/main");
  CHECK(world.response.status == 403);
  CHECK_FALSE(world.response.body.contains("hostPath"));
}

TEST_CASE("the pod here and there is read only for who may ask") {
  for (const char* path : {"/containerLogs/rome/web/slow", "/exec/rome/web/slow?command=sh&output=1",
                           "/attach/rome/web/slow?output=1", "/portForward/rome/web"}) {
    CAPTURE(path);
    for (const char* user : {"", "eve", "local"}) {
      CAPTURE(user);
      World world;
      world.handle(user, "GET", path);
      CHECK((world.looked > 0) == (std::string_view(user) == "local"));
    }
  }
}

TEST_CASE("a container that waits takes no command and says why; its log is the provider's to answer") {
  for (const auto& [container, words] :
       {std::pair{"slow", "it waits: ErrImagePull"}, std::pair{"debugger", "cluster milan does not run it"}})
    for (const std::string_view begin : {"/exec/rome/web/", "/attach/rome/web/"}) {
      CAPTURE(container);
      World world;
      world.handle("local", "POST", std::string(begin) + container + "?command=sh&output=1");
      CHECK(world.response.status == 400);
      CHECK(kube::string_at(kube::parse_json(world.response.body).value(), {"message"}) == words);
    }
  World world;
  world.handle("local", "GET", "/containerLogs/rome/web/slow");
  CHECK(world.provider->requests.size() == 1);
}

TEST_CASE("a caller that goes away ends the log") {
  World world;
  world.response.gone = true;
  world.handle("local", "GET", "/containerLogs/rome/web/main");
  CHECK(world.response.writes.empty());
}

TEST_CASE("who may ask, and what everybody else hears") {
  struct Case {
    const char* title;
    const char* user;
    const char* method;
    const char* target;
    int status;
  };
  const Case cases[] = {
      {"anonymous", "", "GET", "/containerLogs/rome/web/main", 401},
      {"anonymous at no path", "", "GET", "/nowhere", 401},
      {"without the right", "eve", "GET", "/containerLogs/rome/web/main", 403},
      {"without the right, exec", "eve", "POST", "/exec/rome/web/main?command=sh&output=1", 403},
      {"without the right, a pod that is not there", "eve", "GET", "/containerLogs/rome/nobody/main", 403},
      {"with the right on one node, a pod that is not there", "local", "GET", "/containerLogs/rome/nobody/main", 403},
      {"with the right on all nodes, a pod that is not there", "admin", "GET", "/containerLogs/rome/nobody/main", 404},
      {"a path of nobody", "admin", "GET", "/nowhere", 404},
      {"a path of nobody, without rights", "eve", "GET", "/nowhere", 403},
      {"a wrong method", "admin", "DELETE", "/exec/rome/web/main", 405},
      {"not served yet", "admin", "POST", "/run/rome/web/main", 501},
      {"statistics", "admin", "GET", "/stats/summary", 501},
      {"a bad option", "local", "GET", "/containerLogs/rome/web/main?tailLines=-1", 400},
      {"a broken query", "local", "GET", "/containerLogs/rome/web/main?x=%", 400},
      {"exec without an upgrade", "local", "GET", "/exec/rome/web/main?command=sh&output=1", 400},
      {"exec without streams", "local", "POST", "/exec/rome/web/main?command=sh", 400},
      {"without the right, attach", "eve", "POST", "/attach/rome/web/main?output=1", 403},
      {"attach without an upgrade", "local", "POST", "/attach/rome/web/main?output=1", 400},
      {"attach without streams", "local", "POST", "/attach/rome/web/main", 400},
      {"without the right, port-forward", "eve", "POST", "/portForward/rome/web", 403},
      {"port-forward without an upgrade", "local", "POST", "/portForward/rome/web", 400},
      {"port-forward to nobody", "admin", "POST", "/portForward/rome/nobody", 404},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world;
    world.handle(c.user, c.method, c.target);
    CHECK(world.response.status == c.status);
    CHECK(world.response.body.size() > 3);
    CHECK(world.response.body.ends_with("\n"));
    CHECK(world.provider->requests.empty());
    CHECK((world.response.header("www-authenticate") == "Bearer") == (c.status == 401));
  }
}

TEST_CASE("what the provider refuses is told in its words") {
  struct Case {
    const char* title;
    kube::Result<FakeAnswer> answer;
    int status;
    const char* words;
  };
  const auto status_of = [](int code, const char* message) {
    return FakeAnswer{.status = code,
                      .pieces = {R"({"kind":"Status","code":)" + std::to_string(code),
                                 std::string(R"(,"message":")") + message + "\"}"}};
  };
  const Case cases[] = {
      {"no such pod", status_of(404, "pods web not found"), 400, "pods web not found\n"},
      {"no such container", status_of(400, "container x is not valid"), 400, "container x is not valid\n"},
      {"trouble there", status_of(500, "the kubelet is away"), 500, "the kubelet is away\n"},
      {"our rights are missing", status_of(403, "you may not"), 502,
       "the provider cannot serve the request: you may not\n"},
      {"unreachable", kube::fail(kube::Errc::connect, "no way there"), 502,
       "the provider cannot serve the request: cluster turin cannot be reached: no way there\n"},
      {"slow", kube::fail(kube::Errc::timeout, "too late"), 502,
       "the provider cannot serve the request: cluster turin cannot be reached: too late\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    World world([&c](const kube::HttpRequest&) { return c.answer; });
    world.handle("local", "GET", "/containerLogs/rome/web/main");
    CHECK(world.response.status == c.status);
    CHECK(world.response.body == c.words);
  }
}

TEST_CASE("a log that breaks keeps what came before, and does not end as a whole one does") {
  for (const bool breaks : {true, false}) {
    CAPTURE(breaks);
    World world([breaks](const kube::HttpRequest&) {
      FakeAnswer answer{.pieces = {"line 1\n"}};
      if (breaks) answer.failure = kube::Failure(kube::Errc::closed, "gone");
      return answer;
    });
    world.handle("local", "GET", "/containerLogs/rome/web/main");
    CHECK(world.response.status == 200);
    CHECK(world.response.body == "line 1\n");
    CHECK(world.response.aborted == breaks);
  }
}
