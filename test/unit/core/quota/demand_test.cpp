// The amounts that a pod reserves and the demands of a quota on it, case by case; random pods are compared with
// Kubernetes itself by the cluster tests (PodRequests).
#include "core/quota/demand.hpp"

#include <doctest/doctest.h>

#include "../objects.hpp"

namespace liqo::core {
namespace {

using testing::parse_value;

PodNeeds needs_of(std::string_view spec) {
  auto needs = read_pod_needs(parse_value(spec).get_object());
  REQUIRE(needs);
  return *needs;
}

std::string text(const Resources& resources) { return kube::json::serialize(write_resources(resources)); }

struct Case {
  std::string_view name, spec, exact, containers;
};

const Case cases[] = {
    {"nothing requested", R"({"containers":[{"name":"x"}]})", R"({"pods":"1"})", "{}"},
    {"containers add up",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},
                       {"name":"b","resources":{"requests":{"cpu":"250m","memory":"512Mi"}}}]})",
     R"({"cpu":"750m","memory":"1536Mi","pods":"1"})", R"({"cpu":"750m","memory":"1536Mi"})"},
    {"an init container may be the peak",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}],
         "initContainers":[{"name":"i","resources":{"requests":{"cpu":"2","memory":"256Mi"}}}]})",
     R"({"cpu":"2","memory":"1Gi","pods":"1"})", R"({"cpu":"2","memory":"1Gi"})"},
    {"init containers below one core are compared exactly",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"50m"}}}],
         "initContainers":[{"name":"i","resources":{"requests":{"cpu":"100m"}}},
                           {"name":"j","resources":{"requests":{"cpu":"900m"}}}]})",
     R"({"cpu":"900m","pods":"1"})", R"({"cpu":"100m"})"},
    {"a sidecar runs beside the containers",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"500m","memory":"200Mi"}}}],
         "initContainers":[{"name":"s","restartPolicy":"Always",
                            "resources":{"requests":{"cpu":"500m","memory":"100Mi"}}}]})",
     R"({"cpu":"1","memory":"300Mi","pods":"1"})", R"({"cpu":"500m","memory":"200Mi"})"},
    {"an init container runs beside the sidecars before it",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
         "initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                           {"name":"i","resources":{"requests":{"cpu":"3"}}}]})",
     R"({"cpu":"4","pods":"1"})", R"({"cpu":"3"})"},
    {"overhead counts",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}}],"overhead":{"cpu":"250m"}})",
     R"({"cpu":"750m","pods":"1"})", R"({"cpu":"500m"})"},
    {"limits become requests",
     R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"4","nvidia.com/gpu":"1"}}}]})",
     R"({"cpu":"4","nvidia.com/gpu":"1","pods":"1"})", "{}"},
    {"pod-level requests stand for the containers'",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"4","example.com/x":"2"}}}],
         "resources":{"requests":{"cpu":"6"}}})",
     R"({"cpu":"6","example.com/x":"2","pods":"1"})", R"({"cpu":"4","example.com/x":"2"})"},
    {"pod-level requests below the containers' hide nothing: a cluster may drop them",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"64"}}}],"overhead":{"cpu":"1"},
         "initContainers":[{"name":"i","resources":{"requests":{"memory":"2Gi"}}}],
         "resources":{"requests":{"cpu":"1m","memory":"1Gi","hugepages-2Mi":"2Mi"}}})",
     R"({"cpu":"65","hugepages-2Mi":"2Mi","memory":"2Gi","pods":"1"})", R"({"cpu":"64","memory":"2Gi"})"},
    {"pod-level limits become requests where no container requests",
     R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
         "resources":{"limits":{"cpu":"2","memory":"1Gi"}}})",
     R"({"cpu":"1","memory":"1Gi","pods":"1"})", R"({"cpu":"1"})"},
};

