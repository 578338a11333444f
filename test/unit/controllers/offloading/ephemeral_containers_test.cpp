// Ephemeral containers of offloaded pods: on their way to the ShadowPod and the Pod, and their status at home.
#include "../offloading_fixture.hpp"
#include "../provider_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Acts on a pod of that API server as `kubectl debug` does.
void debug(kube::testing::FakeApiServer& server, const kube::ObjectKey& pod, std::string_view name) {
  const json::object container{{"name", name}, {"image", "busybox"}, {"targetContainerName", "main"}};
  const auto add = [&](json::object& next) {
    json::value& list = next["spec"].as_object()["ephemeralContainers"];
    if (!list.is_array()) list = json::array();
    list.get_array().push_back(container);
  };
  REQUIRE(server.update({kube::resources::pods, pod, "ephemeralcontainers"}, add, "user").has_value());
}

std::string names(const json::array& list) {
  std::string text;
  for (const json::value& entry : list) text += std::string(kube::string_at(entry, {"name"})) + " ";
  return text;
}

/// Consumer rome, whose pod "web" runs in milan.
struct Consumer : Offloading {
  Consumer() {
    create_pod("web");
    run_at_milan("web");
  }
  void debug(std::string_view name) { testing::debug(server, {shop, "web"}, name); }
  std::string ordered() {
    return names(kube::array_at(at_milan(kinds::shadow_pods, "web")->spec(), {"pod", "ephemeralContainers"}));
  }
  /// Milan's report about one container.
  void report(std::string_view name, std::string_view state) {
    change_at_milan("web", "status", [&](json::object& next) {
      next["status"].as_object()["ephemeralContainerStatuses"] = json::array{
          json::object{{"name", name}, {"restartCount", 0}, {"state", json::object{{state, json::object()}}}}};
    });
  }
  /// The state of the container at home, and the message of its end.
  std::string told(std::string_view name) {
    const auto pod = local("web");
    for (const json::value& status : kube::array_at(pod->status(), {"ephemeralContainerStatuses"}))
      if (kube::string_at(status, {"name"}) == name)
        return kube::find(status, {"state", "terminated"})
                   ? "ended " + std::string(kube::string_at(status, {"state", "terminated", "message"}))
                   : std::string(kube::object_at(status, {"state"}).begin()->key());
    return "";
  }
  std::size_t orders() const {
    std::size_t count = 0;
    for (const auto& write : milan.writes()) count += write.plural == "shadowpods" && write.actor == "rome";
    return count;
  }
};

/// Provider milan, with ShadowPods of rome.
struct Provider : ProviderFixture {
  void order(std::string_view name) {
    change_order([&](json::object& pod_spec) {
      json::value& list = pod_spec["ephemeralContainers"];
      if (!list.is_array()) list = json::array();
      list.get_array().push_back(json::object{{"name", name}, {"image", "busybox"}});
    });
  }
  std::string has() { return names(kube::array_at(pod()->spec(), {"ephemeralContainers"})); }
  std::size_t additions() const { return writes_of("ephemeralcontainers"); }
};

}  // namespace

TEST_CASE("an ephemeral container goes to the provider, and how it fares is told at home") {
  Consumer rome;
  rome.debug("look");
  REQUIRE(rome.reaches([&] { return rome.ordered() == "look "; }));
  rome.pass(1min);
  CHECK(rome.told("look") == "");
  rome.report("look", "waiting");
  CHECK(rome.reaches([&] { return rome.told("look") == "waiting"; }));
  rome.report("look", "running");
  CHECK(rome.reaches([&] { return rome.told("look") == "running"; }));
  rome.report("look", "terminated");
  CHECK(rome.reaches([&] { return rome.told("look") == "ended "; }));
  // The next one, after a restart of liqod.
  const std::size_t before = rome.orders();
  rome.stop();
  rome.start();
  rome.debug("more");
  CHECK(rome.reaches([&] { return rome.ordered() == "look more "; }));
  rome.pass(10min);
  CHECK(rome.orders() == before + 1);
}

TEST_CASE("what ran in a ShadowPod that is lost does not run in the next one") {
  Consumer rome;
  rome.debug("look");
  REQUIRE(rome.reaches([&] { return rome.ordered() == "look "; }));
  rome.report("look", "running");
  REQUIRE(rome.reaches([&] { return rome.told("look") == "running"; }));
  REQUIRE(rome.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "milan"));
  REQUIRE(rome.milan.remove(kinds::shadow_pods, {twin, "web"}, {}, "milan"));
  rome.run_at_milan("web");
  CHECK(rome.reaches([&] { return rome.told("look").contains("made again"); }));
  rome.pass(5min);
  CHECK(rome.ordered() == "");
}

