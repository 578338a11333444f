// Resizes of offloaded pods: to the ShadowPod, to the Pod, and what is told at home.
#include "offloading_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// What `kubectl patch --subresource resize` does to a pod, or its consumer to a ShadowPod.
void set_cpu(json::object& pod_spec, std::string_view cpu) {
  json::object& container = pod_spec["containers"].as_array()[0].as_object();
  kube::ensure_object(kube::ensure_object(container, "resources"), "requests")["cpu"] = cpu;
}

std::string cpu_of(const json::object& pod_spec) {
  const json::array& containers = kube::array_at(pod_spec, {"containers"});
  return containers.empty() ? "" : std::string(kube::string_at(containers[0], {"resources", "requests", "cpu"}));
}

/// Consumer rome, whose pod "web" runs in milan with one core.
struct Consumer : Offloading {
  Consumer() {
    create_pod("web");
    run_at_milan("web");
  }
  void resize(std::string_view cpu) {
    change(resources::pods, {shop, "web"}, "resize",
           [&](json::object& next) { set_cpu(next["spec"].as_object(), cpu); });
  }
  std::string ordered() { return cpu_of(kube::object_at(at_milan(kinds::shadow_pods, "web")->spec(), {"pod"})); }
  std::string pending(std::string_view field) { return condition("web", "PodResizePending", field); }
  std::size_t asked = 0;
};

/// Provider milan, to whom rome gives orders, with the pod "web" of one core.
struct Provider : ClusterFixture {
  Provider() : ClusterFixture("milan") {
    controllers::Settings settings;
    settings.enforce_resources = false;
    start(std::move(settings));
    kube::Object shadow = kube::Object::make(kinds::shadow_pods, key);
    shadow.set_label(api::labels::reflection_origin, "rome");
    json::object spec{{"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
    set_cpu(spec, "1");
    shadow.mutable_spec()["pod"] = std::move(spec);
    apply(kinds::shadow_pods, shadow);
    REQUIRE(reaches([&] { return pod().has_value(); }));
  }
  ~Provider() { stop(); }

  std::optional<kube::Object> pod() { return find(resources::pods, key); }
  void order(std::string_view cpu) {
    change(kinds::shadow_pods, key, "",
           [&](json::object& next) { set_cpu(next["spec"].as_object()["pod"].as_object(), cpu); });
  }
  std::size_t resizes() const {
    return static_cast<std::size_t>(std::ranges::count_if(server.writes(), [&](const auto& write) {
      return write.actor == link.actor() && write.subresource == "resize";
    }));
  }
  const kube::ObjectKey key{"shop-rome", "web"};
};

}  // namespace

TEST_CASE("a resize at home goes to the provider, once") {
  Consumer rome;
  rome.resize("1500m");
  REQUIRE(rome.reaches([&] { return rome.ordered() == "1500m"; }));
  const auto before = rome.milan.writes().size();
  rome.pass(10min);
  CHECK(rome.milan.writes().size() == before);
  CHECK(rome.pending("status") == "(none)");
  // What milan's kubelet says of it is told at home, and goes with it.
  rome.change_at_milan("web", "status", [](json::object& next) {
    next["status"].as_object()["conditions"].as_array().push_back(
        json::object{{"type", "PodResizePending"}, {"status", "True"}, {"reason", "Deferred"}, {"message", "full"}});
  });
  CHECK(rome.reaches([&] { return rome.pending("message") == "full"; }));
  rome.change_at_milan("web", "status",
                       [](json::object& next) { next["status"].as_object()["conditions"].as_array().pop_back(); });
  CHECK(rome.reaches([&] { return rome.pending("status") == "(none)"; }));
}

TEST_CASE("a resize for which there is no room is told, and asked for again until there is") {
  Consumer rome;
  rome.refuse = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource != "shadowpods" || !request.body.contains("\"cpu\":\"6\"")) return "";
    ++rome.asked;
    return "admission webhook \"shadowpod.validate.liqo.io\" denied the request: quota liqo-tenant-rome/pool has not "
           "enough cpu: asked 5, used 8 of 8, free 0";
  };
  rome.resize("6");
  REQUIRE(rome.reaches([&] { return rome.pending("status") == "True"; }));
  CHECK(rome.pending("reason") == "Deferred");
  CHECK(rome.pending("message") ==
        "Cluster milan does not resize the pod: quota liqo-tenant-rome/pool has not enough cpu: asked 5, used 8 of 8, "
        "free 0");
  const std::size_t before = rome.asked;
  rome.pass(5min);
  CHECK(rome.asked - before >= 9);
  CHECK(rome.asked - before <= 11);
  rome.refuse = [](const kube::HttpRequest&) { return std::string(); };
  CHECK(rome.reaches([&] { return rome.ordered() == "6" && rome.pending("status") == "(none)"; }));
}

