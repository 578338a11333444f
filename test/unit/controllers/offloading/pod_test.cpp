// Offloaded pods whose provider is in trouble, seen by the liqod of the consumer; the provider's part is played here.
#include <doctest/doctest.h>

#include <algorithm>

#include "../offloading_fixture.hpp"
#include "controllers/links/provider_budget.hpp"
#include "core/offloading/pod_plan.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

TEST_CASE("what the provider refuses after it has taken the order is told at home, once, in its latest words") {
  Offloading world;
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }));
  const auto refuse = [&](std::string_view words) {
    (void)world.milan.update(
        {kinds::shadow_pods, {twin, "web"}},
        [&](json::object& next) {
          json::object& annotations = kube::ensure_object(next["metadata"].as_object(), "annotations");
          if (words.empty())
            annotations.erase(api::annotations::refused);
          else
            annotations[api::annotations::refused] = words;
        },
        "milan");
  };
  const auto message = [&] { return world.condition("web", api::offloaded_condition, "message"); };
  refuse("exceeded quota: none, used: pods=0");
  REQUIRE(world.reaches(
      [&] { return message().starts_with("cluster milan refuses the pod: exceeded quota: none, used: pods=0; "); }));
  CHECK(world.condition("web", api::offloaded_condition, "reason") == "OffloadingRefused");
  const std::size_t writes = world.writes();
  world.pass(10min);
  refuse("exceeded quota: none, used: pods=1");
  REQUIRE(world.reaches([&] { return message().contains("pods=1; "); }));
  CHECK(world.events("FailedReflection").size() == 1);
  // Besides the condition there are the Node's status and lease.
  CHECK(world.writes() - writes < 120);
}

TEST_CASE("large statuses wait for their turn, and each comes home as it is by then") {
  Offloading world;
  constexpr int pods = 10, rounds = 20;
  const auto name = [](int pod) { return "web-" + std::to_string(pod); };
  for (int pod = 0; pod < pods; ++pod) {
    world.create_pod(name(pod));
    world.run_at_milan(name(pod));
  }
  const auto say = [&](int pod, int round) {
    world.change_at_milan(name(pod), "status", [round](json::object& next) {
      json::array containers;
      for (int i = 0; i < 30; ++i)
        containers.push_back(json::object{
            {"name", std::to_string(i)},
            {"restartCount", 0},
            {"state",
             json::object{{"waiting", json::object{{"message", std::string(4000, 'x') + std::to_string(round)}}}}}});
      next["status"].as_object()["containerStatuses"] = std::move(containers);
      next["status"].as_object()["message"] = std::to_string(round);
    });
  };
  const auto shown = [&](int pod) {
    return std::string(kube::string_at(world.local(name(pod))->status(), {"message"}));
  };
  for (int round = 0; round < rounds; ++round) {
    for (int pod = 0; pod < pods; ++pod) say(pod, round);
    world.pass(200ms);
  }
  // 23 MiB, of which 16 pass at once.
  CHECK(shown(0) != std::to_string(rounds - 1));
  CHECK_FALSE(world.metrics().contains("liqo_provider_bytes_delayed_total{cluster_id=\"milan\"} 0"));
  const std::size_t before = world.writes();
  CHECK(world.reaches(
      [&] {
        for (int pod = 0; pod < pods; ++pod)
          if (shown(pod) != std::to_string(rounds - 1)) return false;
        return true;
      },
      10s));
  // Waiting statuses were not written as they had been. Besides these there are the Node's status and lease.
  CHECK(world.writes() - before < 2 * pods);
  // A small status does not wait.
  world.change_at_milan(name(0), "status", [](json::object& next) {
    next["status"].as_object()["containerStatuses"] = json::array();
    next["status"].as_object()["message"] = "small";
  });
  CHECK(world.reaches([&] { return shown(0) == "small"; }));
}

