// The facts about a cluster that the liqoctl of its peers can read.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/peering/forge.hpp"

namespace liqo::testing {
namespace {

namespace resources = kube::resources;

/// The published ranges of pods a minute after the start, with that configuration and with that value published before.
std::string told(std::string_view before, std::string configured) {
  ClusterFixture milan("milan");
  const kube::ObjectKey key{"liqo", "liqo-clusterid-configmap"};
  if (before != "(none)") milan.apply(resources::config_maps, core::forge_cluster_id("liqo", "milan", before));
  controllers::Settings settings;
  settings.peering.pod_cidrs = std::move(configured);
  milan.start(std::move(settings));
  milan.pass(std::chrono::minutes(1));
  const auto found = milan.find(resources::config_maps, key);
  REQUIRE(found);
  CHECK(kube::string_at(found->tree(), {"data", "CLUSTER_ID"}) == "milan");
  milan.stop();
  return std::string(kube::string_at(found->tree(), {"data", "POD_CIDRS"}));
}

TEST_CASE("peers are told the ranges of pods that are configured, and what a person wrote where none are") {
  CHECK(told("(none)", "") == "");
  CHECK(told("(none)", "10.2.0.0/16") == "10.2.0.0/16");
  CHECK(told("", "10.2.0.0/16") == "10.2.0.0/16");
  CHECK(told("10.3.0.0/16", "10.2.0.0/16, fd00:2::/64") == "10.2.0.0/16, fd00:2::/64");
  CHECK(told("10.3.0.0/16", "") == "10.3.0.0/16");
}

}  // namespace
}  // namespace liqo::testing
