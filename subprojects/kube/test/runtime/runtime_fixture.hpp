// A fake API server behind a simulated network, and a client of it, for the tests of the runtime.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "kube/async/task_group.hpp"
#include "kube/client/api.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"

namespace kube::testing {

inline constexpr Resource widgets{"example.io", "v1", "widgets", "Widget"};

/// What is spawned in `group` is stopped at the end.
struct RuntimeFixture {
  explicit RuntimeFixture(std::uint64_t seed = 1) : simulator(seed), random(seed + 1) { server.serve(widgets); }
  ~RuntimeFixture() { simulator.run(group.stop()); }

  void create(const std::string& name, json::object spec = {}, const std::string& ns = "d", json::object labels = {}) {
    REQUIRE(server.create(widgets,
                          {{"metadata", json::object{{"name", name}, {"namespace", ns}, {"labels", std::move(labels)}}},
                           {"spec", std::move(spec)}},
                          "user"));
  }
  void set(const std::string& name, std::int64_t size) {
    REQUIRE(server.update(
        {widgets, {"d", name}}, [&](json::object& tree) { ensure_object(tree, "spec")["size"] = size; }, "user"));
  }
  void remove(const std::string& name) { REQUIRE(server.remove(widgets, {"d", name}, {}, "user")); }
  bool reaches(const std::function<bool()>& holds, Duration limit = std::chrono::minutes(2)) {
    return simulator.run_until(holds, limit) == Simulator::End::reached;
  }
  void pass(Duration time) { REQUIRE(simulator.run_for(time) == Simulator::End::reached); }
  bool metrics_have(const std::string& line) const { return metrics.text().find(line) != std::string::npos; }

  Simulator simulator;
  FakeApiServer server{simulator.clock()};
  SimLink link{simulator, server, "client"};
  SimTransport transport{link};
  Random random;
  Metrics metrics;
  Api api{transport, simulator.clock(), random, metrics, {.cluster = "milan"}};
  async::TaskGroup group{simulator.executor(), async::TaskGroup::OnFailure::keep_others};
};

}  // namespace kube::testing
