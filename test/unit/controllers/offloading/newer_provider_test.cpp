// A provider whose Kubernetes is newer: fields of pods' status that the server at home does not know, and drops.
#include "../offloading_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;

/// Acts as an API server that does not know the field.
void prune(kube::HttpRequest& request) {
  if (request.resource != "pods" || !request.body.contains("fieldOfTomorrow")) return;
  json::value body = *kube::parse_json(request.body);
  for (json::value& status : body.as_object()["status"].as_object()["containerStatuses"].as_array())
    status.as_object().erase("fieldOfTomorrow");
  request.body = json::serialize(body);
}

struct Newer : Offloading {
  Newer() : Offloading(prune) {
    create_pod("web");
    run_at_milan("web");
    report("7", 0);
    REQUIRE(reaches([&] { return restarts() == 0; }));
    pass(10s);
  }
  void report(std::string_view field, std::int64_t restart_count) {
    change_at_milan("web", "status", [&](json::object& next) {
      next["status"].as_object()["containerStatuses"] = json::array{
          json::object{{"name", "main"}, {"ready", true}, {"restartCount", restart_count}, {"fieldOfTomorrow", field}}};
    });
  }
  std::int64_t restarts() {
    const auto pod = local("web");
    const auto& statuses = kube::array_at(pod->status(), {"containerStatuses"});
    return statuses.empty() ? -1 : kube::int_at(statuses.front(), {"restartCount"});
  }
  std::size_t status_writes() {
    std::size_t count = 0;
    for (const auto& write : server.writes())
      count += write.actor == link.actor() && write.plural == "pods" && write.subresource == "status";
    return count;
  }
};

}  // namespace

TEST_CASE("what the server at home drops is not sent again while neither side changes") {
  Newer world;
  const std::size_t before = world.status_writes();
  for (int i = 0; i < 20; ++i) {
    world.change_at_milan("web", "", [&](json::object& next) {
      kube::ensure_object(next["metadata"].as_object(), "annotations")["note"] = std::to_string(i);
    });
    world.pass(5s);
  }
  CHECK(world.status_writes() == before);
  // The field alone: it may be one that the server at home knows.
  world.report("8", 0);
  world.pass(1min);
  CHECK(world.status_writes() == before + 1);
}

TEST_CASE("what both sides know is told beside it, and put right") {
  Newer world;
  world.report("7", 1);
  CHECK(world.reaches([&] { return world.restarts() == 1; }));
  world.pass(10s);
  const std::size_t before = world.status_writes();
  world.change(resources::pods, {shop, "web"}, "status", [](json::object& next) {
    next["status"].as_object()["containerStatuses"].as_array()[0].as_object()["restartCount"] = 9;
  });
  REQUIRE(world.restarts() == 9);
  CHECK(world.reaches([&] { return world.restarts() == 1; }));
  world.pass(1min);
  CHECK(world.status_writes() == before + 1);
}

}  // namespace liqo::testing
