// The features that a Node declares, at a home that knows them and at one that does not.
#include <doctest/doctest.h>

#include "../offloading_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

std::string declared(Offloading& world) {
  const auto node = world.find(resources::nodes, {"", "milan"});
  return json::serialize(kube::array_at(node->status(), {"declaredFeatures"}));
}

void tell(Offloading& world, std::string_view feature) {
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "", [&](json::object& next) {
    next["spec"].as_object()["labels"] = json::object{{"features.liqo.io/" + std::string(feature), "true"}};
  });
}

/// How often liqod has written the status of the Node.
std::size_t status_writes(const Offloading& world) {
  std::size_t count = 0;
  for (const auto& write : world.server.writes())
    if (write.actor == world.link.actor() && write.plural == "nodes" && write.subresource == "status") ++count;
  return count;
}

/// Acts as a server that does not know the field.
void drop_features(kube::HttpRequest& request) {
  if (request.resource != "nodes" || request.body.find("declaredFeatures") == std::string::npos) return;
  auto body = kube::parse_json(request.body);
  REQUIRE(body.has_value());
  kube::ensure_object(body->as_object(), "status").erase("declaredFeatures");
  request.body = json::serialize(*body);
}

}  // namespace

TEST_CASE("a Node declares what its VirtualNode tells, and follows it") {
  Offloading world;
  CHECK(declared(world) == "[]");
  tell(world, "A");
  CHECK(world.reaches([&] { return declared(world) == R"(["A"])"; }));
  tell(world, "B");
  CHECK(world.reaches([&] { return declared(world) == R"(["B"])"; }));
  world.change(kinds::virtual_nodes, {tenant, "milan"}, "",
               [](json::object& next) { next["spec"].as_object().erase("labels"); });
  CHECK(world.reaches([&] { return declared(world) == "[]"; }));
}

TEST_CASE("a home that does not know declared features is not written to more often for them") {
  Offloading world(drop_features);
  tell(world, "A");
  CHECK(world.reaches(
      [&] { return world.find(resources::nodes, {"", "milan"})->label("features.liqo.io/A") == "true"; }));
  world.pass(10s);
  CHECK(declared(world) == "[]");
  const std::size_t before = status_writes(world);
  world.pass(1h);
  // Heartbeats are at least 175 s apart.
  CHECK(status_writes(world) - before <= 21);
}

}  // namespace liqo::testing