TEST_CASE("pods are counted by the names of the Go version, and timed from bound to running") {
  Offloading world;
  const auto measures = [&](const std::string& line) { return world.metrics().find(line) != std::string::npos; };
  const std::string node = R"(cluster_id="milan",)", named = R"(node_name="milan")";
  world.admit = [] { return "quota liqo-tenant-rome/milan has not enough cpu: asked 1, free 0"; };
  world.create_pod("web");
  const std::string bound = kube::format_time(world.simulator.clock().wall());
  world.change(resources::pods, {shop, "web"}, "status", [&](json::object& next) {
    kube::ensure_object(next, "status")["conditions"] =
        json::array{json::object{{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", bound}}};
  });
  CHECK(world.reaches([&] { return measures("liqo_virtual_node_pods_without_room{" + node + named + "} 1"); }));
  world.pass(40s);
  CHECK(measures(R"(reflection_error_counter{cluster_id="milan",namespace="shop",)"));
  CHECK_FALSE(measures("liqo_pod_start_seconds_count{" + node + named + "} 1"));
  world.admit = [] { return std::string(); };
  world.run_at_milan("web");
  CHECK(measures("liqo_virtual_kubelet_reflection_item_counter{" + node +
                 R"(namespace="shop",node_name="milan",reflector_resource="Pod"} 1)"));
  CHECK(world.reaches([&] { return measures("liqo_virtual_node_pods{" + node + named + "} 1"); }));
  CHECK(world.reaches([&] { return measures("liqo_pod_start_seconds_count{" + node + named + "} 1"); }));
  CHECK(measures("liqo_pod_start_seconds_bucket{" + node + named + R"(,le="30"} 0)"));
  CHECK(measures("liqo_pod_start_seconds_bucket{" + node + named + R"(,le="300"} 1)"));
  // A pod that goes on running does not count as started again.
  world.change_at_milan("web", "status", [](json::object& next) { next["status"].as_object()["podIP"] = "10.1.2.3"; });
  world.pass(1min);
  CHECK(measures("liqo_pod_start_seconds_count{" + node + named + "} 1"));
  CHECK(world.reaches([&] { return measures("liqo_virtual_node_pods_without_room{" + node + named + "} 0"); }));
}

TEST_CASE("that containers have started is told of a few pods at once, and of many within bounds") {
  Offloading world;
  const auto start = [&](const std::string& name) {
    world.create_pod(name);
    world.run_at_milan(name);
    world.change_at_milan(name, "status", [](json::object& next) {
      const json::object running{{"running", json::object{{"startedAt", "2026-11-21T10:00:00Z"}}}};
      next["status"].as_object()["containerStatuses"] =
          json::array{json::object{{"name", "main"}, {"restartCount", 0}, {"state", running}}};
    });
  };
  const auto told = [&] { return world.events("Started"); };
  start("web");
  REQUIRE(world.reaches([&] { return !told().empty(); }, 1s));
  CHECK(told()[0] == "container main started in cluster milan");
  const int most = int(controllers::ProviderBudget::best_effort_rate.burst);
  const kube::TimePoint began = world.simulator.clock().now();
  for (int number = 0; number < most + 30; ++number) start("web-" + std::to_string(number));
  const int seconds = int((world.simulator.clock().now() - began) / 1s);
  world.pass(1min);
  CHECK(told().size() >= std::size_t(most));
  CHECK(told().size() <= std::size_t(most + seconds + 2));
  // Nothing is reported of a pod that is removed meanwhile, for its namespace may be removed with it.
  const std::size_t before = told().size();
  start("first");
  REQUIRE(world.reaches([&] { return told().size() == before + 1; }, 1s));
  for (const char* name : {"second", "third"}) start(name);
  for (const char* name : {"second", "third"}) (void)world.server.remove(resources::pods, {shop, name}, {}, "operator");
  world.pass(10s);
  CHECK(told().size() == before + 1);
}

TEST_CASE("where many pods start slowly they are told on their way, some at a time") {
  Offloading world;
  const int most = int(controllers::ProviderBudget::best_effort_rate.burst), pods = most + 40;
  const auto name = [](int number) { return "slow-" + std::to_string(number); };
  for (int number = 0; number < pods; ++number) {
    world.create_pod(name(number));
    world.make_at_milan(name(number));
  }
  const auto told = [&] {
    int count = 0;
    for (int number = 0; number < pods; ++number)
      count += !world.local(name(number))->annotation(api::annotations::remote_pod_uid).empty();
    return count;
  };
  world.pass(core::starting_time - 2s);
  CHECK(told() == 0);
  world.pass(4s);
  CHECK(told() >= most);
  CHECK(told() <= most + 4);
  world.pass(2min);
  CHECK(told() == pods);
}

TEST_CASE("a pod that is there before its twin namespace is not told of it, unless it does not come") {
  Offloading world;
  world.map_twin("");
  world.pass(1s);
  const auto reason = [&](std::string_view name) {
    return std::string(kube::string_at(world.local(name)->status(), {"reason"}));
  };
  world.create_pod("early");
  world.pass(4s);
  CHECK(reason("early").empty());
  world.map_twin("Accepted");
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "early").has_value(); }, 5s));
  world.pass(1min);
  CHECK(reason("early").empty());

  (void)world.server.remove(resources::pods, {shop, "early"}, {}, "operator");
  REQUIRE(world.reaches([&] { return !world.local("early"); }));
  world.map_twin("");
  world.pass(1s);
  world.create_pod("late");
  CHECK(world.reaches([&] { return reason("late") == "OffloadingBackOff"; }, 6s));
}

