// Writes that a server carries out for a leader that leads no longer: the fence of a client cannot call back what is
// under way.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "kube/runtime/manager.hpp"
#include "runtime_fixture.hpp"

using namespace kube;
using namespace kube::testing;
using namespace std::chrono_literals;

namespace {

const ObjectKey state{"d", "state"};

/// A process that writes its name into one ConfigMap, again and again, while it leads.
class Writer {
 public:
  Writer(Simulator& simulator, FakeApiServer& server, std::string name, bool names_version)
      : simulator_(simulator), link(simulator, server, name), name_(name), names_version_(names_version) {
    manager_.emplace(Environment{simulator.executor(), simulator.clock(), simulator.random(), metrics_}, transport_,
                     ManagerSettings{.cluster = "milan",
                                     .source = {},
                                     .election = LeaderElectionSettings{.lease = {"d", "writer"}, .identity = name}});
    manager_->add([this] { return work(); });
    group_.spawn(manager_->run());
  }
  ~Writer() { simulator_.run(group_.stop()); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool leads() { return manager_->leadership().may_write(); }

 private:
  asio::awaitable<void> work() {
    while (true) {
      co_await write();
      co_await simulator_.clock().sleep(1ms);
    }
  }
  asio::awaitable<void> write() {
    Api& api = manager_->api();
    json::object patch{{"data", json::object{{"by", name_}}}};
    if (names_version_) {
      const auto read = co_await api.get(resources::config_maps, state);
      if (!read) co_return;
      patch["metadata"] = json::object{{"resourceVersion", read->resource_version()}};
    }
    const auto written = co_await api.patch(resources::config_maps, state, {PatchType::merge, json::serialize(patch)});
    static_cast<void>(written);
  }

  Simulator& simulator_;

 public:
  SimLink link;

 private:
  SimTransport transport_{link};
  Metrics metrics_;
  std::string name_;
  bool names_version_;
  std::optional<Manager> manager_;
  async::TaskGroup group_{simulator_.executor(), async::TaskGroup::OnFailure::keep_others};
};

/// The network of the leader goes while it writes, and comes back soon after another one leads. Returns how many of its
/// writes were carried out since then.
int late_writes(std::uint64_t seed, bool names_version) {
  Simulator simulator(seed);
  FakeApiServer server(simulator.clock());
  json::object map{{"metadata", json::object{{"name", state.name}, {"namespace", state.ns}}}};
  REQUIRE(server.create(resources::config_maps, std::move(map), "test").has_value());
  Writer one(simulator, server, "one", names_version);
  REQUIRE(simulator.run_until([&] { return one.leads(); }, 1min) == Simulator::End::reached);
  Writer two(simulator, server, "two", names_version);
  REQUIRE(simulator.run_for(300ms) == Simulator::End::reached);
  one.link.partition();
  REQUIRE(simulator.run_until([&] { return two.leads(); }, 1min) == Simulator::End::reached);
  const TimePoint two_leads = simulator.clock().now();
  REQUIRE(simulator.run_for(200ms) == Simulator::End::reached);
  one.link.heal();
  REQUIRE(simulator.run_for(1s) == Simulator::End::reached);
  return static_cast<int>(std::ranges::count_if(server.writes(), [&](const FakeWrite& write) {
    return write.actor == "one" && write.plural == "configmaps" && write.code == 200 && write.at > two_leads;
  }));
}

}  // namespace

TEST_CASE(
    "a write that was under way may be carried out late, and never where it names the version it was decided from") {
  int plain = 0, with_version = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    plain += late_writes(seed, false);
    with_version += late_writes(seed, true);
  }
  CHECK(plain > 0);
  CHECK(with_version == 0);
}
