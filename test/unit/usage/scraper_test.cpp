#include "usage/scraper.hpp"

#include <doctest/doctest.h>

#include "../kubelet/fakes.hpp"
#include "telemetry/families.hpp"

namespace {

using namespace liqo::usage;
using namespace std::chrono_literals;
using liqo::core::NodeView;
namespace asio = boost::asio;

NodeView node(int number) {
  return {.name = "milan-" + std::to_string(number),
          .address = "10.0.0." + std::to_string(number),
          .port = 10250,
          .twins = {{"shop-rome", {.original = "shop", .pods = {"web-" + std::to_string(number)}}}}};
}

std::string line_of(int number, std::string_view ns) {
  return "m{namespace=\"" + std::string(ns) + "\",pod=\"web-" + std::to_string(number) + "\"} 1\n";
}

/// The answer of one kubelet.
struct Kubelet {
  int status = 200;
  std::vector<std::string> pieces;
  kube::Duration after = 0s;
  std::optional<kube::Failure> failure = std::nullopt;  ///< behind the pieces
};

struct World {
  kube::testing::Simulator simulator{1};
  kube::Metrics metrics;
  std::vector<NodeView> nodes;
  std::map<std::string, Kubelet> kubelets;  ///< by address
  std::vector<std::string> asked;
  std::size_t at_once = 0, max_at_once = 0;
  Scraper scraper;
  kube::async::TaskGroup group;

  explicit World(int count, ScrapeSettings settings = {})
      : scraper(
            {simulator.executor(), simulator.clock(), simulator.random(), metrics},
            [this](std::string_view) { return nodes; },
            [this](std::string address, std::uint16_t port, std::string path, kube::Deadline) {
              return ask(*this, std::move(address), port, std::move(path));
            },
            settings),
        group(simulator.executor(), kube::async::TaskGroup::OnFailure::keep_others) {
    for (int i = 1; i <= count; ++i) {
      nodes.push_back(node(i));
      kubelets[nodes.back().address] = {.pieces = {"# TYPE m gauge\n" + line_of(i, "shop-rome") + line_of(i, "paris")}};
    }
    group.spawn(scraper.run());
  }
  ~World() { simulator.run(group.stop()); }

  static asio::awaitable<kube::Result<KubeletResponse>> ask(World& world, std::string address, std::uint16_t port,
                                                            std::string path) {
    world.asked.push_back(address + ":" + std::to_string(port) + path);
    world.max_at_once = std::max(world.max_at_once, ++world.at_once);
    const Kubelet kubelet = world.kubelets[address];
    struct Leave {
      explicit Leave(World& of) : in(of) {}
      Leave(const Leave&) = delete;
      Leave& operator=(const Leave&) = delete;
      ~Leave() { --in.at_once; }
      World& in;
    } const leave(world);
    if (kubelet.after > 0s) co_await world.simulator.clock().sleep(kubelet.after);
    if (kubelet.status == 0) co_return kube::fail(kube::Errc::tls, "the certificate is not trusted");
    kube::net::Response response;
    response.head.status = kubelet.status;
    response.body = std::make_unique<liqo::test::FakeBody>(kubelet.pieces, kubelet.failure);
    co_return KubeletResponse{.connection = nullptr, .response = std::move(response)};
  }
  static asio::awaitable<void> read_into(World& world, std::string consumer, std::string path,
                                         kube::Result<Scraper::Text>& out) {
    out = co_await world.scraper.scrape(std::move(consumer), std::move(path));
  }
  /// The text itself, as a caller keeps it that has not sent it yet.
  kube::Result<Scraper::Text> read(std::string consumer, std::string path = "/metrics/cadvisor") {
    kube::Result<Scraper::Text> out;
    simulator.run(read_into(*this, std::move(consumer), std::move(path), out));
    return out;
  }
  static asio::awaitable<void> scrape_into(World& world, std::string path, std::string& out) {
    const auto text = co_await world.scraper.scrape("rome", std::move(path));
    out = text ? **text : "failed: " + text.error().text();
  }
  std::string scrape(std::string path = "/metrics/cadvisor") {
    std::string out;
    simulator.run(scrape_into(*this, std::move(path), out));
    return out;
  }
  void wait(kube::Duration time) { simulator.run(simulator.clock().sleep(time), time); }
  double outcome(const char* name) {
    return metrics.counter(liqo::families::usage_kubelets, {{"outcome", name}}).value();
  }
};

const std::string type = "# TYPE m gauge\n";

}  // namespace