TEST_CASE("many that are refused alike ask by one, and all come in when there is room") {
  Offloading world;
  int asked = 0, room = 0;
  world.admit = [&] {
    ++asked;
    if (room-- > 0) return std::string();
    room = 0;
    return "quota liqo-tenant-rome/milan: cpu is used up: " + std::to_string(asked) + "m asked for";
  };
  const int pods = 300;
  for (int i = 0; i < pods; ++i) world.create_pod("web-" + std::to_string(i), i % 3 == 0 ? "2" : "1");
  world.pass(2min);
  const auto first_asked = asked;
  CHECK(first_asked >= pods);
  CHECK(first_asked < pods + 60);
  const auto events = world.events("FailedReflection").size();
  CHECK(events <= pods);
  asked = 0;
  const std::size_t writes = world.writes();
  world.pass(30min);
  // Two demands, each asked for once a minute.
  CHECK(asked >= 40);
  CHECK(asked <= 80);
  CHECK(world.writes() - writes < 500);
  CHECK(world.events("FailedReflection").size() == events);
  const auto orders = [&] { return world.milan.list(kinds::shadow_pods, twin).size(); };
  CHECK(orders() == 0);

  asked = 0;
  room = 10;
  world.pass(3min);
  CHECK(orders() == 10);
  CHECK(asked < 40);

  // More is granted, as the virtual node shows.
  room = pods;
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
    next["spec"].as_object()["resourceQuota"] = json::object{{"hard", json::object{{"cpu", "999"}}}};
  });
  CHECK(world.reaches([&] { return orders() == static_cast<std::size_t>(pods); }, 20s));
}

TEST_CASE("a pod that its node can never hold closes it to nobody, and its controller may place another one") {
  Offloading world;
  world.admit = [] { return "quota liqo-tenant-rome/milan has not enough cpu: asked 9, used 0 of 8, free 8"; };
  const auto is_closed = [&] {
    const auto node = world.find(resources::nodes, {"", "milan"});
    return std::ranges::any_of(kube::array_at(node->spec(), {"taints"}), [](const json::value& taint) {
      return kube::string_at(taint, {"key"}) == api::closed_taint;
    });
  };
  // A reference to an object that exists: the garbage collector needs no more.
  const std::string uid(world.find(resources::namespaces, {"", shop})->uid());
  const auto create = [&](std::string_view name, std::string_view owner) {
    kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
    pod.mutable_metadata()["ownerReferences"] = json::array{
        json::object{{"apiVersion", "apps/v1"}, {"kind", owner}, {"name", "web"}, {"uid", uid}, {"controller", true}}};
    pod.mutable_spec()["nodeName"] = "milan";
    pod.mutable_spec()["containers"] = json::array{json::object{
        {"name", "main"}, {"image", "shop:1"}, {"resources", json::object{{"requests", json::object{{"cpu", "9"}}}}}}};
    world.apply(resources::pods, pod);
    world.change(resources::pods, pod.key(), "status", [](json::object& next) {
      kube::ensure_array(kube::ensure_object(next, "status"), "conditions")
          .push_back(json::object{{"type", "PodScheduled"}, {"status", "True"}});
    });
  };
  const auto phase = [&](std::string_view name) {
    return std::string(kube::string_at(world.local(name)->status(), {"phase"}));
  };
  world.create_pod("bare", "9");
  create("daemon", "DaemonSet");
  REQUIRE(world.reaches(
      [&] { return world.condition("bare", api::offloaded_condition, "reason") == "OffloadingRefused"; }));
  CHECK(world.condition("bare", api::offloaded_condition, "message") ==
        "cluster milan refuses the pod: quota liqo-tenant-rome/milan has not enough cpu: asked 9, used 0 of 8, free 8; "
        "this node can never hold it: it asks for 9 of cpu, and the node has 8 in all: create it again with less, or "
        "have more granted");
  world.pass(1min);
  CHECK_FALSE(is_closed());
  CHECK(phase("bare") != "Failed");
  CHECK(phase("daemon") != "Failed");

  create("web-1", "ReplicaSet");
  REQUIRE(world.reaches([&] { return phase("web-1") == "Failed"; }));
  CHECK(kube::string_at(world.local("web-1")->status(), {"reason"}) == "OffloadingAborted");
  CHECK(world.condition("web-1", "DisruptionTarget", "status") == "True");
  CHECK(kube::array_at(world.local("web-1")->status(), {"containerStatuses"}).empty());
  world.pass(1min);
  CHECK(world.events("OffloadingAborted").size() == 1);
  CHECK_FALSE(is_closed());

  // One that it could hold closes it until that is gone.
  world.create_pod("small", "1");
  CHECK(world.reaches([&] { return is_closed(); }));
  (void)world.server.remove(resources::pods, {shop, "small"}, {}, "operator");
  CHECK(world.reaches([&] { return !is_closed(); }));
  // So does a larger grant, for those that it makes fit.
  const auto grant = [&](std::string_view cpu) {
    world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [&](json::object& next) {
      next["spec"].as_object()["resourceQuota"] = json::object{{"hard", json::object{{"cpu", cpu}}}};
    });
  };
  grant("12");
  CHECK(world.reaches([&] { return is_closed(); }));
  grant("8");
  CHECK(world.reaches([&] { return !is_closed(); }));
}

