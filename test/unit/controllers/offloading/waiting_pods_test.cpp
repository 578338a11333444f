// Pods at home that cannot be scheduled, because the provider has closed the virtual node.
#include <doctest/doctest.h>

#include <algorithm>

#include "../cluster_fixture.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

struct Home : ClusterFixture {
  Home() : ClusterFixture("rome") {
    for (const char* ns : {"demo", "shop", "kept"}) {
      apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", ns}));
      kube::Object offloading = kube::Object::make(kinds::namespace_offloadings, {ns, "offloading"});
      offloading.mutable_spec()["podOffloadingStrategy"] = std::string_view(ns) == "kept" ? "Local" : "Remote";
      apply(kinds::namespace_offloadings, offloading);
    }
    reads = [this](kube::HttpRequest& request) {
      if (request.target.contains("fieldSelector=spec.nodeName")) lists += request.target.contains("Pending") ? 1 : 0;
      if (!broken.empty() && request.target.contains("Pending") && request.target.contains("/" + broken + "/pods?"))
        request.target = "/nowhere";
    };
    start();
  }
  ~Home() { stop(); }

  void node(std::string_view closed) {
    json::array taints{json::object{{"key", api::virtual_node_taint}, {"value", "true"}, {"effect", "NoExecute"}}};
    if (!closed.empty())
      taints.push_back(json::object{{"key", api::closed_taint}, {"value", closed}, {"effect", "NoSchedule"}});
    kube::Object made = kube::Object::make(resources::nodes, {"", "batch"});
    made.set_label(api::labels::type, api::labels::type_virtual_node);
    made.set_label(api::labels::remote_cluster_id, "milan");
    made.mutable_spec()["taints"] = std::move(taints);
    apply(resources::nodes, made);
    change(resources::nodes, {"", "batch"}, "status", [](json::object& next) {
      json::object& status = kube::ensure_object(next, "status");
      status["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", "True"}}};
      status["allocatable"] = json::object{{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "5000"}};
    });
  }
  void pod(const std::string& ns, const std::string& name, std::string_view disk = "") {
    kube::Object made = kube::Object::make(resources::pods, {ns, name});
    made.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "shop:1"}}};
    made.mutable_spec()["tolerations"] =
        json::array{json::object{{"key", api::virtual_node_taint}, {"operator", "Exists"}}};
    if (!disk.empty()) made.mutable_spec()["nodeSelector"] = json::object{{"disk", disk}};
    apply(resources::pods, made);
    change(resources::pods, {ns, name}, "status", [](json::object& next) {
      kube::ensure_object(next, "status")["conditions"] =
          json::array{json::object{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}};
    });
  }
  std::vector<std::string> told() { return events("VirtualNodeClosed"); }

  std::size_t lists = 0;
  std::string broken;  ///< the namespace whose pods cannot be listed
};

}  // namespace

TEST_CASE("a pod that waits for a cordoned node is told once, and others of its namespace a minute later") {
  Home rome;
  rome.pod("demo", "a");
  rome.pod("demo", "b");
  rome.pod("shop", "a");
  rome.pod("kept", "a");
  rome.node("");
  rome.pass(30s);
  CHECK(rome.told().empty());
  CHECK(rome.lists == 0);

  rome.node("cordoned");
  REQUIRE(rome.reaches([&] { return rome.told().size() == 2; }));
  for (const std::string& words : rome.told()) CHECK(words.starts_with("cluster milan has cordoned node batch: "));
  rome.pass(40s);
  CHECK(rome.told().size() == 2);
  REQUIRE(rome.reaches([&] { return rome.told().size() == 3; }));
  rome.pass(5min);
  CHECK(rome.told().size() == 3);
  CHECK(rome.times_reported("VirtualNodeClosed") == 3);
}

TEST_CASE("a pod is told again when the reason is another, and when its Event may be forgotten") {
  Home rome;
  rome.pod("demo", "a");
  rome.node("cordoned");
  REQUIRE(rome.reaches([&] { return rome.told().size() == 1; }));
  rome.pass(25min);
  CHECK(rome.times_reported("VirtualNodeClosed") == 1);
  rome.pass(10min);
  CHECK(rome.times_reported("VirtualNodeClosed") == 2);

  rome.node("denied");
  CHECK(rome.reaches([&] { return rome.times_reported("VirtualNodeClosed") == 3; }, 2min));
  const auto told = rome.told();
  CHECK(std::ranges::any_of(told, [](const std::string& words) { return words.contains("has drained or denied"); }));
}

TEST_CASE("a namespace that cannot be listed keeps nobody of another one from being told") {
  for (const char* broken : {"demo", "shop"}) {
    CAPTURE(broken);
    Home rome;
    rome.broken = broken;
    rome.pod("demo", "a");
    rome.pod("shop", "a");
    rome.node("cordoned");
    CHECK(rome.reaches([&] { return rome.told().size() == 1; }));
    rome.broken.clear();
    CHECK(rome.reaches([&] { return rome.told().size() == 2; }));
  }
}

TEST_CASE("pods are listed while a node is closed, now and then, however often it opens and closes") {
  Home rome;
  rome.pod("demo", "a");
  for (int i = 0; i < 20; ++i) {
    rome.node("cordoned");
    rome.pass(500ms);
    rome.node("");
    rome.pass(500ms);
  }
  CHECK(rome.lists >= 1);
  CHECK(rome.lists <= 4);
  rome.pass(1min);
  const std::size_t before = rome.lists;
  rome.pass(5min);
  CHECK(rome.lists == before);
}

TEST_CASE("of a crowd of pods that wait for something else each is looked at in turn") {
  Home rome;
  for (int i = 0; i < 600; ++i) {
    const std::string name = "p" + std::to_string(1000 + i);
    rome.pod("demo", name, "ssd");
  }
  rome.pod("demo", "z");
  rome.node("cordoned");
  CHECK(rome.reaches([&] { return rome.told().size() == 1; }));
}

}  // namespace liqo::testing
