// Resizes of offloaded pods: on their way to the ShadowPod and the Pod, and the reports at home.
#include "core/offloading/resize.hpp"
#include "../offloading_fixture.hpp"
#include "../provider_fixture.hpp"
#include "kube/testing/tree.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Acts on a pod as `kubectl patch --subresource resize` does, or on a ShadowPod as its consumer does.
void set_cpu(json::object& pod_spec, std::string_view cpu) {
  json::object& container = pod_spec["containers"].as_array()[0].as_object();
  kube::testing::ensure_path(container, {"resources", "requests"})["cpu"] = cpu;
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

/// Provider milan, with ShadowPods of rome, and a pod of one core.
struct Provider : ProviderFixture {
  Provider() : ProviderFixture({{"requests", json::object{{"cpu", "1"}}}}) {}
  void order(std::string_view cpu) {
    change_order([&](json::object& pod_spec) { set_cpu(pod_spec, cpu); });
  }
  std::size_t resizes() const { return writes_of("resize"); }
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
  // The condition of milan's kubelet is shown at home, and is removed with the resize.
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
        "cluster milan does not resize the pod: quota liqo-tenant-rome/pool has not enough cpu: asked 5, used 8 of 8, "
        "free 0");
  const std::size_t before = rome.asked;
  rome.pass(5min);
  CHECK(rome.asked - before >= 9);
  CHECK(rome.asked - before <= 11);
  rome.refuse = [](const kube::HttpRequest&) { return std::string(); };
  CHECK(rome.reaches([&] { return rome.ordered() == "6" && rome.pending("status") == "(none)"; }));
}

TEST_CASE("a resize that is refused is told by one Event, whatever the words are") {
  Consumer rome;
  rome.refuse = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource != "shadowpods" || !request.body.contains("\"cpu\":\"6\"")) return "";
    return "quota liqo-tenant-rome/pool has not enough cpu: asked 5, used 7." + std::to_string(++rome.asked) + " of 8";
  };
  const auto told = [&] {
    return std::ranges::count_if(rome.events("FailedReflection"),
                                 [](const std::string& text) { return text.contains("refuses the resize"); });
  };
  rome.resize("6");
  REQUIRE(rome.reaches([&] { return told() == 1; }));
  rome.pass(5min + 15s);
  CHECK(rome.asked > 5);
  CHECK(told() == 1);
  // The condition has the newest.
  CHECK(rome.pending("message").contains("used 7." + std::to_string(rome.asked)));
}

TEST_CASE("room that comes is asked for at once") {
  Consumer rome;
  bool is_full = true;
  rome.refuse = [&](const kube::HttpRequest& request) -> std::string {
    if (request.resource != "shadowpods" || !request.body.contains("\"cpu\":\"6\"") || !is_full) return "";
    ++rome.asked;
    return "quota liqo-tenant-rome/pool has not enough cpu: asked 5, used 8 of 8, free 0";
  };
  rome.create_pod("other", "4");
  rome.run_at_milan("other");
  rome.resize("6");
  REQUIRE(rome.reaches([&] { return rome.pending("status") == "True"; }));
  // Just after a request, so that the next scheduled one is far away.
  const std::size_t before = rome.asked;
  REQUIRE(rome.reaches([&] { return rome.asked > before; }));
  is_full = false;
  SUBCASE("a pod goes") { (void)rome.milan.remove(kinds::shadow_pods, {twin, "other"}, {}, "milan"); }
  SUBCASE("more is granted") {
    rome.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
      next["spec"].as_object()["resourceQuota"].as_object()["hard"].as_object()["cpu"] = "16";
    });
  }
  SUBCASE("another pod has given back") {
    rome.change(resources::pods, {shop, "other"}, "resize",
                [](json::object& next) { set_cpu(next["spec"].as_object(), "1"); });
    REQUIRE(rome.reaches(
        [&] { return cpu_of(kube::object_at(rome.at_milan(kinds::shadow_pods, "other")->spec(), {"pod"})) == "1"; }));
    rome.pass(2s);
    CHECK(rome.ordered() == "1");
    const std::string note = core::applied_note(*rome.at_milan(kinds::shadow_pods, "other"));
    rome.change_at_milan("other", "", [&](json::object& next) {
      next["metadata"].as_object()["annotations"].as_object()[api::annotations::applied_resources] = note;
    });
  }
  CHECK(rome.reaches([&] { return rome.ordered() == "6"; }, 3s));
}

TEST_CASE("a provider that stores other amounts is not asked without end") {
  Consumer rome;
  rome.outage = [&](kube::HttpRequest& request) {
    const std::size_t at = request.resource == "shadowpods" ? request.body.find("\"cpu\":\"6\"") : std::string::npos;
    if (at != std::string::npos)
      request.body.replace(at, 9, "\"cpu\":\"" + std::to_string(2 + ++rome.asked % 2) + "\"");
    return false;
  };
  rome.resize("6");
  REQUIRE(rome.reaches([&] { return rome.pending("message").contains("stores other amounts"); }));
  const std::size_t before = rome.asked;
  rome.pass(5min);
  CHECK(rome.asked - before <= 11);
  rome.outage = [](kube::HttpRequest&) { return false; };
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
  CHECK(rome.pending("message").contains("keeps the amounts that it was created with"));
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
  CHECK(rome.reaches([&] { return rome.pending("message") == "cluster milan does not resize the pod: too much"; }));
}

TEST_CASE("the provider resizes the Pod when its ShadowPod changes, and then only") {
  Provider milan;
  milan.pass(1min);
  CHECK(milan.resizes() == 0);
  milan.order("2");
  REQUIRE(milan.reaches([&] { return cpu_of(milan.pod()->spec()) == "2"; }));
  milan.pass(10min);
  CHECK(milan.resizes() == 1);
  // An autoscaler of the provider changes the resources.
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

TEST_CASE("what the provider's admission makes of a resize stays") {
  Provider milan;
  std::size_t asked = 0;
  milan.reads = [&](kube::HttpRequest& request) {
    if (!request.target.contains("/web/resize")) return;
    const std::size_t at = request.body.find("\"cpu\":\"4\"");
    if (at == std::string::npos) return;
    // Never twice the same.
    request.body.replace(at, 9, "\"cpu\":\"" + std::to_string(2 + ++asked % 2) + "\"");
  };
  milan.order("4");
  REQUIRE(milan.reaches([&] { return asked > 0; }));
  milan.pass(1min);
  CHECK(asked == 1);
  CHECK(core::applied_generation(*milan.pod()) == milan.find(kinds::shadow_pods, milan.key)->generation());
  milan.order("1");
  CHECK(milan.reaches([&] { return cpu_of(milan.pod()->spec()) == "1"; }));
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