TEST_CASE("whether another process may have offloaded a pod is told by the clock of the server at home") {
  Offloading world({}, {}, [](Offloading& rome) { rome.server_ahead = 2min; });
  world.admit = [] { return "the label team is missing"; };
  int looks = 0;
  world.refuse = [&](const kube::HttpRequest& request) {
    looks += request.verb == "get" && request.resource == "shadowpods";
    return std::string();
  };
  const auto remove_refused = [&](const char* name) {
    world.create_pod(name);
    REQUIRE(world.reaches(
        [&] { return world.condition(name, api::offloaded_condition, "reason") == "OffloadingRefused"; }));
    (void)world.server.remove(resources::pods, {shop, name}, {}, "operator");
    REQUIRE(world.reaches([&] { return !world.local(name); }));
  };
  world.pass(90s);
  remove_refused("early");
  CHECK(looks > 0);
  world.pass(3min);
  looks = 0;
  remove_refused("late");
  CHECK(looks == 0);
}

TEST_CASE("a refused pod that somebody changes asks at once") {
  Offloading world;
  bool wanted = false;
  world.admit = [&] { return wanted ? std::string() : std::string("the label team is missing"); };
  world.create_pod("first");
  world.create_pod("second");
  world.pass(10min);
  wanted = true;
  world.change(resources::pods, {shop, "second"}, "",
               [](json::object& next) { kube::ensure_object(next["metadata"].as_object(), "labels")["team"] = "a"; });
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "second").has_value(); }, 3s));
}

TEST_CASE("a pod that is refused again after it was taken asks again soon") {
  Offloading world;
  int asked = 0;
  bool is_full = true;
  world.admit = [&] {
    ++asked;
    return is_full ? std::string("the quota is used up") : std::string();
  };
  world.create_pod("web");
  world.pass(10min);
  is_full = false;
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }, 2min));
  is_full = true;
  asked = 0;
  (void)world.milan.remove(kinds::shadow_pods, {twin, "web"}, {}, "operator");
  world.pass(10s);
  CHECK(asked >= 3);
}

