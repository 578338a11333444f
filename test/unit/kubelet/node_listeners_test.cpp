// Ports that come and go with the Nodes.
#include "kubelet/node_listeners.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kubelet/kubelet_server.hpp"
#include "liqo/api/labels.hpp"
#include "server_tls.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
using liqo::test::make_tls;
namespace asio = boost::asio;
namespace labels = liqo::api::labels;
using Names = std::set<std::string>;

// Below the ephemeral ports of the kernel, which would be taken from time to time.
constexpr std::uint16_t first = 21250;
const std::string selector = std::string(labels::type) + "=" + std::string(labels::type_virtual_node);

/// A server of the ports 21250 to 21253; `show` and `hide` add and remove Nodes at home.
struct World {
  FakeHome home{[](const kube::HttpRequest&) { return FakeAnswer{.status = 201, .pieces = {"{}"}}; }};
  kube::InformerSet informers{home.simulator.executor(), home.api, home.metrics};
  kube::InformerHandle nodes =
      informers.acquire({.resource = kube::resources::nodes, .selection = {.label_selector = selector}});
  Authorizer authorizer{home.api, kube::Counter()};
  KubeletServer server{home.environment,
                       authorizer,
                       [](const std::string&, const std::string&) -> kube::Result<PodRoute> {
                         return kube::fail(kube::Errc::missing, "there is no pod");
                       },
                       make_tls(),
                       {.address = "127.0.0.1", .port = first}};
  kube::Gauge missing = home.metrics.gauge({kube::MetricType::gauge, "missing", "Missing."});
  NodeListeners listeners{home.environment, informers, {first, 4}, missing};
  int version = 0;

  void show(const std::string& name, int port) {
    kube::Object node = kube::Object::make(kube::resources::nodes, {"", name});
    node.mutable_metadata()["uid"] = "u-" + name;
    node.mutable_metadata()["resourceVersion"] = std::to_string(++version);
    node.mutable_metadata()["labels"] = kube::json::object{{labels::type, labels::type_virtual_node}};
    node.mutable_status() = kube::json::object{
        {"daemonEndpoints", kube::json::object{{"kubeletEndpoint", kube::json::object{{"Port", port}}}}}};
    nodes->observe(std::move(node));
  }
  void hide(const std::string& name) { nodes->observe_gone({"", name}, "u-" + name); }

  bool are_missing(int count) { return home.metrics.text().contains("\nmissing " + std::to_string(count) + "\n"); }

  /// Whether the port is open.
  bool is_open(std::uint16_t port) {
    kube::net::HttpServer other(home.simulator.executor(), home.clock, {.address = "127.0.0.1", .port = port}, {});
    return !other.listen().has_value();
  }
};

asio::awaitable<void> come_and_go(World& world) {
  kube::async::TaskGroup group(world.home.simulator.executor());
  REQUIRE(world.server.listen().has_value());
  group.spawn(world.listeners.run(world.server));
  CHECK(world.listeners.nodes_at(first).empty());

  world.show("milan", first);
  world.show("turin", first + 1);
  co_await world.home.clock.sleep(1ms);
  CHECK(world.listeners.nodes_at(first) == Names{"milan"});
  CHECK(world.listeners.nodes_at(first + 1) == Names{"turin"});
  CHECK(world.listeners.nodes_at(first + 2).empty());
  CHECK(world.is_open(first));
  CHECK(world.is_open(first + 1));
  CHECK_FALSE(world.is_open(first + 2));

  // Another port, and a Node that shows none of ours.
  world.show("turin", first + 2);
  world.show("bari", 80);
  co_await world.home.clock.sleep(1ms);
  CHECK_FALSE(world.is_open(first + 1));
  CHECK(world.is_open(first + 2));
  CHECK(world.listeners.nodes_at(first) == Names{"bari", "milan"});

  world.hide("turin");
  world.hide("milan");
  co_await world.home.clock.sleep(1ms);
  CHECK_FALSE(world.is_open(first + 2));
  CHECK(world.is_open(first));
  CHECK(world.listeners.nodes_at(first) == Names{"bari"});
  co_await group.stop();
}

asio::awaitable<void> busy(World& world) {
  kube::async::TaskGroup group(world.home.simulator.executor());
  REQUIRE(world.server.listen().has_value());
  auto other = std::make_unique<kube::net::HttpServer>(
      world.home.simulator.executor(), world.home.clock,
      kube::net::HttpServerOptions{.address = "127.0.0.1", .port = first + 1}, kube::net::HttpHandler{});
  REQUIRE(other->listen().has_value());
  world.show("milan", first);
  world.show("turin", first + 1);
  world.show("bari", first + 2);
  group.spawn(world.listeners.run(world.server));
  co_await world.home.clock.sleep(1ms);
  CHECK(world.are_missing(1));
  CHECK(world.is_open(first + 2));

  other.reset();
  CHECK_FALSE(world.is_open(first + 1));
  co_await world.home.clock.sleep(NodeListeners::pause * 2);
  CHECK(world.is_open(first + 1));
  CHECK(world.are_missing(0));
  co_await group.stop();
}

}  // namespace

TEST_CASE("the ports of nodes come and go with them, and the first stays") {
  World world;
  world.home.simulator.run(come_and_go(world));
}

TEST_CASE("a port that another process has costs its own node only, until it is free") {
  World world;
  world.home.simulator.run(busy(world));
}