TEST_CASE("what the provider refuses is told once, and asked once") {
  Consumer rome;
  rome.refuse = [](const kube::HttpRequest& request) -> std::string {
    if (request.resource != "shadowpods" || !request.body.contains("ephemeralContainers")) return "";
    return "admission webhook \"shadowpod.validate.liqo.io\" denied the request: no privileges";
  };
  rome.debug("look");
  REQUIRE(rome.reaches([&] { return rome.told("look") != ""; }));
  CHECK(rome.told("look") == "ended cluster milan does not run the ephemeral container: no privileges");
  const std::size_t before = rome.orders();
  rome.report("other", "running");
  rome.pass(10min);
  CHECK(rome.told("look") == "ended cluster milan does not run the ephemeral container: no privileges");
  CHECK(rome.told("other") == "");
  CHECK(rome.orders() == before);
  // Another one is another question.
  rome.refuse = [](const kube::HttpRequest&) { return std::string(); };
  rome.debug("more");
  CHECK(rome.reaches([&] { return rome.ordered() == "more "; }));
}

TEST_CASE("a provider that does not answer is asked again, and the pod is shown as it is meanwhile") {
  Consumer rome;
  bool is_down = true;
  rome.outage = [&](kube::HttpRequest& request) {
    return is_down && request.resource == "shadowpods" && request.body.contains("ephemeralContainers");
  };
  rome.debug("look");
  rome.pass(1min);
  CHECK(rome.told("look") == "");
  rome.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["message"] = "news"; });
  CHECK(rome.reaches([&] { return kube::string_at(rome.local("web")->status(), {"message"}) == "news"; }));
  is_down = false;
  CHECK(rome.reaches([&] { return rome.ordered() == "look "; }, 3min));
}

TEST_CASE("a provider of the Go version is not asked") {
  Consumer rome;
  rome.change_at_milan("web", "", [](json::object& next) {
    next["metadata"].as_object()["annotations"].as_object().erase(api::annotations::applied_spec);
  });
  rome.pass(5s);
  const std::size_t before = rome.orders();
  rome.debug("look");
  REQUIRE(rome.reaches([&] { return rome.told("look").contains("does not carry them"); }));
  rome.pass(10min);
  CHECK(rome.orders() == before);
}

TEST_CASE("who wants to debug a virtual node is told that there is nothing to see") {
  Offloading rome;
  const auto make = [&](const std::string& ns, std::string_view name, bool host) {
    kube::Object pod = kube::Object::make(resources::pods, {ns, std::string(name)});
    pod.set_label("app.kubernetes.io/managed-by", "kubectl-debug");
    pod.mutable_spec() = json::object{{"nodeName", "milan"},
                                      {"restartPolicy", "Never"},
                                      {"hostPID", host},
                                      {"containers", json::array{json::object{{"name", "debugger"}}}}};
    rome.apply(resources::pods, pod);
  };
  rome.apply(resources::namespaces, kube::Object::make(resources::namespaces, {"", "stays"}));
  make(shop, "node-debugger-milan-1", true);
  make("stays", "node-debugger-milan-1", true);
  make(shop, "node-debugger-milan-2", false);
  for (const std::string& ns : {shop, std::string("stays")}) {
    CAPTURE(ns);
    const auto pod = [&] { return *rome.find(resources::pods, {ns, "node-debugger-milan-1"}); };
    REQUIRE(rome.reaches([&] { return kube::string_at(pod().status(), {"phase"}) == "Failed"; }));
    const kube::Object told = pod();
    const json::value& ended = kube::array_at(told.status(), {"containerStatuses"}).at(0);
    CHECK(
        kube::string_at(ended, {"state", "terminated", "message"}) ==
        "Node milan is virtual and has no files, processes or network to look at: debug one of its pods, or a node of "
        "cluster milan");
    CHECK(kube::string_at(ended, {"state", "terminated", "reason"}) == "OffloadingRefused");
  }
  CHECK(rome.reaches([&] { return rome.at_milan(kinds::shadow_pods, "node-debugger-milan-2").has_value(); }));
  CHECK_FALSE(rome.at_milan(kinds::shadow_pods, "node-debugger-milan-1"));
}

TEST_CASE("the provider adds ephemeral containers to the Pod, each once") {
  Provider milan;
  milan.order("look");
  milan.order("more");
  REQUIRE(milan.reaches([&] { return milan.has() == "look more "; }));
  milan.pass(10min);
  CHECK(milan.additions() == 2);
  milan.stop();
  milan.start();
  milan.pass(10min);
  CHECK(milan.additions() == 2);
}

TEST_CASE("one that the provider's API server refuses is noted on the Pod, and holds up no other") {
  Provider milan;
  // The name of a container: admission, which is not involved here, would have refused it.
  milan.order("main");
  milan.order("more");
  REQUIRE(milan.reaches([&] { return milan.has() == "more "; }));
  CHECK(milan.pod()->annotation(api::annotations::ephemeral_left_out).contains("Duplicate value"));
  const std::size_t before = milan.additions();
  milan.pass(10min);
  CHECK(milan.additions() == before);
}

}  // namespace liqo::testing
