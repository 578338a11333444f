// Pods that name a Secret with a token of a service account, seen by the liqod of the consumer.
#include "controllers/offloading/token_secrets.hpp"

#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

kube::Object token_secret(std::string_view name) {
  kube::Object secret = kube::Object::make(resources::secrets, {shop, std::string(name)});
  secret.tree()["type"] = "kubernetes.io/service-account-token";
  secret.tree()["data"] = json::object{{"token", "SldU"}};
  return secret;
}

void create_step(Offloading& world, std::string_view name, std::string_view secret) {
  kube::Object pod = kube::Object::make(resources::pods, {shop, std::string(name)});
  pod.mutable_spec() = json::object{
      {"nodeName", "milan"},
      {"containers", json::array{json::object{{"name", "main"}, {"image", "shop:1"}}}},
      {"volumes", json::array{json::object{{"name", "t"}, {"secret", json::object{{"secretName", secret}}}}}}};
  world.apply(resources::pods, pod);
}

}  // namespace

TEST_CASE("a pod that names a token made by hand is refused at once, until the Secret is annotated") {
  Offloading world;
  world.apply(resources::secrets, token_secret("executor"));
  create_step(world, "step", "executor");
  REQUIRE(world.reaches([&] { return !world.events("FailedReflection").empty(); }, 10s));
  CHECK(world.events("FailedReflection").front() ==
        "the pod is not sent to cluster milan: Secret executor holds a token of a service account of this cluster, and "
        "is copied only if it is annotated liqo.io/allow-reflection: annotate it, or mount a token by a projected "
        "volume (serviceAccountToken) instead");
  CHECK(world.condition("step", api::offloaded_condition, "reason") == "OffloadingRefused");
  world.pass(5min);
  CHECK(world.times_reported("FailedReflection") == 1);
  CHECK_FALSE(world.at_milan(kinds::shadow_pods, "step").has_value());
  // Others are not held up.
  create_step(world, "other", "plain");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "other").has_value(); }));

  world.change(resources::secrets, {shop, "executor"}, "", [](json::object& tree) {
    kube::ensure_object(kube::ensure_object(tree, "metadata"), "annotations")["liqo.io/allow-reflection"] = "true";
  });
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "step").has_value(); }, 2min));
  REQUIRE(world.reaches([&] { return world.at_milan(resources::secrets, "executor").has_value(); }, 2min));
  CHECK(kube::string_at(world.at_milan(resources::secrets, "executor")->tree(), {"type"}) == "Opaque");
  CHECK(world.reaches([&] { return world.events("TokenReflected").size() == 1; }));

  // The token does not stay there after its last pod.
  world.run_at_milan("step");
  (void)world.server.remove(resources::pods, {shop, "step"}, {}, "user");
  world.pass(5s);
  (void)world.milan.remove(resources::pods, {twin, "step"}, {.grace_period_seconds = 0}, "milan");
  REQUIRE(world.reaches([&] { return !world.local("step").has_value(); }, 1min));
  CHECK(world.reaches([&] { return !world.at_milan(resources::secrets, "executor").has_value(); }, 10s));
}

TEST_CASE("pods that need Secrets cost one list of a namespace together") {
  Offloading world;
  std::size_t lists = 0;
  world.reads = [&](kube::HttpRequest& request) {
    if (request.target.contains("service-account-token")) ++lists;
  };
  for (int i = 0; i < 8; ++i) create_step(world, "step-" + std::to_string(i), "plain");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "step-7").has_value(); }, 30s));
  world.pass(10s);
  create_step(world, "later", "plain");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "later").has_value(); }, 10s));
  CHECK(lists == 1);
}

TEST_CASE("a pod whose twin has a Secret of that name by others is sent") {
  Offloading world;
  world.apply(resources::secrets, token_secret("executor"));
  kube::Object theirs = kube::Object::make(resources::secrets, {twin, "executor"});
  REQUIRE(world.milan.create(resources::secrets, theirs.tree(), "admin"));
  create_step(world, "step", "executor");
  CHECK(world.reaches([&] { return world.at_milan(kinds::shadow_pods, "step").has_value(); }));
}

}  // namespace liqo::testing