TEST_CASE("kubelets are asked for one path, and their answers are one") {
  World world(2);
  CHECK(world.scrape() == type + line_of(1, "shop") + line_of(2, "shop"));
  CHECK(world.asked == std::vector<std::string>{"10.0.0.1:10250/metrics/cadvisor", "10.0.0.2:10250/metrics/cadvisor"});
  CHECK(world.outcome("answered") == 2);
}

TEST_CASE("the sums that stand for the node are told with the resources alone, and where nothing runs, too") {
  World world(0);
  CHECK(world.scrape("/metrics/resource").find("node_cpu_usage_seconds_total 0\n") != std::string::npos);
  CHECK(world.scrape("/metrics").empty());
}

TEST_CASE("a kubelet that fails costs its own pods' figures only") {
  struct Case {
    const char* title;
    Kubelet kubelet;
    const char* outcome;
  };
  const std::string half = line_of(2, "shop-rome");
  for (const Case& c : {
           Case{"silent", {.pieces = {half}, .after = 1h}, "silent"},
           Case{"not trusted", {.status = 0, .pieces = {}}, "failed"},
           Case{"refuses", {.status = 403, .pieces = {half}}, "failed"},
           Case{"breaks off", {.pieces = {half}, .failure = kube::Failure(kube::Errc::closed, "gone")}, "failed"},
           Case{"has none", {.status = 404, .pieces = {"404 page not found\n"}}, "answered"},
       }) {
    CAPTURE(c.title);
    World world(3);
    world.kubelets["10.0.0.2"] = c.kubelet;
    const double before = world.outcome(c.outcome);
    const auto began = world.simulator.clock().now();
    CHECK(world.scrape() == type + line_of(1, "shop") + line_of(3, "shop"));
    CHECK(world.simulator.clock().now() - began <= 5s);
    CHECK(world.outcome(c.outcome) > before);
  }
}

TEST_CASE("where no kubelet tells its figures there is no answer, and it says why") {
  World world(2);
  for (auto& [address, kubelet] : world.kubelets) kubelet.status = 0;
  CHECK(world.scrape() ==
        "failed: no kubelet that runs pods of cluster rome sends its metrics; one says: node milan-1: the "
        "certificate is not trusted");
}

TEST_CASE("who asks the same at the same time or a moment later gets the same answer") {
  World world(1);
  world.kubelets["10.0.0.1"].after = 1s;
  std::string first, second;
  world.group.spawn(World::scrape_into(world, "/metrics", first));
  world.group.spawn(World::scrape_into(world, "/metrics", second));
  world.wait(1500ms);
  CHECK(first == type + line_of(1, "shop"));
  CHECK(second == first);
  CHECK(world.scrape("/metrics") == first);
  CHECK(world.asked.size() == 1);
  world.scrape("/metrics/probes");
  CHECK(world.asked.size() == 2);
  world.wait(2s);
  world.scrape("/metrics");
  CHECK(world.asked.size() == 3);
}

TEST_CASE("kubelets are asked side by side, and so many at most") {
  World world(40, {.max_asked_for_one = 8, .max_asked = 4});
  for (auto& [address, kubelet] : world.kubelets) kubelet.after = 100ms;
  const std::string text = world.scrape();
  CHECK(world.max_at_once == 4);
  CHECK(std::ranges::count(text, '\n') == 41);
}

TEST_CASE("who asks by several paths takes no places of others") {
  World world(40, {.max_asked_for_one = 8, .max_asked = 16});
  // Five seconds for all of one path, with eight at once.
  for (auto& [address, kubelet] : world.kubelets) kubelet.after = 900ms;
  std::vector<std::string> texts(4);
  const char* paths[] = {"/metrics", "/metrics/cadvisor", "/metrics/probes", "/metrics/resource"};
  for (std::size_t i = 0; i < texts.size(); ++i) world.group.spawn(World::scrape_into(world, paths[i], texts[i]));
  world.wait(100ms);
  CHECK(world.max_at_once == 8);
  const auto others = world.read("paris");
  REQUIRE(others);
  CHECK(std::ranges::count(**others, '\n') == 41);
  CHECK(world.max_at_once == 16);
}