TEST_CASE("copies that several virtual nodes share are written as the oldest says") {
  Offloading world;
  world.milan.serve(kinds::namespace_maps);
  kube::Object settings = kube::Object::make(resources::config_maps, {shop, "settings"});
  settings.set_label("team", "a");
  settings.set_label("tier", "b");
  world.apply(resources::config_maps, settings);
  const auto copy = [&] { return world.at_milan(resources::config_maps, "settings"); };
  REQUIRE(world.reaches([&] { return copy().has_value(); }));
  world.pass(2s);
  world.virtual_node("other", "team");
  REQUIRE(world.reaches([&] { return world.has(resources::nodes, {"", "other"}); }));
  REQUIRE(world.reaches([&] { return world.events("ReflectionFiltersDiffer").size() == 1; }));
  const auto of_copies = [&] {
    std::size_t count = 0;
    for (const auto& write : world.milan.writes()) count += write.plural == "configmaps";
    return count;
  };
  const auto before = of_copies();
  world.pass(5min);
  CHECK(of_copies() == before);
  CHECK(copy()->label("team") == "a");
  // The oldest changes its mind, for both.
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
    next["spec"].as_object()["offloadingPatch"] =
        json::object{{"labelsNotReflected", json::array{json::string("tier")}}};
  });
  CHECK(world.reaches([&] { return copy() && !copy()->has_label("tier") && copy()->label("team") == "a"; }));
  world.pass(1min);
  const auto settled = of_copies();
  world.pass(5min);
  CHECK(of_copies() == settled);
}

TEST_CASE("a VkOptionsTemplate says what is reflected, and may change while liqod runs") {
  Offloading world;
  const auto say = [&](std::string_view name, json::object spec) {
    kube::Object options = kube::Object::make(kinds::vk_options_templates, {"liqo", std::string(name)});
    world.apply(kinds::vk_options_templates, options);
    world.change(kinds::vk_options_templates, options.key(), "", [&](json::object& next) { next["spec"] = spec; });
  };
  const auto of_config_maps = [](std::string_view type, int workers) {
    return json::object{
        {"reflectorsConfig", json::object{{"configmap", json::object{{"workers", workers}, {"type", type}}}}}};
  };
  const auto config_map = [&](std::string_view name, std::string_view annotation = "") {
    kube::Object out = kube::Object::make(resources::config_maps, {shop, std::string(name)});
    out.set_label("team", "a");
    if (!annotation.empty()) out.set_annotation(annotation, "true");
    world.apply(resources::config_maps, out);
  };
  const auto copy = [&](std::string_view name) { return world.at_milan(resources::config_maps, name); };
  const auto service = [&](std::string_view name) {
    kube::Object out = kube::Object::make(resources::services, {shop, std::string(name)});
    out.mutable_spec()["ports"] = json::array{json::object{{"port", 80}}};
    world.apply(resources::services, out);
  };
  config_map("plain");
  config_map("allowed", "liqo.io/allow-reflection");
  service("web");
  REQUIRE(world.reaches([&] { return copy("plain") && copy("allowed"); }));

  SUBCASE("the kinds, by the usual template") {
    say("virtual-kubelet-default", of_config_maps("AllowList", 3));
    CHECK(world.reaches([&] { return !copy("plain"); }));
    world.pass(30s);
    CHECK(copy("allowed"));
    CHECK(world.at_milan(resources::services, "web"));
    // Off: existing copies stay, and no new ones are made.
    say("virtual-kubelet-default", of_config_maps("DenyList", 0));
    world.pass(5s);
    config_map("later");
    world.change(resources::config_maps, {shop, "allowed"}, "",
                 [](json::object& next) { next["data"] = json::object{{"key", "new"}}; });
    service("api");
    CHECK(world.reaches([&] { return world.at_milan(resources::services, "api").has_value(); }));
    world.pass(2min);
    CHECK_FALSE(copy("later"));
    REQUIRE(copy("allowed"));
    CHECK_FALSE(copy("allowed")->tree().contains("data"));
    // And on again.
    world.server.remove(kinds::vk_options_templates, {"liqo", "virtual-kubelet-default"}, {}, "operator");
    CHECK(world.reaches([&] { return copy("later") && copy("plain") && copy("allowed")->tree().contains("data"); }));
  }
  SUBCASE("the template that the virtual node names") {
    const auto follow = [&](std::string_view name) {
      world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [&](json::object& next) {
        next["spec"].as_object()["vkOptionsTemplateRef"] = json::object{{"namespace", "liqo"}, {"name", name}};
      });
    };
    say("strict", of_config_maps("AllowList", 3));
    world.pass(1min);
    CHECK(copy("plain"));
    follow("strict");
    CHECK(world.reaches([&] { return !copy("plain"); }));
    // One that does not exist allows nothing, and that is reported.
    follow("nowhere");
    CHECK(world.reaches([&] { return world.events("VkOptionsTemplateMissing").size() == 1; }));
    world.pass(1min);
    CHECK_FALSE(copy("plain"));
    world.stop();
    world.start();
    world.pass(2min);
    CHECK_FALSE(copy("plain"));
    CHECK(world.events("ProviderUnusable").size() == 1);
    say("nowhere", of_config_maps("DenyList", 3));
    CHECK(world.reaches([&] { return copy("plain").has_value(); }));
    // Nor does one that cannot be followed.
    say("nowhere", of_config_maps("Everything", 3));
    CHECK(world.reaches([&] { return world.events("ReflectionPolicyInvalid").size() == 1; }));
    config_map("later");
    world.pass(1min);
    CHECK_FALSE(copy("later"));
    CHECK(copy("plain"));
  }
  SUBCASE("labels that copies and pods leave out") {
    world.create_pod("web");
    world.change(resources::pods, {shop, "web"}, "",
                 [](json::object& next) { kube::ensure_object(next["metadata"].as_object(), "labels")["team"] = "a"; });
    const auto order = [&] { return world.at_milan(kinds::shadow_pods, "web"); };
    REQUIRE(world.reaches([&] { return order() && order()->has_label("team"); }));
    say("virtual-kubelet-default", {{"labelsNotReflected", json::array{json::string("team")}}});
    CHECK(world.reaches([&] { return !copy("plain")->has_label("team") && !order()->has_label("team"); }));
    CHECK(world.events("ReflectionFiltersDiffer").empty());
  }
}

