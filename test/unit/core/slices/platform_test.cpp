// The kind of machines that a provider has for consumers.
#include "core/slices/platform.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object node(std::string_view architecture, std::string_view os = "linux", std::string_view spec = "{}",
                  std::string_view more = "") {
  return parse(R"({"metadata": {"name": "n", "labels": {"kubernetes.io/arch": ")" + std::string(architecture) +
               R"(", "kubernetes.io/os": ")" + std::string(os) + "\"" + std::string(more) + R"(}}, "spec": )" +
               std::string(spec) + "}");
}

kube::Object with_features(std::string_view features, std::string_view spec = "{}", std::string_view os = "linux") {
  kube::Object one = node("amd64", os, spec);
  one.mutable_status()["declaredFeatures"] = parse_value(features);
  return one;
}

const char* const control_plane =
    R"({"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]})";

}  // namespace

TEST_CASE("consumers are told the one architecture that their pods can meet, and no wrong one") {
  struct Row {
    std::string_view title;
    std::vector<kube::Object> nodes;
    Platform wanted;
  };
  const std::vector<Row> rows{
      {"no nodes", {}, {"", ""}},
      {"one architecture", {node("arm64"), node("arm64")}, {"", "arm64"}},
      {"several, the default among them", {node("arm64"), node("amd64")}, {"", ""}},
      {"several, the default not among them", {node("riscv64"), node("arm64")}, {"", "arm64"}},
      {"the control plane is not for consumers", {node("amd64", "linux", control_plane), node("arm64")}, {"", "arm64"}},
      {"what is borrowed is not lent on",
       {node("amd64", "linux", "{}", R"(, "liqo.io/type": "virtual-node")"), node("arm64")},
       {"", "arm64"}},
      {"a cordoned node comes back", {node("amd64", "linux", R"({"unschedulable": true})"), node("arm64")}, {"", ""}},
      {"a pool with a taint of its own is not for consumers",
       {node("amd64", "linux", R"({"taints": [{"key": "gpu", "effect": "NoSchedule"}]})"), node("arm64")},
       {"", "arm64"}},
      {"a taint of trouble passes",
       {node("amd64", "linux", R"({"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]})"),
        node("arm64")},
       {"", ""}},
      {"a taint that only asks to stay away",
       {node("amd64", "linux", R"({"taints": [{"key": "gpu", "effect": "PreferNoSchedule"}]})"), node("arm64")},
       {"", ""}},
      {"all pools have a taint",
       {node("arm64", "linux", R"({"taints": [{"key": "a", "effect": "NoSchedule"}]})"),
        node("arm64", "linux", R"({"taints": [{"key": "b", "effect": "NoExecute"}]})")},
       {"", "arm64"}},
      {"Linux pods run on Linux nodes", {node("amd64", "windows"), node("arm64")}, {"", "arm64"}},
      {"nothing but Windows", {node("amd64", "windows"), node("amd64", "windows")}, {"windows", "amd64"}},
      {"two that are not Linux", {node("amd64", "windows"), node("amd64", "plan9")}, {"", ""}},
      {"a node that says nothing", {parse(R"({"metadata": {"name": "n"}})"), node("arm64")}, {"", ""}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.title);
    Platforms platforms;
    for (std::size_t i = 0; i < row.nodes.size(); ++i) platforms.set_node("n" + std::to_string(i), &row.nodes[i]);
    CHECK(platforms.common() == row.wanted);
  }
}

TEST_CASE("consumers are told the features that each node declares to which their pods may come") {
  using Names = std::vector<std::string>;
  struct Row {
    std::string_view title;
    std::vector<kube::Object> nodes;
    Names told, left_out;
  };
  const std::string too_long = '"' + std::string(64, 'X') + '"';
  const std::vector<Row> rows{
      {"no nodes", {}, {}, {}},
      {"one node, sorted", {with_features(R"(["B", "A"])")}, {"A", "B"}, {}},
      {"what all have", {with_features(R"(["A", "B", "C"])"), with_features(R"(["B", "C", "D"])")}, {"B", "C"}, {}},
      {"one that declares none", {with_features(R"(["A"])"), node("amd64")}, {}, {}},
      {"also of another architecture", {with_features(R"(["A"])"), node("arm64")}, {}, {}},
      {"a control plane without", {with_features(R"(["A"])"), node("amd64", "linux", control_plane)}, {"A"}, {}},
      {"a virtual node without",
       {with_features(R"(["A"])"), node("amd64", "linux", "{}", R"(, "liqo.io/type": "virtual-node")")},
       {"A"},
       {}},
      {"a cordoned node comes back",
       {with_features(R"(["A", "B"])"), with_features(R"(["A"])", R"({"unschedulable": true})")},
       {"A"},
       {}},
      {"a pool with a taint of its own",
       {with_features(R"(["A"])"), with_features("[]", R"({"taints": [{"key": "gpu", "effect": "NoSchedule"}]})")},
       {"A"},
       {}},
      {"another OS beside Linux", {with_features(R"(["A"])"), with_features("[]", "{}", "windows")}, {"A"}, {}},
      {"two that are not Linux",
       {with_features(R"(["A"])", "{}", "windows"), with_features(R"(["A"])", "{}", "plan9")},
       {},
       {}},
      {"what has no label",
       {with_features("[\"A\", \"A/b\", 7, " + too_long + "]")},
       {"A"},
       {"A/b", too_long.substr(1, 64)}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.title);
    Platforms platforms;
    for (std::size_t i = 0; i < row.nodes.size(); ++i) platforms.set_node("n" + std::to_string(i), &row.nodes[i]);
    CHECK(platforms.common().features == row.told);
    CHECK(platforms.common().features_left_out == row.left_out);
  }

  Platforms platforms;
  const kube::Object both = with_features(R"(["A", "B"])"), one = with_features(R"(["A"])");
  platforms.set_node("a", &both);
  platforms.set_node("b", &both);
  CHECK(platforms.common().features == Names{"A", "B"});
  platforms.set_node("b", &one);
  CHECK(platforms.common().features == Names{"A"});
  platforms.set_node("b", nullptr);
  CHECK(platforms.common().features == Names{"A", "B"});
  platforms.set_node("a", nullptr);
  CHECK(platforms.common() == Platform());
}