TEST_CASE("who waits for a place gets the next one, however many nodes are still to be asked for another") {
  World world(10, {.max_asked_for_one = 1, .max_asked = 1});
  for (auto& [address, kubelet] : world.kubelets) kubelet.after = 400ms;
  std::string text;
  world.group.spawn(World::scrape_into(world, "/metrics", text));
  world.wait(50ms);
  const auto others = world.read("paris");
  REQUIRE(others);
  CHECK(std::ranges::count(**others, '\n') >= 6);
  CHECK(std::ranges::count(text, '\n') >= 6);
  CHECK(world.max_at_once == 1);
}

TEST_CASE("what kubelets say too much of is left out, and nothing stays held") {
  const auto holds_nothing = [](World& world) {
    return world.metrics.text().find("liqo_metric_agent_held_bytes 0\n") != std::string::npos;
  };
  const std::string much(100'000, 'x');
  SUBCASE("an answer that is too long") {
    World world(2, {.max_read = 64U << 10});
    world.kubelets["10.0.0.2"].pieces = {line_of(2, "shop-rome"), "# " + much};
    CHECK(world.scrape() == type + line_of(1, "shop"));
    CHECK(world.outcome("too_large") == 1);
    world.wait(2s);
    CHECK(holds_nothing(world));
  }
  SUBCASE("lines of the consumer that are too many") {
    World world(2, {.max_kept_of_node = 1024});
    for (int i = 0; i < 50; ++i) world.kubelets["10.0.0.2"].pieces.push_back(line_of(2, "shop-rome"));
    CHECK(world.scrape() == type + line_of(1, "shop"));
    CHECK(world.outcome("too_large") == 1);
    world.wait(2s);
    CHECK(holds_nothing(world));
  }
  SUBCASE("questions that are too many") {
    World world(1, {.max_scrapes = 1});
    world.kubelets["10.0.0.1"].after = 1s;
    std::string first, second;
    world.group.spawn(World::scrape_into(world, "/metrics", first));
    world.wait(100ms);
    world.group.spawn(World::scrape_into(world, "/metrics/probes", second));
    world.wait(1500ms);
    CHECK(first == type + line_of(1, "shop"));
    CHECK(second == "failed: too many metrics are asked for at once; try again");
  }
  SUBCASE("a line without end") {
    World world(1);
    world.kubelets["10.0.0.1"].pieces.insert(world.kubelets["10.0.0.1"].pieces.begin(), much + "\n");
    CHECK(world.scrape() == type + line_of(1, "shop"));
    CHECK(world.metrics.counter(liqo::families::usage_lines_dropped).value() == 1);
  }
}

TEST_CASE("what is still being read counts, for its consumer") {
  constexpr std::size_t most = 2'000;
  World world(1, {.max_kept_of_consumer = most});
  const auto held = [&](std::size_t bytes) {
    return world.metrics.text().find("liqo_metric_agent_held_bytes " + std::to_string(bytes) + "\n") !=
           std::string::npos;
  };
  // Each is another text, because the one before is too old to be reused.
  std::vector<kube::Result<Scraper::Text>> reading;
  const std::size_t size = (type + line_of(1, "shop")).size();
  for (auto text = world.read("rome"); text; text = world.read("rome")) {
    reading.push_back(std::move(text));
    world.wait(2s);
    REQUIRE(held(reading.size() * size));
    REQUIRE(reading.size() * size < most);
  }
  CHECK(reading.size() > most / size / 2);
  // No other consumer waits for slow readers.
  world.wait(2s);
  CHECK(world.read("paris"));
  reading.clear();
  world.wait(2s);
  CHECK(held(0));
  CHECK(world.read("rome"));
}

TEST_CASE("kubelets are not asked for whom nothing can be held") {
  World world(1, {.max_kept_of_consumer = 1});
  CHECK(world.scrape().starts_with("failed: no kubelet"));
  world.wait(2s);
  world.nodes.clear();
  const auto sums = world.read("rome", "/metrics/resource");
  world.wait(2s);
  REQUIRE(sums);
  const std::size_t before = world.asked.size();
  const auto refused = world.read("rome");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == kube::Errc::too_large);
  CHECK(world.asked.size() == before);
}