TEST_CASE("a pod is counted as the scheduler reserves it, or as the Go version does") {
  for (const Case& c : cases) {
    CAPTURE(c.name);
    PodNeeds needs = needs_of(c.spec);
    CHECK(text(pod_demand(needs, Counting::containers)) == c.containers);
    settle(needs, {});
    CHECK(text(pod_demand(needs, Counting::exact)) == c.exact);
    settle(needs, {});
    CHECK(text(pod_demand(needs, Counting::exact)) == c.exact);
  }
}

TEST_CASE("LimitRange and RuntimeClass are applied before a pod is counted") {
  const auto defaults = limit_range_defaults(parse_value(R"({"limits":[
      {"type":"Pod","max":{"cpu":"9"}},
      {"type":"Container","default":{"cpu":"2"},"min":{"memory":"64Mi"},"max":{"ephemeral-storage":"1Gi"}}]})")
                                                 .get_object());
  REQUIRE(defaults);
  PodNeeds needs = needs_of(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},{"name":"b"}]})");
  settle(needs, {.limit_ranges = {*defaults}, .overhead = Resources{{"cpu", *kube::Quantity::parse("100m")}}});
  CHECK(text(pod_demand(needs, Counting::exact)) ==
        R"({"cpu":"3100m","ephemeral-storage":"2Gi","memory":"128Mi","pods":"1"})");
  // Until Kubernetes 1.36 the pod as a whole would request 1 cpu here, since 1.37 it is 3.
  PodNeeds whole = needs_of(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},{"name":"b"}],
                                "resources":{"limits":{"cpu":"4"}}})");
  settle(whole, {.limit_ranges = {*defaults}});
  CHECK(text(pod_requests(whole)) == R"({"cpu":"3","ephemeral-storage":"2Gi","memory":"128Mi"})");
}

TEST_CASE("a pod holds what its node has set aside for it, also while it shrinks") {
  const auto held = [](const char* status) {
    PodNeeds needs = needs_of(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"1Gi"}}},
        {"name":"b","resources":{"requests":{"cpu":"2"}}}]})");
    kube::Object pod = kube::Object::make(kube::resources::pods, {"shop-rome", "web"});
    pod.mutable_metadata()["generation"] = 2;
    pod.tree()["status"] = parse_value(status);
    raise_to_allocated(needs, pod);
    return kube::Quantity(amount(pod_demand(needs, Counting::exact), "cpu")).text();
  };
  CHECK(held("{}") == "3");
  CHECK(held(R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"4"}}]})") == "6");
  CHECK(held(R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"500m"}},{"name":"c"},7]})") == "3");
  CHECK(held(R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"much"}}]})") == "3");
  // The amount of the cgroup is rounded: it counts while it is being changed.
  constexpr const char* actual = R"("containerStatuses":[{"name":"b","resources":{"requests":{"cpu":"3"}}}])";
  CHECK(held((std::string("{") + actual + "}").c_str()) == "3");
  const auto held_while = [&](const char* what) { return held((std::string(what) + actual + "}").c_str()); };
  CHECK(held_while(R"({"conditions":[{"type":"PodResizeInProgress","status":"True"}],)") == "4");
  // A node that puts it off, or cannot do it, has what it had.
  CHECK(held_while(R"({"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],)") == "4");
  CHECK(held_while(R"({"conditions":[{"type":"PodResizePending","status":"False"}],)") == "3");
  // So has one that has not looked yet.
  CHECK(held_while(R"({"observedGeneration":1,)") == "4");
  CHECK(held_while(R"({"observedGeneration":2,)") == "3");
}

TEST_CASE("so does a pod that shrinks as a whole") {
  PodNeeds needs = needs_of(R"({"containers":[{"name":"a"}],"resources":{"requests":{"cpu":"1"}}})");
  kube::Object pod = kube::Object::make(kube::resources::pods, {"shop-rome", "web"});
  const auto held = [&](const char* status) {
    PodNeeds now = needs;
    pod.tree()["status"] = parse_value(status);
    raise_to_allocated(now, pod);
    return amount(pod_demand(now, Counting::exact), "cpu").text();
  };
  CHECK(held("{}") == "1");
  CHECK(held(R"({"allocatedResources":{"cpu":"3"}})") == "3");
  CHECK(held(R"({"resources":{"requests":{"cpu":"2"}}})") == "1");
  CHECK(held(R"({"conditions":[{"type":"PodResizePending","status":"True"}],"resources":{"requests":{"cpu":"2"}}})") ==
        "2");
}

