// The reasons for which a remote pod is not ready, read from a provider that the test plays, and reported at home.
#include "../offloading_fixture.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Whether the Events of one object are requested, and not those of a twin.
bool is_question(const kube::HttpRequest& request) {
  return request.resource == "events" && request.target.contains("involvedObject.uid");
}

struct Waiting : Offloading {
  Waiting() {
    outage = [this](kube::HttpRequest& request) {
      if (!is_question(request)) return false;
      if (request.verb != "list") FAIL("the Events of a provider are listed, and nothing else");
      asked.push_back(simulator.clock().now());
      return is_down;
    };
  }
  /// Makes a pod whose remote pod waits for its image.
  void offload(std::string_view name) {
    create_pod(name);
    make_at_milan(name);
  }
  void make_at_milan(std::string_view name) {
    REQUIRE(reaches([&] { return at_milan(kinds::shadow_pods, name).has_value(); }));
    kube::Object remote = core::forge_provider_pod(*at_milan(kinds::shadow_pods, name));
    remote.mutable_spec()["nodeName"] = "worker";
    REQUIRE(milan.create(resources::pods, remote.tree(), "milan").has_value());
    report(name, "Pending", "False");
  }
  void report(std::string_view name, std::string_view phase, std::string_view ready) {
    change_at_milan(name, "status", [&](json::object& next) {
      json::object& status = kube::ensure_object(next, "status");
      status["phase"] = phase;
      status["conditions"] = json::array{json::object{{"type", "Ready"}, {"status", ready}}};
    });
  }
  std::string remote_uid(std::string_view name) {
    const auto remote = at_milan(resources::pods, name);
    return remote ? std::string(remote->uid()) : "";
  }
  /// An Event at milan about the object with that UID.
  void warn(std::string_view uid, std::string_view message) {
    kube::Object event = kube::Object::make(resources::events, {twin, "event-" + std::to_string(++events_made_)});
    event.tree()["involvedObject"] = json::object{{"uid", uid}};
    event.tree()["type"] = "Warning";
    event.tree()["reason"] = "Failed";
    event.tree()["message"] = message;
    event.tree()["lastTimestamp"] = kube::format_time(simulator.clock().wall());
    REQUIRE(milan.create(resources::events, event.tree(), "kubelet").has_value());
  }
  /// The Node of this world is never ready, and the pod reports that before or after another reason.
  bool is_cut_off(std::string_view name) {
    return condition(name, "Ready", "reason") == api::reasons::remote_unavailable;
  }
  std::string told(std::string_view name) { return condition(name, api::offloaded_condition, "message"); }
  std::vector<std::string> reported_events() { return events(api::reasons::remote_not_ready); }
  std::size_t status_writes() {
    return static_cast<std::size_t>(std::ranges::count_if(server.writes(), [&](const auto& write) {
      return write.actor == link.actor() && write.plural == "pods" && write.subresource == "status";
    }));
  }

  /// The shortest time from the first to the last of that many requests in a row.
  kube::Duration least_time_for(std::size_t questions) {
    kube::Duration least = 24h;
    for (std::size_t last = questions - 1; last < asked.size(); ++last)
      least = std::min(least, asked[last] - asked[last - questions + 1]);
    return least;
  }

  std::vector<kube::TimePoint> asked;
  bool is_down = false;

 private:
  int events_made_ = 0;
};

const std::string missing = "the pod is not ready in cluster milan: no such image (Failed)";

}  // namespace

TEST_CASE("a pod that the provider gates is told at home, without a question, until the gate is gone") {
  Waiting world;
  world.create_pod("web");
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }));
  kube::Object remote = core::forge_provider_pod(*world.at_milan(kinds::shadow_pods, "web"));
  remote.mutable_spec()["schedulingGates"] = json::array{json::object{{"name", "kueue.x-k8s.io/admission"}}};
  REQUIRE(world.milan.create(resources::pods, remote.tree(), "milan").has_value());
  world.report("web", "Pending", "False");
  REQUIRE(world.reaches([&] { return world.told("web").contains("kueue.x-k8s.io/admission"); }));
  CHECK(world.told("web").contains("cluster milan"));
  world.pass(5min);
  CHECK(world.reported_events().size() == 1);
  CHECK(world.asked.empty());
  world.change_at_milan("web", "", [](json::object& next) { next["spec"].as_object().erase("schedulingGates"); });
  CHECK(world.reaches([&] { return world.told("web") == "(none)"; }, 2min));
}

