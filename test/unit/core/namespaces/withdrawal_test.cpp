// When a twin is given up: when somebody asks for that, and not when a Node or a label is away for a moment.
#include <random>

#include "../objects.hpp"
#include "core/namespaces/desired_mapping.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

constexpr kube::Duration grace = 600s;

kube::Object selecting(std::string_view region) {
  kube::Object object = parse(R"({"metadata": {"name": "offloading", "namespace": "shop", "uid": "o1",
    "finalizers": ["namespaceoffloading-controller.liqo.io/finalizer"]}})");
  object.mutable_spec() =
      parse_value(R"({"clusterSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "region",
                      "operator": "In", "values": [")" +
                  std::string(region) + R"("]}]}]}})")
          .get_object();
  return object;
}

/// One provider, its virtual node, the Node, and what the NamespaceMap asks for.
struct Provider {
  kube::Object virtual_node =
      parse(R"({"metadata": {"name": "milan", "namespace": "liqo-tenant-milan"}, "spec": {"clusterID": "milan"}})");
  std::optional<kube::Object> node = parse(R"({"metadata": {"name": "milan", "labels": {"region": "europe"}}})");
  bool has_virtual_node = true;
  kube::Object offloading = selecting("europe");
  NodeContext ctx;
  TwinMemory memory;
  WantedTwins asked;
  kube::TimePoint now{};

  TwinWish look(kube::Duration later = 1s) {
    now += later;
    std::vector<OfferedNode> nodes;
    if (has_virtual_node) nodes.push_back({&virtual_node, node ? &*node : nullptr});
    const TwinRequest request = twin_request(offloading, "rome");
    const std::vector<const TwinRequest*> all{&request};
    TwinWish wish = wanted_twins({.requests = all, .nodes = nodes, .current = asked},
                                 {.node = ctx, .now = now, .grace = grace}, memory);
    asked = wish.twins;
    return wish;
  }
  bool keeps() { return look().twins.contains("shop"); }
  void set_region(std::string_view region) { node->mutable_metadata()["labels"] = json::object{{"region", region}}; }
};

}  // namespace

TEST_CASE("a Node that is missing takes no twin away, and comes back without what was set on it by hand") {
  Provider milan;
  REQUIRE(milan.keeps());
  milan.node.reset();
  CHECK(milan.look(24h).twins.contains("shop"));
  CHECK(milan.look().leaving.empty());
  // Created again: the label that was set by hand is gone, and somebody has time to put it back.
  milan.node = parse(R"({"metadata": {"name": "milan"}})");
  const TwinWish wish = milan.look();
  CHECK(wish.twins.contains("shop"));
  REQUIRE(wish.leaving.contains("shop"));
  CHECK(wish.leaving.at("shop").is_new);
  CHECK(wish.leaving.at("shop").left == grace);
  CHECK_FALSE(milan.look(599s).leaving.at("shop").is_new);
  milan.set_region("europe");
  CHECK(milan.look().leaving.empty());
  CHECK(milan.look(24h).twins.contains("shop"));
}

TEST_CASE("labels that have changed keep the twin for the grace time, once") {
  Provider milan;
  REQUIRE(milan.keeps());
  milan.set_region("europ");
  CHECK(milan.look().leaving.at("shop").is_new);
  CHECK(milan.look(599s).twins.contains("shop"));
  CHECK_FALSE(milan.look(1s).twins.contains("shop"));
  CHECK_FALSE(milan.look().twins.contains("shop"));
  CHECK(milan.memory.namespaces.empty());
  // And it comes again as it came first.
  milan.set_region("europe");
  CHECK(milan.keeps());
}

TEST_CASE("what the process sets on every Node counts where the Node is missing") {
  Provider milan;
  milan.ctx.extra_labels = {{"region", "europe"}};
  milan.node.reset();
  CHECK(milan.keeps());
  CHECK(milan.look().leaving.empty());
}

TEST_CASE("after a restart nothing is known of earlier looks, and a twin without a node has the grace time anew") {
  Provider milan;
  milan.asked = {{"shop", "shop-rome"}};
  milan.set_region("asia");
  CHECK(milan.look().leaving.contains("shop"));
  milan.memory = {};
  CHECK(milan.look(599s).leaving.at("shop").left == grace);
  milan.node.reset();
  CHECK(milan.keeps());
}

TEST_CASE("what somebody says is done at once") {
  struct Case {
    const char* title;
    void (*say)(Provider&);
  };
  const Case cases[] = {
      {"another selector", [](Provider& milan) { milan.offloading = selecting("asia"); }},
      {"another NamespaceOffloading",
       [](Provider& milan) {
         milan.set_region("asia");
         milan.offloading.mutable_metadata()["uid"] = "o2";
       }},
      {"the NamespaceOffloading goes",
       [](Provider& milan) { milan.offloading.mutable_metadata()["deletionTimestamp"] = "2026-11-21T09:59:00Z"; }},
      {"the virtual node has gone", [](Provider& milan) { milan.has_virtual_node = false; }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    Provider milan;
    REQUIRE(milan.keeps());
    c.say(milan);
    CHECK_FALSE(milan.keeps());
    // That stays noted while the map goes on asking for the twin for another reason.
    milan.asked = {{"shop", "shop-rome"}};
    CHECK_FALSE(milan.keeps());
  }
}

TEST_CASE("a Node that nobody wants says nothing about labels") {
  Provider milan;
  REQUIRE(milan.keeps());
  milan.virtual_node.mutable_spec()["createNode"] = false;
  milan.node.reset();
  CHECK(milan.look().leaving.contains("shop"));
  CHECK_FALSE(milan.look(grace).twins.contains("shop"));
}

TEST_CASE("no namespace is withdrawn that anybody still wants, whatever happens to Nodes and labels meanwhile") {
  // Whoever runs the cluster wants the namespace there; Nodes vanish, labels slip and are put right within the grace
  // time, and the process restarts.
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  for (int run = 0; run < 200; ++run) {
    CAPTURE(run);
    Provider milan;
    REQUIRE(milan.keeps());
    kube::Duration wrong_for{};
    for (int step = 0; step < 60; ++step) {
      switch (random() % 6) {
        case 0:
          milan.node.reset();
          break;
        case 1:
          milan.node = parse(R"({"metadata": {"name": "milan"}})");
          break;
        case 2:
          if (milan.node) milan.set_region("europ");
          break;
        case 3:
          milan.memory = {};
          break;
        default:
          milan.node = parse(R"({"metadata": {"name": "milan", "labels": {"region": "europe"}}})");
          wrong_for = {};
      }
      const kube::Duration later = std::chrono::seconds(random() % 120);
      if (wrong_for + later >= grace)
        milan.node = parse(R"({"metadata": {"name": "milan", "labels": {"region": "europe"}}})");
      if (wrong_for + later >= grace) wrong_for = {};
      wrong_for += later;
      REQUIRE(milan.look(later).twins.contains("shop"));
    }
  }
}

}  // namespace liqo::core