TEST_CASE("consumers are told the zone and region that all nodes have to which their pods may come") {
  const auto placed = [](std::string_view zone, std::string_view region = "", std::string_view spec = "{}",
                         std::string_view os = "linux") {
    kube::Object one = node("amd64", os, spec);
    if (!zone.empty()) one.set_label("topology.kubernetes.io/zone", zone);
    if (!region.empty()) one.set_label("topology.kubernetes.io/region", region);
    return one;
  };
  struct Row {
    std::string_view title;
    std::vector<kube::Object> nodes;
    std::string_view zone, region;
  };
  for (const Row& row : {
           Row{"no nodes", {}, "", ""},
           Row{"none says any", {placed(""), placed("")}, "", ""},
           Row{"all in one", {placed("a", "eu"), placed("a", "eu")}, "a", "eu"},
           Row{"two zones of a region", {placed("a", "eu"), placed("b", "eu")}, "", "eu"},
           Row{"one says none", {placed("a", "eu"), placed("")}, "", ""},
           Row{"the control plane elsewhere", {placed("a"), placed("b", "", control_plane)}, "a", ""},
           Row{"another OS elsewhere", {placed("a"), placed("b", "", "{}", "windows")}, "a", ""},
       }) {
    CAPTURE(row.title);
    Platforms platforms;
    for (std::size_t i = 0; i < row.nodes.size(); ++i) platforms.set_node("n" + std::to_string(i), &row.nodes[i]);
    CHECK(platforms.common().zone == row.zone);
    CHECK(platforms.common().region == row.region);
  }
  Platforms platforms;
  const kube::Object a = placed("a", "eu"), b = placed("b", "eu"), us = placed("b", "us");
  CHECK(platforms.set_node("n", &a));
  CHECK_FALSE(platforms.set_node("n", &a));
  CHECK(platforms.set_node("n", &b));
  CHECK(platforms.set_node("n", &us));
  CHECK(platforms.common().zone == "b");
}

TEST_CASE("a node that is what it was changes nothing that is told") {
  Platforms platforms;
  kube::Object one = with_features(R"(["A", "B"])");
  CHECK_FALSE(platforms.set_node("a", nullptr));
  CHECK(platforms.set_node("a", &one));
  CHECK_FALSE(platforms.set_node("a", &one));
  // A heartbeat, a cordon and trouble that passes.
  one.mutable_status()["conditions"] = parse_value(R"([{"type": "Ready", "status": "False"}])");
  one.mutable_spec() = parse_value(R"({"unschedulable": true, "taints":
    [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]})")
                           .as_object();
  CHECK_FALSE(platforms.set_node("a", &one));
  one.set_label("kubernetes.io/os", "");
  CHECK_FALSE(platforms.set_node("a", &one));

  for (const auto& [title, changed] :
       {std::pair{"fewer features", with_features(R"(["A"])")},
        std::pair{"other features", with_features(R"(["A", "C"])")},
        std::pair{"more features", with_features(R"(["A", "C", "D"])")},
        std::pair{"a taint",
                  with_features(R"(["A", "C", "D"])", R"({"taints": [{"key": "gpu", "effect": "NoSchedule"}]})")},
        std::pair{"no features", node("amd64")}, std::pair{"architecture", node("arm64")},
        std::pair{"OS", node("arm64", "windows")},
        std::pair{"not for consumers", node("arm64", "windows", control_plane)}}) {
    CAPTURE(title);
    CHECK(platforms.set_node("a", &changed));
    CHECK_FALSE(platforms.set_node("a", &changed));
  }
  CHECK_FALSE(platforms.set_node("a", nullptr));
  CHECK(platforms.set_node("a", &one));
  CHECK(platforms.set_node("a", nullptr));
  CHECK(platforms.common() == Platform());
}

TEST_CASE("what the machines are follows nodes that come, change and go") {
  Platforms platforms;
  const kube::Object arm = node("arm64"), amd = node("amd64");
  platforms.set_node("a", &arm);
  platforms.set_node("b", &amd);
  CHECK(platforms.common().architecture.empty());
  platforms.set_node("a", &amd);
  CHECK(platforms.common().architecture == "amd64");
  platforms.set_node("a", &arm);
  platforms.set_node("b", nullptr);
  platforms.set_node("never seen", nullptr);
  CHECK(platforms.common().architecture == "arm64");
  const kube::Object closed = node("amd64", "linux", R"({"taints": [{"key": "gpu", "effect": "NoSchedule"}]})");
  platforms.set_node("b", &closed);
  CHECK(platforms.common().architecture == "arm64");
  platforms.set_node("a", nullptr);
  CHECK(platforms.common().architecture == "amd64");
  platforms.set_node("b", &arm);
  CHECK(platforms.common().architecture == "arm64");
  platforms.set_node("b", nullptr);
  CHECK(platforms.common() == Platform());
}

}  // namespace liqo::core
