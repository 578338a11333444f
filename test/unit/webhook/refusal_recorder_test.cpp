// Refusals of a consumer's requests are recorded in its tenant namespace, by all replicas together and at a bounded
// rate.
#include "webhook/refusal_recorder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "kube/async/task_group.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "liqo/api/kinds.hpp"
#include "support/captured_stderr.hpp"

namespace {

using namespace kube::testing;
using namespace std::chrono_literals;
namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using liqo::core::admission::Answer;
using liqo::core::admission::RefusalRing;
using liqo::core::admission::RefusedObject;
using liqo::core::admission::Request;
using liqo::webhook::RefusalRecorder;

constexpr const char* tenant = "liqo-tenant-rome";

Request creation(std::string name, std::string ns = "shop-rome") {
  Request request;
  request.plural = "shadowpods";
  request.ns = std::move(ns);
  request.name = std::move(name);
  request.user = {.name = "pool-1f", .groups = {"rome"}};
  return request;
}

struct Cluster {
  Cluster() : server(simulator.clock()) {
    for (const kube::Resource& kind : {kinds::shadow_pods, kinds::resource_slices}) server.serve(kind);
    make_namespace(tenant, {{"liqo.io/remote-cluster-id", "rome"}, {"liqo.io/tenant-namespace", "true"}});
    make_namespace("shop-rome", {{"liqo.io/remote-cluster-id", "rome"}});
    make_namespace("own", {});
  }
  void make_namespace(std::string_view name, json::object labels) {
    server.create(kube::resources::namespaces,
                  {{"metadata", json::object{{"name", name}, {"labels", std::move(labels)}}}}, "admin");
  }
  /// As an API server of the cluster.
  void list(const char* address) {
    server.create(kinds::endpoint_slices,
                  {{"metadata", json::object{{"name", "kubernetes"}, {"namespace", "default"}}},
                   {"addressType", "IPv4"},
                   {"endpoints", json::array{json::object{{"addresses", json::array{address}}}}}},
                  "admin");
  }
  std::vector<RefusedObject> kept() {
    const auto map = server.get(kube::resources::config_maps, {tenant, "liqo-refusals"});
    return map ? RefusalRing::read(kube::Object(json::object(*map))).newest_first() : std::vector<RefusedObject>();
  }
  std::size_t writes() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        server.writes(), [](const FakeWrite& write) { return write.plural == "configmaps" && write.code < 300; }));
  }

  Simulator simulator{1};
  FakeApiServer server;
};

struct Replica {
  explicit Replica(Cluster& of, std::string name = "one", bool has_callers = false)
      : cluster(of),
        link(of.simulator, of.server, std::move(name)),
        transport(link),
        api(transport, of.simulator.clock(), of.simulator.random(), metrics, {.cluster = "milan"}),
        home(of.simulator.executor(), api, metrics),
        leadership(of.simulator.executor()),
        callers({of.simulator.executor(), of.simulator.clock(), of.simulator.random(), metrics}, api),
        recorder({{of.simulator.executor(), of.simulator.clock(), of.simulator.random(), metrics},
                  home,
                  api,
                  leadership,
                  has_callers ? &callers : nullptr}),
        group(of.simulator.executor()) {
    group.spawn(home.run());
    group.spawn(recorder.run());
    if (has_callers) group.spawn(callers.run());
    of.simulator.run_for(5s);
  }
  ~Replica() { cluster.simulator.run(group.stop()); }

  Cluster& cluster;
  SimLink link;
  SimTransport transport;
  kube::Metrics metrics;
  kube::Api api;
  kube::InformerSet home;
  kube::SoleLeader leadership;
  liqo::webhook::Callers callers;
  RefusalRecorder recorder;
  kube::async::TaskGroup group;
};

TEST_CASE("what is refused in a twin stands in the tenant namespace, with its reason and how often") {
  Cluster cluster;
  Replica milan(cluster);
  for (int i = 0; i < 3; ++i) milan.recorder.note(creation("web"), Answer::deny("hostPath is not allowed"));
  milan.recorder.note(creation("liqo", tenant), Answer::invalid("no such class"));
  cluster.simulator.run_for(2s);
  const auto kept = cluster.kept();
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].ns == tenant);
  CHECK(kept[1].kind == "ShadowPod");
  CHECK(kept[1].ns == "shop-rome");
  CHECK(kept[1].name == "web");
  CHECK(kept[1].reason == "hostPath is not allowed");
  CHECK(kept[1].count == 3);
}

