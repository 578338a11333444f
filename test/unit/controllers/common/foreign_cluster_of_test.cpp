#include "controllers/common/foreign_cluster_of.hpp"

#include <doctest/doctest.h>

#include "kube/runtime/store.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

void add(kube::Store& store, const std::string& name, std::string_view cluster, std::string_view created,
         bool lost = false) {
  kube::Object made = kube::Object::make(api::kinds::foreign_clusters, {"", name});
  made.mutable_metadata()["creationTimestamp"] = created;
  made.mutable_metadata()["resourceVersion"] = std::to_string(store.size() + 1);
  made.mutable_spec()["clusterID"] = cluster;
  if (lost) made.set_annotation(api::annotations::permanently_unreachable, "true");
  static_cast<void>(store.put(made));
}

}  // namespace

TEST_CASE("of several ForeignClusters for one cluster the oldest counts") {
  kube::Store store;
  store.add_index(std::string(foreign_clusters_by_id), index_foreign_cluster);
  add(store, "turin", "turin", "2023-01-01T00:00:00Z");
  CHECK_FALSE(foreign_cluster_of(store, "milan").has_value());
  add(store, "a-copy", "milan", "2024-01-02T00:00:00Z");
  add(store, "milan", "milan", "2024-01-01T00:00:00Z");
  const auto found = foreign_cluster_of(store, "milan");
  REQUIRE(found.has_value());
  CHECK(found->name() == "milan");
}

TEST_CASE("a cluster is lost if any of its ForeignClusters says so") {
  kube::Store store;
  store.add_index(std::string(foreign_clusters_by_id), index_foreign_cluster);
  CHECK_FALSE(is_lost(store, "milan"));
  add(store, "turin", "turin", "2023-01-01T00:00:00Z", true);
  add(store, "milan", "milan", "2024-01-01T00:00:00Z");
  CHECK_FALSE(is_lost(store, "milan"));
  CHECK(is_lost(store, "turin"));
  add(store, "z-copy", "milan", "2024-01-02T00:00:00Z", true);
  CHECK(is_lost(store, "milan"));
}

}  // namespace liqo::controllers
