#include "controllers/common/configurations_of.hpp"

#include <doctest/doctest.h>

#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

void add(kube::Store& store, const kube::ObjectKey& key, std::string_view cluster) {
  kube::Object made = kube::Object::make(api::kinds::configurations, key);
  made.mutable_metadata()["resourceVersion"] = std::to_string(store.size() + 1);
  if (!cluster.empty()) made.set_label(api::labels::remote_cluster_id, cluster);
  static_cast<void>(store.put(made));
}

}  // namespace

TEST_CASE("the Configurations of a peer are those in its tenant namespace that name it") {
  kube::Store store;
  add(store, {"liqo-tenant-rome", "a"}, "rome");
  add(store, {"liqo-tenant-rome", "b"}, "rome");
  add(store, {"liqo-tenant-rome", "of-turin"}, "turin");
  add(store, {"liqo-tenant-rome", "of-nobody"}, "");
  add(store, {"shop", "a"}, "rome");
  const auto found = configurations_of(store, "liqo-tenant-rome", "rome");
  REQUIRE(found.size() == 2);
  CHECK(found[0].name() == "a");
  CHECK(found[1].name() == "b");
}

TEST_CASE("a cluster without a tenant namespace has no Configurations") {
  kube::Store store;
  add(store, {"liqo-tenant-rome", "a"}, "rome");
  CHECK(configurations_of(store, "", "rome").empty());
  CHECK(configurations_of(store, "", "").empty());
}

}  // namespace liqo::controllers