TEST_CASE("the newest warning about a pod that does not start is told at home, each once") {
  Waiting world;
  world.offload("web");
  world.warn(world.remote_uid("web"), "no such image");
  world.warn("another pod", "no such volume");
  REQUIRE(world.reaches([&] { return world.told("web") == missing; }));
  REQUIRE(world.reaches([&] { return world.is_cut_off("web"); }));
  CHECK(world.condition("web", api::offloaded_condition, "status") == "False");
  CHECK(world.condition("web", api::offloaded_condition, "reason") == "RemotePodNotReady");
  CHECK(world.reaches([&] { return world.reported_events() == std::vector{missing}; }));
  const std::size_t writes = world.status_writes();
  world.pass(1h);
  CHECK(world.status_writes() == writes);
  CHECK(world.reported_events().size() == 1);

  world.warn(world.remote_uid("web"), "no such registry");
  REQUIRE(world.reaches([&] { return world.told("web").contains("no such registry"); }, 2min));
  CHECK(world.reaches([&] { return world.reported_events().size() == 2; }));
  CHECK(world.status_writes() == writes + 1);

  // It runs: the condition is removed by the same write, and nothing more is requested.
  world.report("web", "Running", "True");
  REQUIRE(world.reaches([&] { return world.told("web") == "(none)"; }));
  CHECK(world.status_writes() == writes + 2);
  world.asked.clear();
  world.pass(10min);
  CHECK(world.asked.empty());

  // And then no longer. A warning that an Event has reported is not reported so again.
  world.report("web", "Running", "False");
  REQUIRE(world.reaches([&] { return world.told("web").contains("no such registry"); }, 2min));
  world.pass(1min);
  CHECK(world.reported_events().size() == 2);
}

TEST_CASE("nothing is asked about pods that start in a few seconds, end, or are deleted") {
  Waiting world;
  for (const char* name : {"starts", "ends", "goes"}) world.offload(name);
  world.pass(5s);
  world.report("starts", "Running", "True");
  world.report("ends", "Failed", "False");
  REQUIRE(world.server.remove(resources::pods, {shop, "goes"}, {}, "operator").has_value());
  world.pass(10min);
  CHECK(world.asked.empty());
}

TEST_CASE("one pod is asked about less and less often, and many within a bound") {
  Waiting world;
  world.offload("web");
  world.asked.clear();
  world.pass(10min);
  // After 10, 20, 40 and 80 s, and then once a minute.
  CHECK(world.asked.size() >= 10);
  CHECK(world.asked.size() <= 13);
  CHECK(world.least_time_for(2) >= 10s);

  for (int i = 0; i < 60; ++i) world.offload("web-" + std::to_string(i));
  world.asked.clear();
  world.pass(1min);
  CHECK(world.asked.size() > 60);
  CHECK(world.least_time_for(6) >= 1s);
}

TEST_CASE("a provider that answers with other pods' Events, or says too much, is not believed") {
  Waiting world;
  world.offload("web");
  world.offload("other");
  world.warn(world.remote_uid("other"), "no such volume");
  // As if it knew no selectors.
  world.outage = [](kube::HttpRequest& request) {
    if (request.resource == "events")
      if (const auto selector = request.target.find("fieldSelector="); selector != std::string::npos)
        request.target.replace(selector, std::string("fieldSelector").size(), "ignored");
    return false;
  };
  REQUIRE(world.reaches([&] { return world.told("other").contains("no such volume"); }));
  world.pass(2min);
  CHECK(world.told("web") == "(none)");

  for (int i = 0; i < 20; ++i) world.warn(world.remote_uid("web"), std::string(100'000, 'x') + "\n\x1b[2J");
  world.pass(3min);
  CHECK(world.told("web") == "(none)");
}

TEST_CASE("a new process leaves what is told until it knows better") {
  Waiting world;
  world.offload("web");
  world.warn(world.remote_uid("web"), "no such image");
  REQUIRE(world.reaches([&] { return world.reported_events().size() == 1 && world.is_cut_off("web"); }));
  const std::size_t writes = world.status_writes();
  world.stop();
  world.is_down = true;
  world.asked.clear();
  world.start();
  REQUIRE(world.reaches([&] { return !world.asked.empty(); }, 2min));
  world.pass(5min);
  CHECK(world.told("web") == missing);
  world.is_down = false;
  world.asked.clear();
  REQUIRE(world.reaches([&] { return world.asked.size() > 1; }, 5min));
  CHECK(world.told("web") == missing);
  CHECK(world.status_writes() == writes);
  CHECK(world.reported_events().size() == 1);
}

TEST_CASE("another remote pod is another matter") {
  Waiting world;
  world.offload("web");
  world.warn(world.remote_uid("web"), "no such image");
  REQUIRE(world.reaches([&] { return world.told("web") == missing; }));
  REQUIRE(world.milan.remove(resources::pods, {twin, "web"}, {.grace_period_seconds = 0}, "operator").has_value());
  world.make_at_milan("web");
  REQUIRE(world.reaches([&] { return world.told("web") == "(none)"; }));
  world.pass(2min);
  CHECK(world.told("web") == "(none)");
}

TEST_CASE("a provider that refuses its Events is asked by one for all, and rarely") {
  Waiting world;
  int asked = 0;
  bool refuses = true;
  world.outage = [](kube::HttpRequest&) { return false; };
  world.refuse = [&](const kube::HttpRequest& request) {
    if (!is_question(request)) return std::string();
    ++asked;
    return refuses ? std::string("events is forbidden") : std::string();
  };
  for (int i = 0; i < 20; ++i) world.offload("web-" + std::to_string(i));
  world.warn(world.remote_uid("web-0"), "no such image");
  world.pass(1h);
  CHECK(asked >= 5);
  CHECK(asked <= 8);
  CHECK(world.told("web-0") == "(none)");
  refuses = false;
  CHECK(world.reaches([&] { return world.told("web-0") == missing; }, 15min));
}

}  // namespace liqo::testing
