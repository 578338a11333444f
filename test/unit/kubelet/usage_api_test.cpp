// Usage of a virtual node, from a provider that may send anything, or nothing.
#include "kubelet/usage_api.hpp"

#include <doctest/doctest.h>

#include <set>

#include "fakes.hpp"
#include "kube/async/task_group.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::FakeResponse;
using liqo::test::FakeTransport;
namespace asio = boost::asio;

/// A body that never comes, or never ends.
class StuckBody final : public kube::net::Body {
 public:
  StuckBody(kube::async::Clock& clock, std::string piece) : clock_(clock), piece_(std::move(piece)) {}
  asio::awaitable<kube::Result<std::string>> read() override {
    if (piece_.empty()) co_await clock_.sleep(1h);
    co_await clock_.sleep(1ms);
    co_return piece_;
  }

 private:
  kube::async::Clock& clock_;
  std::string piece_;
};

/// Answers with such a body.
class StuckTransport final : public kube::net::Transport {
 public:
  StuckTransport(kube::async::Clock& clock, std::string piece) : clock_(clock), piece_(std::move(piece)) {}
  asio::awaitable<kube::Result<kube::net::Response>> send(kube::HttpRequest, kube::Deadline) override {
    kube::net::Response response;
    response.head.status = 200;
    response.body = std::make_unique<StuckBody>(clock_, piece_);
    co_return response;
  }

 private:
  kube::async::Clock& clock_;
  std::string piece_;
};

/// The node milan with pods shop/one and shop/two, whose usage its provider reports as in `said`.
struct World {
  std::set<std::string> pods{"one", "two"};
  std::vector<std::string> nodes{"milan"};
  bool is_there = true, ends_when_read = false;
  int status = 200;
  std::vector<std::string> said;
  std::optional<kube::Failure> broken = std::nullopt;
  FakeHome home{[](const kube::HttpRequest&) { return FakeAnswer{}; }};
  std::shared_ptr<FakeTransport> fake = std::make_shared<FakeTransport>(
      [this](const kube::HttpRequest&) { return FakeAnswer{.status = status, .pieces = said, .failure = broken}; });
  std::shared_ptr<kube::net::Transport> provider = fake;
  UsageApi api{home.environment,
               [this](const std::string&) -> kube::Result<UsageSource> {
                 if (!is_there) return kube::fail(kube::Errc::missing, "there is no session");
                 return UsageSource{.transport = provider, .upgrader = {}, .provider = "milan", .consumer = "rome"};
               },
               [this](const std::string&) { return pods_of(); },
               [this] { return nodes; },
               {.max_read = 1U << 20, .series_per_pod = 1'000, .more_series = 1'000}};
  FakeResponse response;

  kube::Result<CachedPods> pods_of() {
    CachedPods cached{.keys = {},
                      .find = [this](const kube::ObjectKey& key) -> std::optional<kube::Object> {
                        if (ends_when_read) is_there = false;
                        if (!pods.contains(key.name) || !is_there) return std::nullopt;
                        return kube::Object(kube::parse_json(R"({"metadata": {"name": ")" + key.name +
                                                             R"(", "namespace": "shop", "uid": "u"}})")
                                                .value()
                                                .as_object());
                      },
                      .uid =
                          [this](const kube::ObjectKey& key) {
                            return key.ns == "shop" && pods.contains(key.name) ? "u-" + key.name : "";
                          },
                      .is_there = [this] { return is_there; }};
    for (const std::string& name : pods) cached.keys.push_back({"shop", name});
    return cached;
  }

  std::string cpu(const std::string& pod, int seconds) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(home.clock.wall().time_since_epoch());
    return "pod_cpu_usage_seconds_total{namespace=\"shop\",pod=\"" + pod + "\"} " + std::to_string(seconds) + " " +
           std::to_string(now.count()) + "\n";
  }

  void ask(Endpoint endpoint) {
    response = FakeResponse();
    home.simulator.run([](World& world, Endpoint asked) -> asio::awaitable<void> {
      auto served = co_await world.api.serve({.endpoint = asked, .node = "milan", .started = "2026-01-01T00:00:00Z"},
                                             world.response);
      if (!served) co_await world.response.send(served.error().status, {}, served.error().sentence);
    }(*this, endpoint));
  }
};

}  // namespace

