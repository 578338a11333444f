// A cluster in which liqoctl has installed Liqo, and liqod runs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "peered_clusters.hpp"

namespace liqoctl::test {

inline constexpr const char* image = "image.repository=localhost/liqo/liqod";
inline const kube::ObjectKey given_values{"liqo", "liqo-given-values"};

struct InstalledCluster {
  CommandWorld world;
  TestCluster rome{world, "rome"};

  /// Installs it with these values ("replicas=3").
  explicit InstalledCluster(const std::vector<std::string>& values = {}) {
    rome.remove(resources::config_maps, cluster_id);
    // An API server serves a kind a moment after its CRD was written.
    rome.before_reading = [this](std::string_view path) {
      const std::string definitions = kinds::custom_resource_definitions.path("") + "/";
      const kube::ObjectKey key{"", std::string(path.substr(std::min(path.size(), definitions.size())))};
      if (path.starts_with(definitions) && rome.has(kinds::custom_resource_definitions, key))
        rome.change(kinds::custom_resource_definitions, key,
                    R"({"status": {"conditions": [{"type": "Established", "status": "True"}]}})");
    };
    std::string words = std::string("install --wait=false --cluster-id rome --set ") + image;
    for (const std::string& value : values) words += " --set " + value;
    const Done done = run(words);
    REQUIRE_MESSAGE(done.code == 0, done.err);
    rome.before_reading = nullptr;
    const std::string replicas =
        std::to_string(kube::int_at(rome.get(kinds::deployments, deployment_of_liqod).spec(), {"replicas"}));
    rome.change(kinds::deployments, deployment_of_liqod,
                R"({"status": {"observedGeneration": 1000, "updatedReplicas": )" + replicas +
                    R"(, "availableReplicas": )" + replicas + R"(, "replicas": )" + replicas + "}}");
    rome.add_id();
  }

  Done run(const std::string& words) { return world.run(words, rome); }
  /// The version of the whole store.
  std::uint64_t version() { return rome.server().store().version(); }
};

}  // namespace liqoctl::test