TEST_CASE("what is no amount is refused by name") {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"-1"}}}]})",
       "container a: requests: cpu is -1: it cannot be negative"},
      {R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"many"}}}]})",
       "container a: limits: cpu: \"many\" is not a quantity such as 500m, 2 or 1Gi"},
      {R"({"initContainers":[{"name":"i","resources":{"requests":{"cpu":[]}}}]})",
       "init container i: requests: cpu: [] is not a quantity such as 500m, 2 or 1Gi"},
      {R"({"overhead":{"cpu":"-1m"}})", "overhead: cpu is -1m: it cannot be negative"},
  };
  for (const auto& [spec, problem] : bad) {
    const auto needs = read_pod_needs(parse_value(spec).get_object());
    REQUIRE_FALSE(needs);
    CHECK(needs.error().text() == problem);
  }
}

TEST_CASE("Soft wants requests of cpu and memory, Hard also equal limits") {
  struct Demand {
    std::string_view spec;
    Enforcement enforcement;
    std::string_view problem;
  };
  const Demand demands[] = {
      {R"({"containers":[{"name":"x"}]})", Enforcement::none, ""},
      {R"({"containers":[]})", Enforcement::none, "the pod has no containers"},
      {R"({"containers":[{"name":"x","resources":{"requests":{"cpu":"1"}}}]})", Enforcement::soft,
       "container x requests no memory, which this quota demands (Soft and Hard): set resources.requests.memory"},
      {R"({"containers":[{"name":"x","resources":{"requests":{"cpu":"0","memory":"0"}}}]})", Enforcement::soft,
       "container x requests no cpu, which this quota demands (Soft and Hard): set resources.requests.cpu"},
      {R"({"containers":[{"name":"x","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]})", Enforcement::hard, ""},
      {R"({"containers":[{"name":"x","resources":{"requests":{"cpu":"1000m","memory":"1Gi"},
                                                 "limits":{"cpu":"1","memory":"1024Mi"}}}]})",
       Enforcement::hard, ""},
      {R"({"containers":[{"name":"x","resources":{"requests":{"cpu":"1","memory":"1Gi"},
                                                 "limits":{"cpu":"2","memory":"1Gi"}}}]})",
       Enforcement::hard,
       "container x requests 1 cpu and is limited to 2; this quota demands equal requests and limits (Hard)"},
      {R"({"containers":[{"name":"x","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]})", Enforcement::hard,
       "container x requests 1 cpu and is limited to nothing; this quota demands equal requests and limits (Hard)"},
      {R"({"containers":[{"name":"x","resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],
           "initContainers":[{"name":"i"}]})",
       Enforcement::soft,
       "init container i requests no cpu, which this quota demands (Soft and Hard): set resources.requests.cpu"},
      {R"({"containers":[{"name":"x"}],"resources":{"requests":{"cpu":"1","memory":"1Gi"}}})", Enforcement::soft, ""},
      {R"({"containers":[{"name":"x"}],"resources":{"requests":{"cpu":"1","memory":"1Gi"},
                                                    "limits":{"cpu":"2","memory":"1Gi"}}})",
       Enforcement::hard,
       "the pod as a whole requests 1 cpu and is limited to 2; this quota demands equal requests and limits (Hard)"},
  };
  for (const Demand& d : demands) {
    CAPTURE(d.spec);
    PodNeeds needs = needs_of(d.spec);
    settle(needs, {});
    CHECK(check_enforcement(needs, d.enforcement, Counting::exact).value_or("") == d.problem);
  }
  CHECK(parse_enforcement("None") == Enforcement::none);
  CHECK(parse_enforcement("") == Enforcement::soft);
  CHECK(parse_enforcement("Hard") == Enforcement::hard);
  CHECK(parse_enforcement("hrad") == Enforcement::hard);
}

}  // namespace
}  // namespace liqo::core