TEST_CASE("what is no refusal of a consumer's request is not kept") {
  struct {
    const char* what;
    std::function<void(Request&, Answer&)> change;
  } const cases[] = {
      {"allowed", [](Request&, Answer& answer) { answer = Answer::allow(); }},
      {"cannot be decided now", [](Request&, Answer& answer) { answer = Answer::unavailable("later"); }},
      {"a dry run", [](Request& request, Answer&) { request.dry_run = true; }},
      {"a user of this cluster", [](Request& request, Answer&) { request.user.groups = {"system:masters"}; }},
      {"another consumer", [](Request& request, Answer&) { request.user.groups = {"turin"}; }},
      {"a namespace of nobody", [](Request& request, Answer&) { request.ns = "own"; }},
      {"a namespace that is not there", [](Request& request, Answer&) { request.ns = "gone"; }},
  };
  Cluster cluster;
  Replica milan(cluster);
  for (const auto& each : cases) {
    CAPTURE(each.what);
    Request request = creation("web");
    Answer answer = Answer::deny("no");
    each.change(request, answer);
    milan.recorder.note(request, answer);
    cluster.simulator.run_for(20s);
    CHECK(cluster.writes() == 0);
  }
}

TEST_CASE("ten thousand refusals a second cost one write in ten seconds, and nothing is miscounted") {
  Cluster cluster;
  Replica milan(cluster);
  for (int second = 0; second < 30; ++second) {
    for (int i = 0; i < 10'000; ++i)
      milan.recorder.note(creation("web-" + std::to_string(i % 100)), Answer::deny("no room"));
    cluster.simulator.run_for(1s);
  }
  CHECK(cluster.writes() >= 3);
  CHECK(cluster.writes() <= 4);
  cluster.simulator.run_for(20s);
  std::int64_t all = 0;
  for (const RefusedObject& each : cluster.kept()) all += each.count;
  CHECK(all == 300'000);
}

TEST_CASE("two replicas add to one ring, whatever the network does") {
  Cluster cluster;
  Replica one(cluster, "one"), two(cluster, "two");
  for (Replica* replica : {&one, &two}) replica->link.set_faults({.refused = 0.1, .failing = 0, .conflict = 0.3});
  const kube::test::CapturedStderr log;
  for (int round = 0; round < 10; ++round) {
    for (Replica* replica : {&one, &two}) replica->recorder.note(creation("web"), Answer::deny("no room"));
    one.recorder.note(creation("one-" + std::to_string(round)), Answer::deny("no room"));
    cluster.simulator.run_for(10s);
  }
  cluster.simulator.run_for(60s);
  const auto kept = cluster.kept();
  CHECK(kept.size() == 11);
  for (const RefusedObject& each : kept)
    if (each.name == "web") CHECK(each.count == 20);
}

TEST_CASE("a tenant namespace that is gone takes its refusals along, and is not written to any more") {
  Cluster cluster;
  Replica milan(cluster);
  milan.recorder.note(creation("web"), Answer::deny("no room"));
  REQUIRE(cluster.server.remove(kube::resources::namespaces, {{}, tenant}, {}, "admin"));
  const kube::test::CapturedStderr log;
  cluster.simulator.run_for(60s);
  const auto before = milan.link.requests();
  cluster.simulator.run_for(60s);
  CHECK(milan.link.requests() - before < 10);
}

TEST_CASE("a reviewer whom nobody knows counts once it is proven to be an API server") {
  Cluster cluster;
  Replica milan(cluster, "one", true);
  Request asked = creation("web");
  asked.caller = "10.0.0.7";
  milan.recorder.note(asked, Answer::deny("no room"));
  cluster.simulator.run_for(30s);
  CHECK(cluster.kept().empty());
  milan.callers.confirm("10.0.0.7");
  milan.recorder.note(asked, Answer::deny("no room"));
  cluster.simulator.run_for(30s);
  REQUIRE(cluster.kept().size() == 1);
  CHECK(cluster.kept()[0].count == 1);
}

TEST_CASE("an API server that no probe proves counts because the cluster lists it, whatever strangers send") {
  Cluster cluster;
  cluster.list("10.0.0.8");
  Replica milan(cluster, "one", true);
  const auto refuse = [&](const std::string& from, std::string name) {
    Request asked = creation(std::move(name));
    asked.caller = from;
    milan.recorder.note(asked, Answer::deny("no room"));
  };
  for (int i = 0; i < 100; ++i) refuse("10.9.9.1", "forged-" + std::to_string(i) + std::string(5'000, 'x'));
  refuse("10.0.0.8", "web");
  cluster.simulator.run_for(30s);
  REQUIRE(cluster.kept().size() == 1);
  CHECK(cluster.kept()[0].name == "web");
  // It is known from now on, and takes no place of unproven callers.
  for (int i = 0; i < 100; ++i) refuse("10.9.9." + std::to_string(i), "forged");
  refuse("10.0.0.8", "db");
  cluster.simulator.run_for(30s);
  REQUIRE(cluster.kept().size() == 2);
  CHECK(cluster.kept()[0].name == "db");
}

TEST_CASE("what is certain is written before strangers are judged") {
  Cluster cluster;
  Replica milan(cluster, "one", true);
  for (int i = 0; i < 4; ++i) {
    Request forged = creation("forged");
    forged.caller = "10.9.9." + std::to_string(i);
    milan.recorder.note(forged, Answer::deny("no room"));
  }
  milan.recorder.note(creation("web"), Answer::deny("no room"));
  cluster.simulator.run_for(2s);
  CHECK(cluster.kept().size() == 1);
}

TEST_CASE("strangers that were judged make room for somebody who was not") {
  Cluster cluster;
  Replica milan(cluster, "one", true);
  const auto refuse = [&](const std::string& from, std::string name) {
    Request asked = creation(std::move(name));
    asked.caller = from;
    milan.recorder.note(asked, Answer::deny("no room"));
  };
  const auto forge = [&] {
    for (int i = 0; i < 4; ++i) refuse("10.9.9." + std::to_string(i), "forged");
  };
  forge();
  cluster.simulator.run_for(30s);
  forge();
  refuse("10.0.0.8", "web");
  forge();
  milan.callers.confirm("10.0.0.8");
  cluster.simulator.run_for(30s);
  REQUIRE(cluster.kept().size() == 1);
  CHECK(cluster.kept()[0].name == "web");
}

TEST_CASE("what is denied and refused later is kept too, once, by the leader") {
  Cluster cluster;
  json::object labels{{"liqo.io/replicated", "true"}, {"liqo.io/originID", "rome"}};
  const kube::ObjectKey slice{tenant, "pool"}, pod{"shop-rome", "web"};
  cluster.server.create(
      kinds::resource_slices,
      {{"metadata", json::object{{"name", "pool"}, {"namespace", tenant}, {"labels", std::move(labels)}}}}, "rome");
  cluster.server.create(kinds::shadow_pods, {{"metadata", json::object{{"name", "web"}, {"namespace", "shop-rome"}}}},
                        "rome");
  Replica milan(cluster);
  const auto deny = [&](const char* reason, const char* message) {
    const auto denied = cluster.server.update(
        {kinds::resource_slices, slice, "status"},
        [&](json::object& next) {
          next["status"] = json::object{
              {"conditions",
               json::array{json::object{
                   {"type", "Resources"}, {"status", "Denied"}, {"reason", reason}, {"message", message}}}}};
        },
        "liqod");
    REQUIRE(denied);
  };
  const auto refuse = [&](const char* words) {
    const auto refused = cluster.server.update(
        {kinds::shadow_pods, pod},
        [&](json::object& next) {
          next["metadata"].as_object()["annotations"] = json::object{{"offloading.liqo.io/refused", words}};
        },
        "liqod");
    REQUIRE(refused);
  };
  deny("RequestDenied", "no more than 3 of cpu");
  refuse("exceeded quota: team");
  cluster.simulator.run_for(15s);
  deny("TenantDrained", "the tenant is drained");
  refuse("exceeded quota: team");
  cluster.simulator.run_for(15s);
  const auto kept = cluster.kept();
  REQUIRE(kept.size() == 2);
  for (const RefusedObject& each : kept) {
    CHECK(each.count == 1);
    CHECK(each.reason == (each.kind == "ResourceSlice" ? "no more than 3 of cpu" : "exceeded quota: team"));
  }
  // Another process that begins to lead finds the refusals that were noted before.
  const Replica next(cluster, "two");
  cluster.simulator.run_for(30s);
  for (const RefusedObject& each : cluster.kept()) CHECK(each.count == 1);
}

TEST_CASE("what was refused last is written when a process ends") {
  Cluster cluster;
  Replica milan(cluster);
  milan.recorder.note(creation("web"), Answer::deny("no room"));
  cluster.simulator.run(milan.recorder.flush());
  CHECK(cluster.kept().size() == 1);
}

TEST_CASE("so it is where the process ends while it is being written") {
  Cluster cluster;
  Replica milan(cluster);
  milan.recorder.note(creation("web"), Answer::deny("no room"));
  const auto before = milan.link.requests();
  REQUIRE(cluster.simulator.run_until([&] { return milan.link.requests() > before; }, 10s) == Simulator::End::reached);
  REQUIRE(cluster.kept().empty());
  cluster.simulator.run(milan.recorder.flush());
  CHECK(cluster.kept().size() == 1);
}

}  // namespace
