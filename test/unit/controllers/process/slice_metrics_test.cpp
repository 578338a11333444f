// The metrics of slices: quantities are parsed when a slice changes, and never at a scrape.
#include "controllers/process/slice_metrics.hpp"

#include <doctest/doctest.h>

#include "kube/testing/one_cluster.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

namespace json = kube::json;
namespace kinds = api::kinds;
using namespace std::chrono_literals;

/// Cluster rome with slices.
struct Rome : kube::testing::OneCluster {
  SliceMetrics usage{informers, metrics};

  Rome()
      : kube::testing::OneCluster({.name = "rome",
                                   .actor = "liqo",
                                   .random = 2,
                                   .on_failure = kube::async::TaskGroup::OnFailure::keep_others}) {
    server.serve(kinds::resource_slices);
    group.spawn(informers.run());
    pass();
  }
  ~Rome() { stop(); }
  void pass() { CHECK(simulator.run_for(1s) == kube::testing::Simulator::End::reached); }

  void ask(const kube::ObjectKey& key, std::string_view cluster, std::string_view cpu) {
    kube::Object slice = kube::Object::make(kinds::resource_slices, key);
    slice.set_label(api::labels::remote_cluster_id, cluster);
    slice.mutable_spec()["resources"] = json::object{{"cpu", cpu}};
    REQUIRE(server.create(kinds::resource_slices, slice.tree(), "user"));
    pass();
  }
  void grant(const kube::ObjectKey& key, std::string_view cpu, std::string_view foreign = "") {
    REQUIRE(server.update(
        {kinds::resource_slices, key, "status"},
        [&](json::object& next) {
          json::object resources{{"cpu", cpu}};
          if (!foreign.empty()) resources[foreign] = "1";
          next["status"] =
              json::object{{"resources", std::move(resources)},
                           {"conditions", json::array{json::object{{"type", "Resources"}, {"status", "Accepted"}}}}};
        },
        "milan"));
    pass();
  }
  bool shows(const std::string& line) const { return metrics.text().contains(line); }
};

const kube::ObjectKey pool{"liqo-tenant-milan", "pool"};

}  // namespace

TEST_CASE_FIXTURE(Rome, "a scrape reads no slice, and a slice that changes is read once") {
  usage.show(true);
  ask(pool, "milan", "4");
  ask({"liqo-tenant-turin", "other"}, "turin", "8");
  CHECK(usage.reads() == 2);
  CHECK(shows(R"(liqo_slice_requested{cluster_id="milan",resource="cpu",slice="pool"} 4)"));
  CHECK(shows(R"(liqo_slice_accepted{cluster_id="milan",slice="pool"} 0)"));
  CHECK_FALSE(shows("liqo_slice_granted{"));
  grant(pool, "1500m", "evil.example/name");
  CHECK(usage.reads() == 3);
  CHECK(shows(R"(liqo_slice_granted{cluster_id="milan",resource="cpu",slice="pool"} 1.5)"));
  CHECK(shows(R"(liqo_slice_accepted{cluster_id="milan",slice="pool"} 1)"));
  CHECK_FALSE(shows("evil"));
  for (int scrape = 0; scrape < 100; ++scrape) usage.show(true);
  CHECK(usage.reads() == 3);
}

TEST_CASE_FIXTURE(Rome, "only a leader shows figures, of what has changed before it led too") {
  ask(pool, "milan", "4");
  CHECK_FALSE(shows("liqo_slice_requested{"));
  grant(pool, "2");
  usage.show(true);
  CHECK(shows(R"(liqo_slice_granted{cluster_id="milan",resource="cpu",slice="pool"} 2)"));
  usage.show(false);
  CHECK_FALSE(shows("liqo_slice_requested{"));
  CHECK_FALSE(shows("liqo_slice_granted{"));
  CHECK_FALSE(shows("liqo_slice_accepted{"));
}

TEST_CASE_FIXTURE(Rome, "the figures of a slice go with it, and a namesake of the same cluster keeps its own") {
  usage.show(true);
  const kube::ObjectKey namesake{"liqo-tenant-milan-2", "pool"};
  ask(pool, "milan", "4");
  ask(namesake, "milan", "6");
  REQUIRE(server.remove(kinds::resource_slices, namesake, {}, "user"));
  pass();
  CHECK(shows(R"(liqo_slice_requested{cluster_id="milan",resource="cpu",slice="pool"} 4)"));
  REQUIRE(server.update(
      {kinds::resource_slices, pool}, [](json::object& next) { kube::ensure_object(next, "spec").erase("resources"); },
      "user"));
  pass();
  CHECK_FALSE(shows("liqo_slice_requested{"));
  CHECK(shows(R"(liqo_slice_accepted{cluster_id="milan",slice="pool"} 0)"));
  REQUIRE(server.remove(kinds::resource_slices, pool, {}, "user"));
  pass();
  CHECK_FALSE(shows("liqo_slice_accepted{"));
}

}  // namespace liqo::controllers