TEST_CASE("a VkOptionsTemplate that is missed is told each time that it goes") {
  Offloading world;
  const kube::Object options = kube::Object::make(kinds::vk_options_templates, {"liqo", "strict"});
  world.apply(kinds::vk_options_templates, options);
  // Two caches show the template and the VirtualNode, in any order.
  world.pass(1s);
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [](json::object& next) {
    next["spec"].as_object()["vkOptionsTemplateRef"] = json::object{{"namespace", "liqo"}, {"name", "strict"}};
  });
  world.pass(10s);
  for (int times = 1; times <= 2; ++times) {
    (void)world.server.remove(kinds::vk_options_templates, options.key(), {}, "operator");
    CHECK(world.reaches([&] { return world.times_reported("VkOptionsTemplateMissing") == times; }));
    world.apply(kinds::vk_options_templates, options);
    // Events with the same text within five minutes are one.
    world.pass(10min);
  }
}

TEST_CASE("what liqod is told of kinds and keys holds where no template says otherwise") {
  Offloading world;
  world.stop();
  controllers::Settings settings;
  settings.reflection.not_reflected.labels = {"team"};
  settings.reflection.not_reflected.annotations.clear();
  settings.reflection.kinds.set(*core::reflection::find_reflected_kind("ConfigMap"), {.workers = 0});
  settings.reflection.kinds.set(*core::reflection::find_reflected_kind("Service"),
                                {.selection = core::reflection::SelectionPolicy::allow_list});
  world.start(settings);
  const auto make = [&](const kube::Resource& resource, std::string_view name, std::string_view annotation) {
    kube::Object out = kube::Object::make(resource, {shop, std::string(name)});
    out.set_label("team", "a");
    out.set_annotation(annotation, "true");
    if (resource.plural == "services") out.mutable_spec()["ports"] = json::array{json::object{{"port", 80}}};
    world.apply(resource, out);
  };
  make(resources::config_maps, "settings", "liqo.io/allow-reflection");
  make(resources::services, "plain", "note");
  make(resources::services, "allowed", "liqo.io/allow-reflection");
  world.change(resources::services, {shop, "allowed"}, "", [](json::object& next) {
    kube::ensure_object(next["metadata"].as_object(), "annotations")["cloud.google.com/neg"] = "{}";
  });
  const auto service = [&](std::string_view name) { return world.at_milan(resources::services, name); };
  CHECK(
      world.reaches([&] { return service("allowed") && service("allowed")->has_annotation("cloud.google.com/neg"); }));
  CHECK_FALSE(service("allowed")->has_label("team"));
  world.pass(1min);
  CHECK_FALSE(service("plain"));
  CHECK_FALSE(world.at_milan(resources::config_maps, "settings"));
}

