// A fake API server behind a simulated network, and a client of it, for the tests of the runtime.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "kube/testing/simulated_cluster.hpp"

namespace kube::testing {

inline constexpr Resource widgets{"example.io", "v1", "widgets", "Widget"};

/// What is spawned in `group` is stopped at the end.
struct RuntimeFixture : SimulatedCluster {
  explicit RuntimeFixture(std::uint64_t seed = 1)
      : SimulatedCluster({.seed = seed, .random = seed + 1, .on_failure = async::TaskGroup::OnFailure::keep_others}) {
    server.serve(widgets);
  }
  ~RuntimeFixture() { stop(); }

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
    return SimulatedCluster::reaches(holds, limit);
  }
  void pass(Duration time) { REQUIRE(simulator.run_for(time) == Simulator::End::reached); }
  bool metrics_have(const std::string& line) const { return metrics.text().find(line) != std::string::npos; }
};

}  // namespace kube::testing
