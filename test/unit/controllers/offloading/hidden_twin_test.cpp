// A pod is deleted whose twin namespace is in trouble and may not be read: it waits for a time, and its status says so.
#include "../offloading_fixture.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::testing {

using namespace std::chrono_literals;

TEST_CASE_FIXTURE(Offloading, "a pod waits five minutes for a twin that is refused for good, and says so once") {
  stop();
  // Bound while no liqod was running: the pod has no status of ours.
  create_pod("late");
  map_twin("CreationLoopBackOff");
  refuse = [](const kube::HttpRequest& request) {
    const bool is_in_twin = request.target.find("/namespaces/" + twin + "/") != std::string::npos;
    return is_in_twin ? std::string("no binding") : std::string();
  };
  (void)server.remove(resources::pods, {shop, "late"}, {}, "operator");
  start();
  pass(4min);
  REQUIRE(local("late"));
  REQUIRE(events(api::reasons::failed_deletion).size() == 1);
  CHECK(events(api::reasons::failed_deletion).front().contains("does not let this cluster look"));
  CHECK(times_reported(api::reasons::failed_deletion) == 1);
  CHECK(reaches([&] { return !local("late"); }, 10min));
}

}  // namespace liqo::testing
