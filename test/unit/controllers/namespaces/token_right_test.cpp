// The right to make tokens in an offloaded namespace, with all controllers of liqod over one fake API server.
#include "controllers/namespaces/token_right.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "../offloading_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

const kube::ObjectKey right{shop, "liqo-liqod-tokens"};

controllers::Settings without_tokens() {
  return {
      .offloading = {.api_server_mode = core::ApiServerMode::never, .audience_tokens = core::AudienceTokens::never}};
}

}  // namespace

TEST_CASE("liqod may make tokens in offloaded namespaces, as long as pods may have any") {
  Offloading world;
  REQUIRE(world.reaches([&] { return world.has(kinds::role_bindings, right); }));
  const auto binding = world.find(kinds::role_bindings, right);
  CHECK(kube::string_at(binding->tree(), {"roleRef", "name"}) == "liqo-liqod-tokens");
  CHECK(kube::string_at(binding->tree(), {"roleRef", "kind"}) == "ClusterRole");
  CHECK(kube::string_at(kube::array_at(binding->metadata(), {"ownerReferences"}).at(0), {"kind"}) ==
        "NamespaceOffloading");
  // Nothing is written again, and what somebody removes comes back.
  const auto writes = [&] {
    return std::ranges::count_if(world.server.writes(),
                                 [](const auto& write) { return write.plural == "rolebindings"; });
  };
  const auto before = writes();
  world.pass(2min);
  CHECK(writes() == before);
  (void)world.server.remove(kinds::role_bindings, right, {}, "user");
  CHECK(world.reaches([&] { return world.has(kinds::role_bindings, right); }));

  world.stop();
  world.start(without_tokens());
  CHECK(world.reaches([&] { return !world.has(kinds::role_bindings, right); }));
  world.stop();
  world.start({.offloading = {.api_server_mode = core::ApiServerMode::never}});
  CHECK(world.reaches([&] { return world.has(kinds::role_bindings, right); }));
}

TEST_CASE("where liqod may not bind the role, it is told once, and asked for again after an hour") {
  Offloading world({}, without_tokens());
  world.stop();
  bool is_refused = true;
  std::size_t asked = 0;
  world.refuses = [&](const kube::HttpRequest& request) {
    const bool is_ours = request.method == "POST" && request.body.contains(R"("name":"liqo-liqod-tokens")");
    if (is_ours) ++asked;
    return is_ours && is_refused ? "cannot bind" : "";
  };
  world.start();
  REQUIRE(world.reaches([&] { return !world.events("FailedSATokensReflection").empty(); }));
  CHECK(world.events("FailedSATokensReflection").front().contains("upgrade the installation with its chart"));
  CHECK(world.has(kinds::role_bindings, {shop, "liqo-liqod-offloaded"}));
  world.map_twin("Accepted");
  world.pass(30min);
  CHECK(asked == 1);
  is_refused = false;
  CHECK(world.reaches([&] { return world.has(kinds::role_bindings, right); }, 40min));
  CHECK(world.times_reported("FailedSATokensReflection") == 1);
}

}  // namespace liqo::testing
