// Two replicas with a ledger each, one API server, and consumers that ask for more than the quota grants.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "invariants.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "quota/quota_ledger.hpp"

namespace liqo::sim {

namespace asio = boost::asio;
namespace json = boost::json;

/// One schedule of admissions, deletions, restarts and faults. The seed decides everything.
class LedgerWorld {
 public:
  explicit LedgerWorld(std::uint64_t seed);
  ~LedgerWorld();

  /// Runs the schedule and returns what went wrong.
  std::vector<Violation> run();
  std::size_t admitted() const { return admitted_; }
  bool was_withdrawn() const { return withdrawn_; }
  std::size_t refused() const { return refused_; }

 private:
  struct Replica;
  struct Call;

  void set_up();
  void set_hard(std::int64_t cores);
  void grant();
  /// Removes the slice, and creates it again with the same name.
  asio::awaitable<void> withdraw();
  void start(std::size_t replica);
  asio::awaitable<void> stop(std::size_t replica, bool killed);
  asio::awaitable<void> consume();
  asio::awaitable<void> ask(int number);
  asio::awaitable<core::QuotaVerdict> call(std::size_t replica, json::object shadow, bool dry_run,
                                           core::Claimant claimant = {});
  asio::awaitable<core::QuotaVerdict> call_resize(std::size_t replica, json::object before, json::object after);
  /// Changes, from time to time, the resources of stored pods, as consumers do.
  asio::awaitable<void> resize();
  asio::awaitable<void> resize_one(json::object before, std::int64_t cores);
  /// Acts as the node of a Pod: grants its requests, or defers that.
  void look_as_node(const kube::ObjectKey& key, bool puts_off);
  asio::awaitable<void> live();
  asio::awaitable<void> break_things();
  void store_shadow(json::object shadow);
  /// The cores that ShadowPods and Pods hold: stored, or admitted and not stored yet.
  std::int64_t held() const;
  void check(std::string_view when);
  void check_write(const kube::HttpRequest& request);
  json::object forge_shadow(int number, std::int64_t cores);

  kube::testing::Simulator simulator_;
  kube::testing::FakeApiServer server_;
  kube::Random random_;
  std::vector<std::unique_ptr<kube::testing::SimLink>> links_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<Violation> violations_;
  std::map<std::string, std::int64_t> on_their_way_;  ///< cores of admitted ShadowPods by UID
  /// An admitted growth: its ShadowPod, the version from which it grows, and the number of cores. Once the ShadowPod
  /// has another version, the growth cannot be stored any more.
  struct Growth {
    kube::ObjectKey pod;
    std::string from;
    std::int64_t cores = 0;
  };
  std::map<std::uint64_t, Growth> growing_;
  std::int64_t hard_ = 8;
  bool lowered_ = false, withdrawn_ = false;
  kube::TimePoint last_lowered_{};
  std::size_t admitted_ = 0, refused_ = 0;
  bool done_ = false;
};

}  // namespace liqo::sim
