#include "metrics/metrics_port.hpp"

#include <doctest/doctest.h>

#include "../../kubelet/fakes.hpp"

namespace {

using namespace liqod;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::FakeResponse;

/// Knows two tokens, and lets the first one read the path.
kube::Result<FakeAnswer> review(const kube::HttpRequest& request) {
  const auto body = kube::parse_json(request.body).value();
  std::string status;
  if (request.target.ends_with("/tokenreviews")) {
    const std::string token(kube::string_at(body, {"spec", "token"}));
    status = token == "prometheus" || token == "somebody"
                 ? R"({"authenticated":true,"user":{"username":")" + token + R"("}})"
                 : R"({"authenticated":false})";
  } else {
    CHECK(kube::string_at(body, {"spec", "nonResourceAttributes", "path"}) == "/metrics");
    CHECK(kube::string_at(body, {"spec", "nonResourceAttributes", "verb"}) == "get");
    status = kube::string_at(body, {"spec", "user"}) == "prometheus" ? R"({"allowed":true})" : R"({"allowed":false})";
  }
  return FakeAnswer{.status = 201, .pieces = {R"({"status":)" + status + "}"}};
}

struct World {
  FakeHome home{review};
  MetricsPort port;

  explicit World(bool secure = true) : port(home.environment, home.api, [] {}, {.secure = secure}) {
    home.metrics.gauge({kube::MetricType::gauge, "answer", "To everything."}).set(42);
  }
  FakeResponse ask(std::string token, std::string target = "/metrics", std::string method = "GET") {
    FakeResponse response;
    kube::net::ServerRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + token);
    home.simulator.run(port.handle(request, response));
    return response;
  }
};

}  // namespace

TEST_CASE("metrics are for those who may get the path, and others are told why not") {
  World world;
  const FakeResponse read = world.ask("prometheus");
  CHECK(read.status == 200);
  CHECK(read.body.contains("answer 42\n"));
  CHECK(read.header("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  const FakeResponse nobody = world.ask("");
  CHECK(nobody.status == 401);
  CHECK(nobody.header("www-authenticate") == "Bearer");
  CHECK(world.ask("stranger").status == 401);
  const FakeResponse refused = world.ask("somebody");
  CHECK(refused.status == 403);
  CHECK(refused.body == "Forbidden (user=somebody, verb=get, path=/metrics)\n");
  CHECK_FALSE(refused.body.contains("answer"));
}

TEST_CASE("what is not there is nobody's business, and costs no review") {
  World world;
  CHECK(world.ask("prometheus", "/healthz").status == 404);
  CHECK(world.ask("prometheus", "/metrics/", "GET").status == 404);
  const FakeResponse posted = world.ask("prometheus", "/metrics", "POST");
  CHECK(posted.status == 405);
  CHECK(posted.header("allow") == "GET, HEAD");
  CHECK(world.home.transport.requests.empty());
}

TEST_CASE("a scrape costs no review while the last one is believed") {
  World world;
  for (int i = 0; i < 20; ++i) CHECK(world.ask("prometheus").status == 200);
  CHECK(world.home.transport.requests.size() == 2);
}

TEST_CASE("nobody is let in while the API server cannot be asked") {
  World world;
  world.home.transport.answer = [](const kube::HttpRequest&) -> kube::Result<FakeAnswer> {
    return kube::fail(kube::Errc::connect, "no way there");
  };
  CHECK(world.ask("prometheus").status == 503);
}

TEST_CASE("where the operator says so, everybody may read and nobody is asked about") {
  World world(false);
  CHECK(world.ask("").body.contains("answer 42\n"));
  CHECK(world.home.transport.requests.empty());
}
