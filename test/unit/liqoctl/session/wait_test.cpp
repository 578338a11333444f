// The lines of a wait: what is missing, and what causes it.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "../peered_clusters.hpp"

namespace liqoctl::test {
namespace {

using namespace std::chrono_literals;

const std::string path_of_pool = kinds::resource_slices.path(pool.ns, pool.name);
const std::string events_about_pool = resources::events.path(pool.ns);

struct Consumer {
  CommandWorld world;
  TestCluster rome{world, "rome"};
  Consumer() { add_credentials_at_milan(rome); }

  /// Waits for milan to answer, and is done once it denies.
  Done ask(const std::string& flags = "--timeout 90s") {
    return world.run("create resourceslice pool --remote-cluster-id milan " + flags, rome);
  }
  void deny_at(std::string_view path, std::string_view read) {
    if (read == path && rome.has(kinds::resource_slices, pool)) deny_pool(rome);
  }
  /// Adds a Warning about the slice that was written at that time.
  void warn(kube::WallTime at, const std::string& message) {
    rome.add(resources::events, {pool.ns, "one"},
             R"({"type": "Warning", "message": ")" + message + R"(", "lastTimestamp": ")" + kube::format_time(at) +
                 R"(", "involvedObject": {"kind": "ResourceSlice", "name": "pool", "uid": ")" +
                 std::string(rome.get(kinds::resource_slices, pool).uid()) + R"("}})");
  }
  kube::async::Clock& clock() { return world.simulator().clock(); }
};

constexpr const char* denied = "ERRO: ResourceSlice pool: Resources denied: no room\n";

TEST_CASE("who waits is told what liqod has warned of") {
  Consumer consumer;
  consumer.rome.before_reading = [&](std::string_view path) {
    if (path != events_about_pool) return;
    consumer.warn(consumer.clock().wall(), "milan is away");
    deny_pool(consumer.rome);
  };
  const Done done = consumer.ask();
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("WARN: rome: liqod says: milan is away\n"), done.err);
  CHECK_MESSAGE(done.err.ends_with(denied), done.err);
}

TEST_CASE("what liqod has warned of before is not told to who waits now") {
  Consumer consumer;
  consumer.rome.before_reading = [&](std::string_view path) {
    if (path != events_about_pool) return;
    consumer.warn(consumer.clock().wall() - 1min, "milan denies it");
    deny_pool(consumer.rome);
  };
  const Done done = consumer.ask();
  CHECK_FALSE(done.err.contains("liqod says"));
  CHECK_MESSAGE(done.err.ends_with(denied), done.err);
}

TEST_CASE("who waits in vain is told that liqod of this cluster does not run") {
  Consumer consumer;
  stop_liqod(consumer.rome);
  silence_milan(consumer.rome);  // it is not the cause
  const Done done = consumer.ask("--timeout 4s");
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains(std::string("WARN: rome: liqod of this cluster (rome) ") + no_liqod + "\n"),
                done.err);
  CHECK_MESSAGE(done.err.ends_with(std::string(" (liqod of this cluster (rome) ") + no_liqod + ")\n"), done.err);
  const Done shown = consumer.world.run("info", consumer.rome);
  CHECK_MESSAGE(shown.out.contains(std::string("✖  liqod ") + no_liqod), shown.out);
}

TEST_CASE("who waits for a provider is told that it does not answer") {
  Consumer consumer;
  silence_milan(consumer.rome);
  consumer.rome.before_reading = [&](std::string_view path) {
    consumer.deny_at(kinds::foreign_clusters.path(""), path);
  };
  const Done done = consumer.ask();
  CHECK_MESSAGE(done.err.contains("WARN: rome: milan does not answer since 2026-01-01T06:28:52Z\n"), done.err);
  CHECK_MESSAGE(done.err.ends_with(denied), done.err);
}

TEST_CASE("events that are never told to their end hold up nobody") {
  Consumer consumer;
  consumer.rome.endless.insert(events_about_pool);
  consumer.rome.before_reading = [&](std::string_view path) { consumer.deny_at(events_about_pool, path); };
  const auto began = consumer.clock().now();
  const Done done = consumer.ask();
  CHECK_MESSAGE(done.err.ends_with(denied), done.err);
  CHECK(consumer.clock().now() - began < 10s);
}

TEST_CASE("who cannot look does not ask for events") {
  Consumer consumer;
  std::vector<kube::TimePoint> looked;
  consumer.rome.before_reading = [&](std::string_view path) {
    if (path != path_of_pool || !consumer.rome.has(kinds::resource_slices, pool)) return;
    looked.push_back(consumer.clock().now());
    // Longer than the time before the reason is first looked for.
    if (looked.back() - looked.front() < 3s) {
      consumer.rome.broken.insert(path_of_pool);
    } else {
      consumer.rome.broken.clear();
    }
    deny_pool(consumer.rome);
  };
  const Done done = consumer.ask();
  CHECK_MESSAGE(done.err.ends_with(denied), done.err);
  CHECK(looked.size() > 1);
  CHECK(std::ranges::find(consumer.rome.asked, events_about_pool) == consumer.rome.asked.end());
}

TEST_CASE("what is waited for is told every ten seconds, and at the end") {
  Consumer consumer;
  const Done done = consumer.ask("--timeout 25s");
  CHECK(done.code == 1);
  const std::string waiting = "waiting for the provider to answer to ResourceSlice pool after ";
  for (const char* passed : {"1[01]s", "2[01]s"})
    CHECK_MESSAGE(has_line(done.err, "INFO: rome: still " + waiting + passed + ": the provider has not answered$"),
                  done.err);
  CHECK_MESSAGE(has_line(done.err, "ERRO: gave up " + waiting + "2[45]s; last seen: the provider has not answered$"),
                done.err);
}

}  // namespace
}  // namespace liqoctl::test