TEST_CASE("Secrets follow the pods of all virtual nodes of a provider, and nothing is written by two sessions") {
  Offloading world;
  world.virtual_node("other");
  REQUIRE(world.reaches([&] { return world.has(resources::nodes, {"", "other"}); }));
  const auto secret = [&](std::string_view name) {
    kube::Object out = kube::Object::make(resources::secrets, {shop, std::string(name)});
    out.tree()["data"] = json::object{{"word", "Y2lhbw=="}};
    out.tree()["type"] = "Opaque";
    world.apply(resources::secrets, out);
  };
  const auto pod = [&](std::string_view node, std::string_view uses) {
    kube::Object out = kube::Object::make(resources::pods, {shop, "on-" + std::string(node)});
    out.mutable_spec()["nodeName"] = node;
    out.mutable_spec()["containers"] =
        json::array{json::object{{"name", "main"},
                                 {"image", "shop:1"},
                                 {"envFrom", json::array{json::object{{"secretRef", json::object{{"name", uses}}}}}}}};
    world.apply(resources::pods, out);
  };
  for (const char* name : {"first", "second", "unused"}) secret(name);
  pod("milan", "first");
  pod("other", "second");
  CHECK(world.reaches(
      [&] { return world.at_milan(resources::secrets, "first") && world.at_milan(resources::secrets, "second"); }));
  world.pass(2min);
  CHECK_FALSE(world.at_milan(resources::secrets, "unused").has_value());
  std::size_t writes = 0;
  for (const auto& write : world.milan.writes()) writes += write.plural == "secrets";
  CHECK(writes == 2);
  // This process may read the Secrets of that namespace as long as it is offloaded.
  const auto binding = world.find(kinds::role_bindings, {shop, "liqo-liqod-offloaded"});
  REQUIRE(binding.has_value());
  REQUIRE(binding->owner_references().size() == 1);
  CHECK(binding->owner_references().front().kind == "NamespaceOffloading");
}

TEST_CASE("Nodes have the labels and annotations that their VkOptionsTemplate adds, as long as it does") {
  Offloading world;
  const auto say = [&](std::string_view name, json::object spec) {
    kube::Object options = kube::Object::make(kinds::vk_options_templates, {"liqo", std::string(name)});
    world.apply(kinds::vk_options_templates, options);
    world.change(kinds::vk_options_templates, options.key(), "", [&](json::object& next) { next["spec"] = spec; });
  };
  const auto label = [&](std::string_view name) {
    const auto node = world.find(resources::nodes, {"", "milan"});
    return node ? std::string(node->label(name)) : "(no node)";
  };
  say("virtual-kubelet-default", {{"nodeExtraLabels", json::object{{"tier", "gold"}, {"kubernetes.io/os", "dos"}}},
                                  {"nodeExtraAnnotations", json::object{{"who", "ops"}}}});
  CHECK(world.reaches([&] { return label("tier") == "gold"; }));
  CHECK(label("kubernetes.io/os") == "linux");
  CHECK(world.find(resources::nodes, {"", "milan"})->annotation("who") == "ops");
  CHECK(world.reaches([&] { return world.events("ReflectionPolicyInvalid").size() == 1; }));
  // Settled, nothing more is written into it.
  world.pass(10s);
  const std::string version(world.find(resources::nodes, {"", "milan"})->resource_version());
  world.pass(1min);
  CHECK(world.find(resources::nodes, {"", "milan"})->resource_version() == version);
  say("virtual-kubelet-default", {});
  CHECK(world.reaches([&] { return label("tier").empty(); }));

  // One that is named and does not exist any more removes nothing, even for a liqod that starts again.
  say("golden", {{"nodeExtraLabels", json::object{{"tier", "gold"}}}});
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [&](json::object& next) {
    next["spec"].as_object()["vkOptionsTemplateRef"] = json::object{{"namespace", "liqo"}, {"name", "golden"}};
  });
  CHECK(world.reaches([&] { return label("tier") == "gold"; }));
  world.server.remove(kinds::vk_options_templates, {"liqo", "golden"}, {}, "operator");
  world.pass(1min);
  CHECK(label("tier") == "gold");
  world.stop();
  world.start();
  world.pass(1min);
  CHECK(label("tier") == "gold");
  say("golden", {{"nodeExtraLabels", json::object{{"region", "south"}}}});
  CHECK(world.reaches([&] { return label("tier").empty() && label("region") == "south"; }));
}

