// The chaos in a simulated world besides the faults of its network: restarts, outages, and people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube/async/task_group.hpp"
#include "world.hpp"

namespace liqo::sim {

/// Draws actions for a time; an action that takes time runs as a coroutine of its own. Keeps a log for failing seeds.
class Chaos {
 public:
  explicit Chaos(World& world);
  /// Acts until the schedule's time is over, then ends every outage and starts every stopped process.
  asio::awaitable<void> run();
  const std::vector<std::string>& log() const { return log_; }

 private:
  using Act = void (Chaos::*)();

  void act();
  void restart_daemon();
  void break_link();
  void restart_api_server();
  void cut_watches();
  void compact();
  void delete_remote_pod();
  void delete_unwatched();
  void evict_remote_pod();
  void end_containers();
  void delete_shadow_pod();
  void delete_local_pod();
  void replace_local_pod();
  void create_job();
  void suspend_job();
  void scale();
  void edit_labels();
  void edit_image();
  void edit_config_map();
  void edit_offloading_patch();
  void edit_replicated();
  void edit_replica();
  void delete_replica();
  void delete_slice();
  void create_slice();
  void rotate_credentials();

  asio::awaitable<void> restart(std::string cluster, bool killed, kube::Duration downtime);
  /// Deletes pods that must not run twice while their provider's liqod is down.
  asio::awaitable<void> delete_while_down(std::string provider);
  asio::awaitable<void> outage(std::vector<kube::testing::SimLink*> links, bool refuses, kube::Duration length);
  void note(std::string what);
  Cluster& any_provider();
  std::vector<Tree> local_pods();
  std::vector<Tree> remote_pods(Cluster& provider);
  /// Whether the provider has recorded that the pod ran, and the pod does not always restart, so that its loss is
  /// noticed.
  bool is_on_record(Cluster& provider, const json::object& remote);

  World& world_;
  kube::Random random_;
  kube::async::TaskGroup group_;
  std::vector<std::string> log_;
  int next_job_ = 10;
  int next_slice_ = 1;
};

}  // namespace liqo::sim