TEST_CASE("who takes the wish back is asked for nothing more") {
  Consumer rome;
  rome.refuse = [&](const kube::HttpRequest& request) -> std::string {
    return request.resource == "shadowpods" && request.body.contains("\"cpu\":\"6\"") ? "denied" : "";
  };
  rome.resize("6");
  REQUIRE(rome.reaches([&] { return rome.pending("reason") == "Infeasible"; }));
  rome.resize("1");
  CHECK(rome.reaches([&] { return rome.pending("status") == "(none)"; }));
  CHECK(rome.ordered() == "1");
}

TEST_CASE("a provider that does not resize is not asked, and that is told") {
  Consumer rome;
  rome.change_at_milan("web", "", [](json::object& next) {
    next["metadata"].as_object()["annotations"].as_object().erase(api::annotations::applied_resources);
  });
  rome.pass(5s);
  rome.resize("2");
  REQUIRE(rome.reaches([&] { return rome.pending("reason") == "Infeasible"; }));
  CHECK(rome.pending("message").contains("keeps what it was created with"));
  rome.pass(5min);
  CHECK(rome.ordered() == "1");
}

TEST_CASE("what the provider's cluster refuses of a resize is told at home") {
  Consumer rome;
  rome.resize("2");
  REQUIRE(rome.reaches([&] { return rome.ordered() == "2"; }));
  rome.change_at_milan("web", "", [](json::object& next) {
    next["metadata"].as_object()["annotations"].as_object()[api::annotations::resize_refused] = "abc too much";
  });
  CHECK(rome.reaches([&] { return rome.pending("message") == "Cluster milan does not resize the pod: too much"; }));
}

TEST_CASE("the provider resizes the Pod when its ShadowPod changes, and then only") {
  Provider milan;
  milan.pass(1min);
  CHECK(milan.resizes() == 0);
  milan.order("2");
  REQUIRE(milan.reaches([&] { return cpu_of(milan.pod()->spec()) == "2"; }));
  milan.pass(10min);
  CHECK(milan.resizes() == 1);
  // An autoscaler of the provider's has its way.
  milan.change(resources::pods, milan.key, "resize",
               [](json::object& next) { set_cpu(next["spec"].as_object(), "3"); });
  milan.stop();
  milan.start();
  milan.pass(10min);
  CHECK(cpu_of(milan.pod()->spec()) == "3");
  CHECK(milan.resizes() == 1);
  milan.order("500m");
  CHECK(milan.reaches([&] { return cpu_of(milan.pod()->spec()) == "500m"; }));
}

TEST_CASE("a resize that the cluster refuses is noted on the Pod, and tried again each minute") {
  Provider milan;
  std::size_t asked = 0;
  milan.refuses = [&](const kube::HttpRequest& request) -> std::string {
    if (!request.target.contains("/web/resize")) return "";
    ++asked;
    return "maximum cpu usage per Container is 1, but limit is 2";
  };
  milan.order("2");
  REQUIRE(milan.reaches([&] { return milan.pod()->has_annotation(api::annotations::resize_refused); }));
  CHECK(core::resize_left_out(*milan.pod()).contains("maximum cpu usage per Container is 1"));
  const std::size_t before = asked;
  milan.pass(5min);
  CHECK(asked - before >= 4);
  CHECK(asked - before <= 6);
  milan.refuses = {};
  REQUIRE(milan.reaches([&] { return cpu_of(milan.pod()->spec()) == "2"; }, 2min));
  CHECK(milan.reaches([&] { return core::resize_left_out(*milan.pod()).empty(); }));
}

}  // namespace liqo::testing
