// The cost of many virtual nodes and namespaces: selectors are evaluated once each, and nodes by themselves.
#include "core/namespaces/selections.hpp"

#include <algorithm>

#include "../objects.hpp"
#include "core/namespaces/desired_mapping.hpp"

namespace liqo::core {
namespace {

using namespace testing;

std::string in_region(std::string_view region) {
  return R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"region","operator":"In","values":[")" +
         std::string(region) + R"("]}]}]})";
}
const char* const everywhere = "{}";

/// The selections, beside the same answers found by looking at every node for every namespace.
struct Crowd {
  Selections kept;
  std::map<kube::ObjectKey, Selections::Node> nodes;
  std::map<std::string, std::string> namespaces;

  static NodeSelector selector(const std::string& text) { return *NodeSelector::parse(parse_value(text).get_object()); }
  std::vector<std::string> see(const std::string& cluster, const std::string& name, std::string_view region) {
    const kube::ObjectKey key{"liqo-tenant-" + cluster, name};
    const Selections::Node node{.cluster = cluster, .name = name, .labels = {{"region", region}}};
    nodes.insert_or_assign(key, node);
    return kept.see(key, node);
  }
  std::vector<std::string> lose(const std::string& cluster, const std::string& name) {
    const kube::ObjectKey key{"liqo-tenant-" + cluster, name};
    nodes.erase(key);
    return kept.see(key, std::nullopt);
  }
  Selections::Clusters ask(const std::string& ns, const std::string& text) {
    namespaces.insert_or_assign(ns, text);
    return kept.ask(ns, text, selector(text));
  }
  void check() const {
    for (const auto& [ns, text] : namespaces) {
      Selections::Clusters expected;
      for (const auto& [key, node] : nodes)
        if (!node.cluster.empty() && is_selected(selector(text), node.name, node.labels)) ++expected[node.cluster];
      REQUIRE(kept.asked(ns));
      CHECK(*kept.asked(ns) == expected);
      for (const auto& [cluster, count] : expected) CHECK(std::ranges::count(kept.askers_of(cluster), ns) == 1);
    }
  }
};

}  // namespace

TEST_CASE("a selector of thousands of namespaces is evaluated once for each node, and a node that comes by itself") {
  Crowd crowd;
  for (int i = 0; i < 10; ++i) crowd.see("milan", "milan-" + std::to_string(i), "south");
  for (int i = 0; i < 3000; ++i) crowd.ask("n" + std::to_string(i), in_region(i % 2 == 0 ? "south" : "north"));
  CHECK(crowd.kept.evaluations() == 2 * 10);
  crowd.see("turin", "turin-0", "north");
  CHECK(crowd.kept.evaluations() == 2 * 11);
  crowd.check();
}

TEST_CASE("only those hear of a virtual node for whom a provider comes or goes by it") {
  Crowd crowd;
  crowd.ask("shop", in_region("south"));
  crowd.ask("mail", in_region("south"));
  crowd.ask("bank", in_region("north"));
  crowd.ask("tax", everywhere);
  using Texts = std::vector<std::string>;
  const std::string south = in_region("south"), north = in_region("north");
  CHECK(crowd.see("milan", "one", "south") == Texts{south, everywhere});
  CHECK(crowd.kept.askers(south) == Texts{"mail", "shop"});
  CHECK(crowd.see("milan", "two", "south") == Texts{});
  CHECK(crowd.see("milan", "two", "south") == Texts{});
  CHECK(crowd.see("milan", "two", "north") == Texts{north});
  CHECK(crowd.see("milan", "one", "north") == Texts{south});
  CHECK(crowd.lose("milan", "one") == Texts{});
  CHECK(crowd.lose("milan", "one") == Texts{});
  CHECK(crowd.see("turin", "two", "north") == Texts{north, everywhere});
  crowd.check();
  // A VirtualNode that becomes one of another provider.
  CHECK(crowd.kept.see({"liqo-tenant-milan", "two"},
                       Selections::Node{.cluster = "rome", .name = "two", .labels = {{"region", "north"}}}) ==
        Texts{north, everywhere});
  CHECK(crowd.kept.see({"liqo-tenant-milan", "two"}, Selections::Node{}) == Texts{north, everywhere});
}

TEST_CASE("another selector, and none, replace what a namespace has asked before") {
  Crowd crowd;
  crowd.see("milan", "one", "south");
  crowd.see("turin", "two", "north");
  CHECK(crowd.ask("shop", in_region("south")) == Selections::Clusters{{"milan", 1}});
  CHECK(crowd.ask("shop", in_region("north")) == Selections::Clusters{{"turin", 1}});
  CHECK(crowd.kept.askers(in_region("south")).empty());
  CHECK(crowd.kept.askers_of("milan").empty());
  crowd.kept.forget("shop");
  crowd.kept.forget("shop");
  CHECK_FALSE(crowd.kept.asked("shop"));
  CHECK(crowd.lose("turin", "two").empty());
}

TEST_CASE("of a thousand namespaces with one selector the wish for a provider is that of each of them") {
  const NodeContext ctx;
  const kube::Object south = parse(R"({"metadata": {"name": "one", "namespace": "t"},
    "spec": {"clusterID": "milan", "labels": {"region": "south"}}})");
  const kube::Object north = parse(R"({"metadata": {"name": "two", "namespace": "t"},
    "spec": {"clusterID": "milan", "labels": {"region": "north"}}})");
  const std::vector<OfferedNode> nodes{{&south, nullptr}, {&north, nullptr}};
  std::vector<TwinRequest> requests;
  for (int i = 0; i < 900; ++i) {
    kube::Object object = parse(R"({"metadata": {"name": "offloading",
      "finalizers": ["namespaceoffloading-controller.liqo.io/finalizer"]}})");
    object.mutable_metadata()["namespace"] = "n" + std::to_string(i);
    object.mutable_spec() = json::object{{"clusterSelector", parse_value(in_region(i % 3 == 0 ? "south" : "mars"))}};
    requests.push_back(twin_request(object, "rome"));
  }
  std::vector<const TwinRequest*> asked;
  for (const TwinRequest& request : requests) asked.push_back(&request);
  TwinMemory memory;
  const WantedTwins current;
  const TwinWish wish = wanted_twins({.requests = asked, .nodes = nodes, .current = current},
                                     {.node = ctx, .now = {}, .grace = {}}, memory);
  CHECK(wish.twins.size() == 300);
  CHECK(wish.twins.contains("n0"));
  CHECK_FALSE(wish.twins.contains("n1"));
  CHECK(memory.namespaces.at("n3").nodes == std::set<std::string, std::less<>>{"one"});
}

}  // namespace liqo::core
