// liqoctl get and describe.
#include <doctest/doctest.h>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

TEST_CASE("who names no peer is told which there are") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  add_credentials_at_milan(rome);
  add_peer(rome, "milan");
  for (const char* verb : {"get", "describe"}) {
    CAPTURE(verb);
    const Done wrong = world.run(std::string(verb) + " rs --remote-cluster-id milano", rome);
    CHECK(wrong.code == 1);
    CHECK(wrong.err == "ERRO: milano is not a peer: the peers are milan\n");
  }
  const Done right = world.run("get rs --remote-cluster-id milan", rome);
  CHECK(right.code == 0);
  CHECK(right.err == "INFO: there are no resource slices\n");
}

TEST_CASE("who misspells a consumer is told which peers there are") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  add_consumer_rome(milan);
  add_peer(milan, "rome");
  for (const char* command : {"get refusals", "cordon resourceslice milan", "create resourceslice pool"}) {
    CAPTURE(command);
    const Done wrong = world.run(std::string(command) + " --remote-cluster-id rom", milan);
    CHECK(wrong.code == 1);
    CHECK(wrong.err == "ERRO: rom is not a peer: the peers are rome\n");
  }
}

TEST_CASE("quotas of a consumer are those in its tenant namespace") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  add_consumer_rome(milan);
  milan.add_tenant_namespace("turin");
  for (const std::string consumer : {"rome", "turin"}) {
    add_peer(milan, consumer);
    // They have no label of their consumer.
    milan.add(kinds::quotas, {"liqo-tenant-" + consumer, "of-" + consumer}, R"({"spec": {"resources": {"cpu": "2"}}})");
  }
  for (const char* verb : {"get", "describe"}) {
    CAPTURE(verb);
    const Done one = world.run(std::string(verb) + " quota --remote-cluster-id rome", milan);
    CHECK_MESSAGE(one.out.contains("of-rome"), one.err);
    CHECK_FALSE(one.out.contains("of-turin"));
  }
  const Done elsewhere = world.run("get quota --remote-cluster-id rome --namespace liqo-tenant-turin", milan);
  CHECK(elsewhere.err == "INFO: there are no quotas\n");
  const Done both = world.run("get quota", milan);
  CHECK(both.out.contains("of-rome"));
  CHECK(both.out.contains("of-turin"));
  const Done stranger = world.run("get quota --remote-cluster-id rom", milan);
  CHECK(stranger.code == 1);
  CHECK(stranger.err == "ERRO: rom is not a peer: the peers are rome, turin\n");
  // A namespace is offloaded to several peers.
  CHECK(world.run("get offloading --remote-cluster-id rome", milan).code == 2);
}

TEST_CASE("what is described is whole and a document") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  add_credentials_at_milan(rome);
  const std::string message = std::string(600, 'm') + " end";
  add_pool(rome, R"({"status": {"conditions": [{"type": "Resources", "status": "Denied", "message": ")" + message +
                     R"("}]}})");
  rome.add(resources::events, {pool.ns, "one"},
           R"({"reason": "Denied", "involvedObject": {"kind": "ResourceSlice", "name": "pool"}, "message": ")" +
               message + R"("})");
  const Done told = world.run("describe rs pool", rome);
  CHECK(told.code == 0);
  const std::size_t first = told.out.find(message);
  REQUIRE_MESSAGE(first != std::string::npos, told.out);
  const std::size_t second = told.out.find(message, first + 1);
  CHECK(second != std::string::npos);
  CHECK(told.out.find(message, second + 1) == std::string::npos);
  const kube::json::value document = parsed(world.run("describe rs pool -o json", rome).out);
  CHECK(kube::object_at(document, {"object", "status"}) == rome.get(kinds::resource_slices, pool).status());
  const auto& events = kube::array_at(document, {"events"});
  REQUIRE(events.size() == 1);
  CHECK(kube::string_at(events.front(), {"message"}) == message);
}

}  // namespace
}  // namespace liqoctl::test
