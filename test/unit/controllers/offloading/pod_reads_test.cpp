// The fields that a pod reads about itself, as they follow the pod at home, and what is reported about them.
#include "core/offloading/pod_reads.hpp"

#include "../offloading_fixture.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

void create_reader(Offloading& world, std::string_view path, std::string_view annotation = "") {
  kube::Object pod = kube::Object::make(resources::pods, {shop, "web"});
  if (!annotation.empty()) pod.set_annotation("tekton.dev/ready", annotation);
  const json::object source{{"fieldRef", json::object{{"fieldPath", path}}}};
  json::object container{{"name", "main"}, {"image", "shop:1"}};
  container["env"] = json::array{json::object{{"name", "V"}, {"valueFrom", source}}};
  pod.mutable_spec() = json::object{{"nodeName", "milan"}, {"restartPolicy", "Always"}};
  pod.mutable_spec()["containers"] = json::array{std::move(container)};
  world.apply(resources::pods, pod);
}

void annotate(Offloading& world, std::string_view value) {
  world.change(resources::pods, {shop, "web"}, "", [&](json::object& next) {
    kube::ensure_object(kube::ensure_object(next, "metadata"), "annotations")["tekton.dev/ready"] = value;
  });
}

constexpr std::string_view ready = "metadata.annotations['tekton.dev/ready']";

/// What the ShadowPod says of the annotation; "(none)" without a ShadowPod.
std::string sent(Offloading& world) {
  const auto shadow = world.at_milan(kinds::shadow_pods, "web");
  return shadow ? std::string(shadow->annotation(core::read_annotation("tekton.dev/ready"))) : "(none)";
}

}  // namespace

TEST_CASE("what a pod reads about itself follows, and nothing is written while nothing changes") {
  Offloading world;
  create_reader(world, ready);
  world.run_at_milan("web");
  CHECK(sent(world).empty());
  annotate(world, "READY");
  REQUIRE(world.reaches([&] { return sent(world) == "READY"; }));
  const std::string version(world.at_milan(kinds::shadow_pods, "web")->resource_version());
  world.pass(10min);
  world.stop();
  world.start({});
  world.pass(1min);
  CHECK(world.at_milan(kinds::shadow_pods, "web")->resource_version() == version);
  CHECK(world.events(api::reasons::left_out).empty());
}

TEST_CASE("a pod that reads too much is refused with the sum, and sent when it reads less") {
  Offloading world;
  create_reader(world, ready, std::string(250 * 1024, 'x'));
  REQUIRE(world.reaches([&] {
    return world.condition("web", api::offloaded_condition, "message").contains("the pod reads 251 KiB of its own");
  }));
  CHECK_FALSE(world.at_milan(kinds::shadow_pods, "web").has_value());
  world.pass(10min);
  CHECK(world.events(api::reasons::failed_reflection).size() == 1);
  annotate(world, "less");
  REQUIRE(world.reaches([&] { return sent(world) == "less"; }));
}

TEST_CASE("that a running pod reads too much by now is reported once") {
  Offloading world;
  create_reader(world, ready, "READY");
  world.run_at_milan("web");
  annotate(world, std::string(201 * 1024, 'x'));
  const auto told = [&] { return world.events(api::reasons::reads_too_large); };
  REQUIRE(world.reaches([&] { return !told().empty(); }));
  CHECK(
      told().front().starts_with("what the pod reads in cluster milan about itself stays as it is: the pod reads 202"));
  CHECK(sent(world) == "READY");
  world.pass(10min);
  CHECK(world.times_reported(api::reasons::reads_too_large) == 1);
  annotate(world, "again");
  REQUIRE(world.reaches([&] { return sent(world) == "again"; }));
}

TEST_CASE("a pod that reads its namespace is told once that it is the twin's") {
  Offloading world;
  create_reader(world, "metadata.namespace");
  world.run_at_milan("web");
  const auto told = [&] { return world.events(api::reasons::twin_namespace_read); };
  REQUIRE(world.reaches([&] { return !told().empty(); }));
  CHECK(told().front().starts_with("the pod reads its namespace (metadata.namespace), and is told shop-rome, "));
  world.pass(10min);
  CHECK(world.times_reported(api::reasons::twin_namespace_read) == 1);
}

}  // namespace liqo::testing
