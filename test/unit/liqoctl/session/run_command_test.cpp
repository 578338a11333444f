// How a command ends: one line that says why it failed, whatever happened while it waited.
#include "session/run_command.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

using namespace std::chrono_literals;

asio::awaitable<Result<void>> throw_later(Session& session) {
  auto cluster = co_await session.local();
  if (!cluster) co_return std::unexpected(std::move(cluster.error()));
  session.output().doing((*cluster)->scope(), "waiting for what never comes");
  co_await session.clock().sleep(5s);
  throw std::runtime_error("a sentence of what was thrown");
}

TEST_CASE("what a command throws across a wait ends in one line") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  const Done done = world.run(throw_later, rome);
  CHECK(done.code == exit_code::failed);
  CHECK(done.err == "ERRO: a sentence of what was thrown\n");
}

TEST_CASE("a terminal is cleared of the spinner before the line") {
  CommandWorld world;
  world.traits.moves_cursor = true;
  TestCluster rome(world, "rome");
  const Done done = world.run(throw_later, rome);
  CHECK(done.code == exit_code::failed);
  CHECK_MESSAGE(done.err.contains("rome waiting for what never comes 4s"), done.err);
  CHECK_MESSAGE(done.err.ends_with("\r\x1b[2K✖ a sentence of what was thrown\n"), done.err);
}

TEST_CASE("a connection that is lost while an answer is on its way ends in one line") {
  CommandWorld world;
  TestCluster milan(world, "milan");
  add_consumer_rome(milan);
  // The write is carried out, but its answer never comes.
  milan.server().store().on_change([&](const kube::testing::FakeChange&) { milan.link().refuse(); });
  const Done done = world.run("cordon tenant rome --skip-confirm", milan);
  CHECK(done.code == exit_code::failed);
  CHECK_MESSAGE(done.err.starts_with("ERRO: "), done.err);
  CHECK_MESSAGE(done.err.contains("/namespaces/liqo-tenant-rome/tenants/rome in milan: "), done.err);
  CHECK(done.err.find('\n') == done.err.size() - 1);
  CHECK(kube::string_at(milan.get(kinds::tenants, tenant_of_rome).spec(), {"tenantCondition"}) == "Cordoned");
}

TEST_CASE("a wait outlives connections that break") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  add_credentials_at_milan(rome);
  const std::string path = kinds::resource_slices.path(pool.ns, pool.name);
  const auto began = world.simulator().clock().now();
  rome.before_reading = [&](std::string_view read) {
    if (read != path || !rome.has(kinds::resource_slices, pool)) return;
    if (world.simulator().clock().now() - began < 5s) {
      rome.broken.insert(path);
    } else {
      rome.broken.clear();
      deny_pool(rome);
    }
  };
  const Done done = world.run("create resourceslice pool --remote-cluster-id milan", rome);
  CHECK(done.code == exit_code::failed);
  CHECK_MESSAGE(done.err.ends_with("ERRO: ResourceSlice pool: Resources denied: no room\n"), done.err);
}

}  // namespace
}  // namespace liqoctl::test
