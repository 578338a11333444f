// liqoctl create resourceslice: the request, and the provider's answer.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

const std::string path_of_pool = kinds::resource_slices.path(pool.ns, pool.name);

struct Consumer {
  CommandWorld world;
  TestCluster rome{world, "rome"};
  Consumer() { add_credentials_at_milan(rome); }

  Done create(const std::string& flags) {
    return world.run("create resourceslice pool --remote-cluster-id milan " + flags, rome);
  }
};

TEST_CASE("a slice that nobody would carry is not made") {
  // If peering was interrupted, the tenant namespace exists, but no credentials at the provider.
  CommandWorld world;
  TestCluster rome(world, "rome");
  rome.add_tenant_namespace("milan");
  const Done done = world.run("create resourceslice early --remote-cluster-id milan --cpu 1 --timeout 5s", rome);
  CHECK(done.code == 1);
  CHECK(done.err ==
        "ERRO: cluster rome has no credentials at milan yet: run liqoctl peer, which goes on where it was "
        "interrupted\n");
  CHECK_FALSE(rome.has(kinds::resource_slices, {pool.ns, "early"}));
  CHECK(rome.writes() == 0);
}

TEST_CASE("a denial of the request before is no answer to this one") {
  // The provider decides the earlier request once more, because its policy has changed, and then this one.
  Consumer consumer;
  TestCluster& rome = consumer.rome;
  add_pool(rome, R"({"spec": {"class": "default", "providerClusterID": "milan", "resources": {"cpu": "2"}}})");
  deny_pool(rome);
  int looked = 0;
  rome.before_reading = [&](std::string_view path) {
    if (path != path_of_pool ||
        kube::string_at(rome.get(kinds::resource_slices, pool).spec(), {"resources", "cpu"}) != "1")
      return;
    const bool is_decided = ++looked > 8;
    rome.change(kinds::resource_slices, pool,
                is_decided ? R"({"status": {"resources": {"cpu": "1"}, "conditions": [
                                 {"type": "Authentication", "status": "Accepted"},
                                 {"type": "Resources", "status": "Accepted"}]}})"
                           : R"({"status": {"conditions": [
                                 {"type": "Resources", "status": "Denied", "message": "this one would have 2"}]}})");
  };
  const Done done = consumer.create("--cpu 1 --timeout 30s");
  CHECK(done.code == 0);
  CHECK_MESSAGE(done.err.contains("INFO: rome: ResourceSlice pool accepted, granted cpu 1\n"), done.err);
  // The amounts were not compared with the provider's nodes.
  CHECK_MESSAGE(done.err.ends_with("INFO: rome: whether the nodes of milan have that much is not shown here: pods that "
                                   "find no room there stay Pending\n"),
                done.err);
}

TEST_CASE("amounts that are not named stay") {
  Consumer consumer;
  TestCluster& rome = consumer.rome;
  const std::string node = "liqo.io/create-virtual-node";
  add_pool(rome, R"({"spec": {"class": "share", "resources": {"cpu": "2", "memory": "4Gi"}},
                     "metadata": {"annotations": {"liqo.io/create-virtual-node": "false"}}})");
  const auto annotations = [&] { return kube::json::object(rome.get(kinds::resource_slices, pool).annotations()); };
  const auto spec = [&] { return kube::json::object(rome.get(kinds::resource_slices, pool).spec()); };

  Done done = consumer.create("--cpu 3 --wait=false");
  CHECK(kube::object_at(spec(), {"resources"}) == parsed(R"({"cpu": "3", "memory": "4Gi"})").as_object());
  CHECK(kube::string_at(spec(), {"class"}) == "share");
  CHECK_MESSAGE(done.err.ends_with("ResourceSlice pool updated: cpu 2 → 3, memory 4Gi\n"), done.err);
  CHECK(annotations() == kube::json::object{{node, "false"}});  // it was created without one

  done = consumer.create("--class default --wait=false");
  CHECK_MESSAGE(done.err.ends_with("cpu 3, memory 4Gi, class share → default\n"), done.err);
  consumer.create("--no-virtual-node=false --wait=false");
  CHECK(annotations() == kube::json::object{{node, "true"}});
  CHECK(kube::object_at(spec(), {"resources"}) == parsed(R"({"cpu": "3", "memory": "4Gi"})").as_object());
}

TEST_CASE("a denial says no more than its reason") {
  Consumer consumer;
  consumer.rome.before_reading = [&](std::string_view path) {
    if (path == path_of_pool && consumer.rome.has(kinds::resource_slices, pool)) deny_pool(consumer.rome);
  };
  const Done done = consumer.create("--timeout 90s");
  CHECK(done.code == 1);
  CHECK(done.err ==
        "INFO: rome: ResourceSlice pool created, asking for what the provider gives by default\n"
        "ERRO: ResourceSlice pool: Resources denied: no room\n");
}

TEST_CASE("a slice is printed, or would be made, and nothing is written") {
  Consumer consumer;
  const Done printed = consumer.create("--cpu 1 -o json");
  CHECK(printed.code == 0);
  CHECK(kube::string_at(parsed(printed.out), {"spec", "resources", "cpu"}) == "1");
  const Done dry = consumer.create("--cpu 1 --dry-run");
  CHECK(dry.code == 0);
  CHECK_MESSAGE(dry.err.starts_with("INFO: rome: would create ResourceSlice liqo-tenant-milan/pool\n"), dry.err);
  CHECK(consumer.rome.writes() == 0);
}

TEST_CASE("an accepted slice is told with what was granted, and deleted when it has gone") {
  Consumer consumer;
  TestCluster& rome = consumer.rome;
  rome.before_reading = [&](std::string_view path) {
    if (path == path_of_pool && rome.has(kinds::resource_slices, pool))
      rome.change(kinds::resource_slices, pool,
                  R"({"status": {"resources": {"cpu": "4"}, "conditions": [
                     {"type": "Authentication", "status": "Accepted"}, {"type": "Resources", "status": "Accepted"}]}})");
  };
  const Done made = consumer.create("--cpu 4");
  CHECK(made.code == 0);
  CHECK_MESSAGE(made.err.contains("INFO: rome: ResourceSlice pool created, asking for cpu 4\n"
                                  "INFO: rome: ResourceSlice pool accepted, granted cpu 4\n"),
                made.err);
  const Done gone = consumer.world.run("delete resourceslice pool --skip-confirm", rome);
  CHECK(gone.code == 0);
  CHECK(gone.err == "INFO: rome: ResourceSlice pool deleted\n");
  CHECK_FALSE(rome.has(kinds::resource_slices, pool));
}

}  // namespace
}  // namespace liqoctl::test