TEST_CASE("where pods stay at home, all Secrets of the namespace are at the provider") {
  Offloading world;
  kube::Object secret = kube::Object::make(resources::secrets, {shop, "plain"});
  secret.tree()["type"] = "Opaque";
  world.apply(resources::secrets, secret);
  world.pass(2min);
  CHECK_FALSE(world.at_milan(resources::secrets, "plain"));
  world.change(kinds::namespace_offloadings, {shop, "offloading"}, "",
               [](json::object& next) { kube::ensure_object(next, "spec")["podOffloadingStrategy"] = "Local"; });
  CHECK(world.reaches([&] { return world.at_milan(resources::secrets, "plain").has_value(); }));
}

TEST_CASE("pull secrets of the pods' ServiceAccounts follow, and what ephemeral containers refer to") {
  Offloading world;
  for (const char* name : {"first", "second", "unused", "debug"}) {
    kube::Object secret = kube::Object::make(resources::secrets, {shop, std::string(name)});
    secret.tree()["type"] = "Opaque";
    world.apply(resources::secrets, secret);
  }
  const auto account = [&](std::string_view name, std::string_view pulls_by) {
    kube::Object out = kube::Object::make(resources::service_accounts, {shop, std::string(name)});
    out.tree()["imagePullSecrets"] = json::array{json::object{{"name", pulls_by}}};
    return out;
  };
  const auto there = [&](std::string_view name) { return world.at_milan(resources::secrets, name).has_value(); };
  world.apply(resources::service_accounts, account("robot", "first"));
  world.apply(resources::service_accounts, account("nobody", "unused"));
  kube::Object pod = kube::Object::make(resources::pods, {shop, "web"});
  pod.mutable_spec() = json::object{{"nodeName", "milan"},
                                    {"serviceAccountName", "robot"},
                                    {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}}};
  world.apply(resources::pods, pod);
  CHECK(world.reaches([&] { return there("first"); }));
  // An account that changes refers to another one; the first goes some minutes later.
  world.change(resources::service_accounts, {shop, "robot"}, "",
               [](json::object& next) { next["imagePullSecrets"] = json::array{json::object{{"name", "second"}}}; });
  CHECK(world.reaches([&] { return there("second"); }));
  world.change(resources::pods, {shop, "web"}, "ephemeralcontainers", [](json::object& next) {
    const json::object reference{{"secretRef", json::object{{"name", "debug"}}}};
    next["spec"].as_object()["ephemeralContainers"] =
        json::array{json::object{{"name", "look"}, {"envFrom", json::array{reference}}}};
  });
  CHECK(world.reaches([&] { return there("debug"); }));
  CHECK_FALSE(there("unused"));
  world.pass(6min);
  CHECK_FALSE(there("first"));
  CHECK(there("second"));
  CHECK(there("debug"));
  // All of it is removed with the pod.
  (void)world.server.remove(resources::pods, {shop, "web"}, {}, "user");
  world.pass(8min);
  CHECK_FALSE(there("second"));
  CHECK_FALSE(there("debug"));
}

TEST_CASE("whoever takes the lead makes no pod again that was ended before, however late its watches are") {
  Offloading world;
  world.stop();
  const kube::ObjectKey lease{"liqo", "liqod"};
  world.election = {.lease = lease, .identity = "liqod-1"};
  world.start();
  world.create_pod("web");
  world.run_at_milan("web");
  const auto lead = [&](std::string_view who) {
    world.change(kube::resources::leases, lease, "", [&](json::object& next) {
      json::object& spec = kube::ensure_object(next, "spec");
      spec["holderIdentity"] = who;
      spec["renewTime"] = kube::format_micro_time(world.simulator.clock().wall());
    });
  };
  // Another process leads, and does what a deleted pod needs.
  lead("liqod-2");
  world.link.set_faults({.stalled = 1, .stalled_by = 24h});
  world.pass(12s);
  const auto remove = [](kube::testing::FakeApiServer& server, const kube::Resource& kind, const std::string& ns) {
    REQUIRE(server.remove(kind, {ns, "web"}, {.grace_period_seconds = 0}, "liqod-2").has_value());
  };
  remove(world.milan, kinds::shadow_pods, twin);
  remove(world.milan, resources::pods, twin);
  remove(world.server, resources::pods, shop);
  const auto leads = [&] {
    return kube::string_at(world.find(kube::resources::leases, lease)->spec(), {"holderIdentity"}) == "liqod-1";
  };
  REQUIRE(world.reaches(leads));
  CHECK_FALSE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }));
  world.link.set_faults({});
  world.create_pod("next");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "next").has_value(); }, 10min));
}

}  // namespace liqo::testing