TEST_CASE("the provider is asked by this cluster's ID, for each path") {
  const std::pair<Endpoint, const char*> cases[] = {
      {Endpoint::metrics, "/metrics"},
      {Endpoint::metrics_cadvisor, "/metrics/cadvisor"},
      {Endpoint::metrics_probes, "/metrics/probes"},
      {Endpoint::metrics_resource, "/metrics/resource"},
      {Endpoint::stats_summary, "/metrics/resource"},
  };
  for (const auto& [endpoint, path] : cases) {
    World world;
    world.ask(endpoint);
    CHECK(world.response.status == 200);
    REQUIRE(world.fake->requests.size() == 1);
    CHECK(world.fake->requests[0].target == "/apis/metrics.liqo.io/v1beta1/scrape/rome" + std::string(path));
    CHECK_FALSE(world.response.aborted);
  }
}

TEST_CASE("the node is the sum of its own pods, also where the provider tells a sum of its own") {
  World world;
  world.said = {world.cpu("one", 5) + world.cpu("two", 7) + world.cpu("stranger", 1000),
                "node_cpu_usage_seconds_total 99999\nnode_memory_working_set_bytes 99999\n"};
  world.ask(Endpoint::metrics_resource);
  CHECK(world.response.header("content-type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(world.response.body.contains("\nnode_cpu_usage_seconds_total 12 "));
  CHECK_FALSE(world.response.body.contains("stranger"));
  CHECK_FALSE(world.response.body.contains("99999"));
  // One of them ends: the count does not fall.
  world.pods.erase("two");
  world.home.simulator.run(world.home.clock.sleep(15s));
  world.said = {world.cpu("one", 6)};
  world.ask(Endpoint::metrics_resource);
  CHECK(world.response.body.contains("\nnode_cpu_usage_seconds_total 13 "));
}

TEST_CASE("GET /stats/summary: rates after two looks, no pod that is not known, and a list where there is none") {
  World world;
  world.said = {world.cpu("one", 5) + world.cpu("two", 7)};
  world.ask(Endpoint::stats_summary);
  CHECK(world.response.header("content-type") == "application/json");
  world.home.simulator.run(world.home.clock.sleep(10s));
  world.said = {world.cpu("one", 7) + world.cpu("two", 12) + world.cpu("three", 1)};
  world.ask(Endpoint::stats_summary);
  const auto two = kube::parse_json(world.response.body).value();
  CHECK(kube::int_at(two, {"node", "cpu", "usageNanoCores"}) == 700'000'000);
  CHECK(kube::array_at(two, {"pods"}).size() == 2);
  CHECK(kube::string_at(two, {"node", "nodeName"}) == "milan");

  world.pods.clear();
  world.ask(Endpoint::stats_summary);
  const auto none = kube::parse_json(world.response.body).value();
  REQUIRE(kube::find(none, {"pods"}) != nullptr);
  CHECK(kube::find(none, {"pods"})->is_array());
  CHECK(kube::array_at(none, {"pods"}).empty());
}

TEST_CASE("lines of cadvisor are passed on as they come, those of others are not") {
  World world;
  world.said = {"# TYPE container_fs_reads_total counter\ncontainer_fs_reads_total{names",
                "pace=\"shop\",pod=\"one\"} 3\ncontainer_fs_reads_total{namespace=\"shop\",pod=\"six\"} 4\n",
                "machine_cpu_cores 64\ncontainer_fs_reads_total{namespace=\"shop\",pod=\"two\"} 5"};
  world.ask(Endpoint::metrics_cadvisor);
  CHECK(world.response.body ==
        "# TYPE container_fs_reads_total counter\ncontainer_fs_reads_total{namespace=\"shop\",pod=\"one\"} 3\n"
        "container_fs_reads_total{namespace=\"shop\",pod=\"two\"} 5\n");
}

TEST_CASE("what a provider lacks is said in one sentence; Prometheus has no alert of it") {
  const char* const resource_errors =
      "# HELP resource_scrape_error 1 if there was an error while getting container metrics, 0 otherwise\n"
      "# TYPE resource_scrape_error gauge\nresource_scrape_error 1\n"
      "# HELP scrape_error 1 if there was an error while getting container metrics, 0 otherwise\n"
      "# TYPE scrape_error gauge\nscrape_error 1\n";
  const char* const container_error =
      "# HELP container_scrape_error 1 if there was an error while getting container metrics, 0 otherwise\n"
      "# TYPE container_scrape_error gauge\ncontainer_scrape_error 1\n";
  const std::pair<int, const char*> answers[] = {
      {404, "cluster milan does not report what pods use: it serves no metrics.liqo.io (words of it)"},
      {403, "cluster milan does not let this cluster read what its pods use: words of it"},
      {500, "cluster milan cannot send now what pods use: words of it"},
      {503, "cluster milan cannot send now what pods use: words of it"},
  };
  const std::pair<Endpoint, const char*> pages[] = {
      {Endpoint::metrics, ""},
      {Endpoint::metrics_probes, ""},
      {Endpoint::metrics_cadvisor, container_error},
      {Endpoint::metrics_resource, resource_errors},
  };
  for (const auto& [status, sentence] : answers) {
    CAPTURE(status);
    World world;
    world.status = status;
    world.said = {R"({"kind": "Status", "message": "words\nof it"})"};
    for (const auto& [endpoint, errors] : pages) {
      world.ask(endpoint);
      CHECK(world.response.status == 200);
      CHECK(world.response.body == "# " + std::string(sentence) + "\n" + errors);
    }
    world.ask(Endpoint::stats_summary);
    CHECK(world.response.status == 503);
    CHECK(world.response.body == sentence);
  }
  World world;
  world.is_there = false;
  world.ask(Endpoint::metrics);
  CHECK(world.response.status == 503);
  CHECK(world.response.body == "there is no session");
}

TEST_CASE("a summary is cut where the session ends while it is written") {
  World world;
  world.said = {world.cpu("one", 1), world.cpu("two", 2)};
  world.ends_when_read = true;
  world.ask(Endpoint::stats_summary);
  CHECK(world.response.status == 200);
  CHECK(world.response.aborted);
  CHECK_FALSE(world.response.body.ends_with("]}\n"));
}

TEST_CASE("a provider that is out of reach fails the scrape, as a kubelet does that is") {
  for (const Endpoint endpoint :
       {Endpoint::metrics, Endpoint::metrics_cadvisor, Endpoint::metrics_resource, Endpoint::stats_summary}) {
    World world;
    world.provider = std::make_shared<FakeTransport>([](const kube::HttpRequest&) -> kube::Result<FakeAnswer> {
      return kube::fail(kube::Errc::connect, "no route");
    });
    world.ask(endpoint);
    // kubectl shows the message of a 502, but only the code of a 503.
    CHECK(world.response.status == 502);
    CHECK(world.response.body == "cluster milan cannot be reached: no route");
  }
}

TEST_CASE("a hundred megabytes cost one refusal, or a cut, and no memory") {
  const std::string bomb =
      "pod_cpu_usage_seconds_total{namespace=\"shop\",pod=\"one\",x=\"" + std::string(60'000, 'x') + "\"} 1\n";
  for (const Endpoint endpoint : {Endpoint::metrics_resource, Endpoint::stats_summary, Endpoint::metrics_cadvisor}) {
    World world;
    world.provider = std::make_shared<StuckTransport>(world.home.clock, bomb);
    world.ask(endpoint);
    if (endpoint == Endpoint::metrics_cadvisor) {
      // A part of it was passed on already.
      CHECK(world.response.status == 200);
      CHECK(world.response.aborted);
      CHECK(world.response.body.size() <= 1U << 20);
      for (const std::string& piece : world.response.writes) CHECK(piece.size() < 100'000);
    } else {
      CHECK(world.response.status == 503);
      CHECK(world.response.body == "cluster milan sends more than 1 MiB of what pods use");
    }
  }
}

TEST_CASE("series that are made up by the thousand fill nobody who scrapes the node") {
  World world;
  const auto series = [](int count, const char* pod) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += "m{namespace=\"shop\",pod=\"" + std::string(pod) + "\",made=\"" + std::to_string(i) + "\"} 1\n";
    return text;
  };
  // Those of others do not count.
  world.said = {series(3'000, "one"), series(9'000, "stranger")};
  world.ask(Endpoint::metrics_cadvisor);
  CHECK(world.response.status == 200);
  CHECK(std::ranges::count(world.response.body, '\n') == 3'000);
  CHECK_FALSE(world.response.aborted);
  world.said = {series(3'001, "one")};
  world.ask(Endpoint::metrics_cadvisor);
  CHECK(world.response.status == 503);
  CHECK(world.response.body == "cluster milan sends more than 3000 series of 2 pods");
  // An answer that was begun is cut, so that it does not look complete.
  world.said = std::vector<std::string>(10, series(1, "one") + "m{namespace=\"shop\",pod=\"two\",made=\"" +
                                                std::string(40'000, 'x') + "\"} 1\n" + series(499, "two"));
  world.ask(Endpoint::metrics_cadvisor);
  CHECK(world.response.aborted);
}

TEST_CASE("a provider that stops in the middle is waited for in vain for half a minute, and refused") {
  for (const Endpoint endpoint : {Endpoint::metrics_resource, Endpoint::metrics_cadvisor}) {
    World world;
    world.provider = std::make_shared<StuckTransport>(world.home.clock, "");
    const auto begun = world.home.clock.now();
    world.ask(endpoint);
    CHECK(world.home.clock.now() - begun <= 31s);
    CHECK(world.response.status == 503);
    CHECK(world.response.body == "cluster milan has not sent all metrics in time");
  }
}

TEST_CASE("what is broken off is refused, or cut where it was begun") {
  World world;
  world.broken = kube::Failure(kube::Errc::closed, "the connection broke");
  world.said = {world.cpu("one", 5)};
  world.ask(Endpoint::metrics_resource);
  CHECK(world.response.status == 503);
  CHECK(world.response.body.contains("cluster milan has broken off what pods use: the connection broke"));
  std::string much;
  for (int i = 0; i < 1000; ++i) much += world.cpu("one", i);
  world.said = {much};
  world.ask(Endpoint::metrics_cadvisor);
  CHECK(world.response.status == 200);
  CHECK(world.response.aborted);
}

TEST_CASE("only so many ask at once, nothing is left of them, and what was remembered goes with the node") {
  World world;
  world.provider = std::make_shared<StuckTransport>(world.home.clock, "");
  std::vector<FakeResponse> responses(20);
  int refused = 0;
  world.home.simulator.run([](World& w, std::vector<FakeResponse>& all, int& full) -> asio::awaitable<void> {
    kube::async::TaskGroup group(w.home.simulator.executor());
    for (FakeResponse& one : all)
      group.spawn([](World& v, FakeResponse& mine, int& count) -> asio::awaitable<void> {
        const auto served = co_await v.api.serve({.endpoint = Endpoint::metrics_resource, .node = "milan"}, mine);
        if (!served && served.error().sentence.starts_with("too many ask for the metrics of node milan")) ++count;
      }(w, one, full));
    co_await group.join();
  }(world, responses, refused));
  CHECK(refused == 12);
  world.provider = world.fake;
  world.said = {world.cpu("one", 5)};
  world.ask(Endpoint::metrics_resource);
  CHECK(world.response.status == 200);
  world.ask(Endpoint::metrics_resource);
  CHECK(world.home.metrics.text().contains("liqod_kubelet_figures_pods 1\n"));
  world.nodes.clear();
  world.ask(Endpoint::metrics_resource);
  CHECK(world.home.metrics.text().contains("liqod_kubelet_figures_pods 0\n"));
}

TEST_CASE("an answer that finds no room in memory is refused") {
  World world;
  world.said = {world.cpu("one", 5)};
  world.home.simulator.run([](World& w) -> asio::awaitable<void> {
    FakeResponse full;
    full.may_hold = 1000;
    const auto served = co_await w.api.serve({.endpoint = Endpoint::metrics_resource, .node = "milan"}, full);
    REQUIRE_FALSE(served.has_value());
    CHECK(served.error() == Refusal{503, "too many metrics are being read; try again"});
  }(world));
  CHECK(world.fake->requests.empty());
}
