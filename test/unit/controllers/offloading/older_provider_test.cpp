// A provider that does not store every field of a pod: home reports that once on the pod.
#include <algorithm>

#include "../offloading_fixture.hpp"
#include "core/offloading/left_out.hpp"
#include "core/policy/pod_policy.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Acts as an API server whose CRD of ShadowPods has no user namespaces.
bool drop_host_users(kube::HttpRequest& request) {
  if (request.verb != "create" || request.resource != "shadowpods") return false;
  json::value body = *kube::parse_json(request.body);
  body.as_object()["spec"].as_object()["pod"].as_object().erase("hostUsers");
  request.body = json::serialize(body);
  return false;
}

void create_pod(Offloading& world, json::object more) {
  kube::Object pod = kube::Object::make(resources::pods, {shop, "web"});
  pod.mutable_spec() = std::move(more);
  pod.mutable_spec()["nodeName"] = "milan";
  pod.mutable_spec()["containers"] = json::array{json::object{{"name", "main"}, {"image", "shop:1"}}};
  world.apply(resources::pods, pod);
}

/// Acts as the provider's liqod, which has seen what its API server did not store.
void note_at_milan(Offloading& world, const std::vector<std::string>& things) {
  world.change_at_milan("web", "", [&](json::object& next) {
    kube::ensure_object(next["metadata"].as_object(), "annotations")[api::annotations::left_out] =
        core::forge_left_out(things);
  });
}

}  // namespace

TEST_CASE("a field that the provider did not store is told of, once, with those that are not sent") {
  Offloading world;
  world.outage = drop_host_users;
  create_pod(world, {{"hostUsers", false}, {"schedulingGroup", json::object{{"podGroupName", "gang"}}}});
  const auto told = [&] { return world.events(api::reasons::fields_dropped); };
  REQUIRE(world.reaches([&] { return !told().empty(); }));
  CHECK(told().front() == "these fields have no effect in cluster milan: schedulingGroup, hostUsers");
  world.run_at_milan("web");
  world.pass(10min);
  CHECK(told().size() == 1);
}

TEST_CASE("a provider that takes the whole pod is told of by nothing") {
  Offloading world;
  create_pod(world, {{"hostUsers", true}, {"restartPolicy", "Always"}});
  world.run_at_milan("web");
  world.pass(1min);
  CHECK(world.events(api::reasons::fields_dropped).empty());
  CHECK(world.events(api::reasons::left_out).empty());
}

TEST_CASE("what the provider notes once the pod is there is told, also after the pod is shown, and not at a restart") {
  Offloading world;
  world.create_pod("web");
  world.run_at_milan("web");
  world.pass(10s);
  const auto told = [&] { return world.events(api::reasons::left_out); };
  CHECK(told().empty());
  note_at_milan(world, {core::left_out_field("hostUsers")});
  REQUIRE(world.reaches([&] { return told().size() == 1; }));
  CHECK(told().front().starts_with("cluster milan runs the pod without: field hostUsers; its API server did not"));
  // Other words for the same number of fields are not reported: a provider could go on for ever.
  for (int i = 0; i < 20; ++i) {
    note_at_milan(world, {core::left_out_field("field" + std::to_string(i))});
    world.pass(10s);
  }
  CHECK(told().size() == 1);
  world.stop();
  world.start({});
  world.pass(1min);
  CHECK(told().size() == 1);
}

TEST_CASE("a provider that notes ever more is told of twice: when it begins, and when it has noted more") {
  Offloading world;
  world.create_pod("web");
  world.run_at_milan("web");
  std::vector<std::string> things;
  for (int i = 0; i < 5; ++i) {
    things.push_back(core::left_out_field("field" + std::to_string(i)));
    note_at_milan(world, things);
    world.pass(1min);
  }
  CHECK(world.times_reported(api::reasons::left_out) == 2);
  const auto told = world.events(api::reasons::left_out);
  CHECK(
      std::ranges::any_of(told, [](const std::string& text) { return text.contains("field field0, field field1;"); }));
  CHECK(std::ranges::none_of(told, [](const std::string& text) { return text.contains("field2"); }));
}

TEST_CASE("a priority class that the provider maps is not missed at home") {
  Offloading world;
  create_pod(world, {{"priorityClassName", "high"}});
  REQUIRE(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "web").has_value(); }));
  const auto policy = core::read_pod_policy(R"({"priorityClasses": {"*": "tenants"}})");
  REQUIRE(policy);
  kube::Object remote = core::forge_provider_pod(*world.at_milan(kinds::shadow_pods, "web"), nullptr, *policy);
  remote.mutable_spec()["nodeName"] = "worker";
  REQUIRE(world.milan.create(resources::pods, remote.tree(), "milan").has_value());
  world.pass(1min);
  CHECK(world.events(api::reasons::left_out).empty());
}

}  // namespace liqo::testing
