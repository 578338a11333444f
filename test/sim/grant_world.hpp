// A provider whose policy bounds a consumer as a whole: two replicas with ledgers and controllers, slices that come, go
// and change, and pods that end slowly.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/common/settings.hpp"
#include "invariants.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/fake/garbage_collector.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "quota/quota_ledger.hpp"

namespace liqo::sim {

namespace asio = boost::asio;
namespace json = boost::json;

/// One schedule of slices, pods, restarts and faults. The seed decides everything.
class GrantWorld {
 public:
  explicit GrantWorld(std::uint64_t seed);
  ~GrantWorld();

  /// Runs the schedule and returns what went wrong.
  std::vector<Violation> run();
  std::size_t granted() const { return granted_; }
  std::size_t admitted() const { return admitted_; }

 private:
  struct Replica;
  struct Call;
  class Lead;

  void set_up();
  void start(std::size_t number);
  asio::awaitable<void> stop(std::size_t number, bool killed);
  /// Makes a running replica lead if none does.
  asio::awaitable<void> elect();
  asio::awaitable<void> play();
  asio::awaitable<void> change_slices();
  void change_slice();
  asio::awaitable<void> ask_for_pods();
  asio::awaitable<void> ask(std::string slice, std::int64_t cores);
  asio::awaitable<core::QuotaVerdict> call(std::size_t number, json::object shadow);
  /// Acts as kubelets, and as consumers on their pods.
  asio::awaitable<void> live();
  asio::awaitable<void> break_things();
  /// Checks, once all is well, that pods which the provider ends do so in time, and that freed resources are granted
  /// again at once.
  asio::awaitable<void> finish();
  void set_tenant(std::string_view condition);
  void add_slice(const std::string& name, std::int64_t cores);
  json::object forge_shadow(const std::string& user, std::int64_t cores);
  void see_change(const kube::testing::FakeChange& change);
  void see_request(const kube::HttpRequest& request);
  /// The cores that pods of each user hold: stored, or admitted and not stored yet.
  std::map<std::string, std::int64_t> held();
  /// The sum over all users of what each may have or holds, whichever is more.
  std::int64_t taken();
  void check(std::string_view when);

  kube::testing::Simulator simulator_;
  kube::testing::FakeApiServer server_;
  kube::testing::FakeGarbageCollector collector_;
  kube::Random random_;
  controllers::Settings settings_;
  std::vector<std::unique_ptr<kube::testing::SimLink>> links_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<Violation> violations_;
  std::map<std::string, std::pair<std::string, std::int64_t>> on_their_way_;  ///< user and cores, by UID
  std::map<std::string, kube::TimePoint> steady_since_;  ///< when the Quota of a user was created, drained or resumed
  kube::TimePoint tenant_since_{};                       ///< when the tenant was drained or resumed
  bool is_tenant_drained_ = false;
  kube::TimePoint doubt_until_{};  ///< until when writes of former leaders may be carried out
  int pods_ = 0;
  std::size_t granted_ = 0, admitted_ = 0;
  bool done_ = false;
};

}  // namespace liqo::sim
