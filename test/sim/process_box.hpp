// One liqod of the simulation: the real controllers over simulated links. It can be stopped, killed and started again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/process/process.hpp"
#include "kube/testing/link/sim_link.hpp"

namespace liqo::sim {

struct Violation;
namespace asio = boost::asio;

/// URL of the API server of a cluster, as a kubeconfig names it.
std::string address_of(std::string_view cluster);

/// Holds the links, which outlive the processes, and at most one process at a time. Checks each write when it is sent:
/// whether the process may write at that moment, and whether it holds the lease.
class ProcessBox {
 public:
  /// `home` is the server of the cluster it serves; `providers` the servers that its kubeconfigs reach, by cluster ID:
  /// a kubeconfig is that ID alone, or a text that names the cluster's address. `identity`: the name of this replica if
  /// there are several, of which the holder of the lease writes; "" = there is only this one.
  ProcessBox(kube::testing::Simulator& simulator, std::string cluster, kube::testing::FakeApiServer& home,
             const std::map<std::string, kube::testing::FakeApiServer*>& providers, controllers::Settings settings,
             std::string identity = {});
  ~ProcessBox();

  void start();
  /// Ends the process: as SIGTERM does, or as SIGKILL does (nothing more is sent). Returns when all its work is joined.
  asio::awaitable<void> stop(bool killed);
  bool is_running() const { return run_ && !stopping_; }
  /// The process, or null.
  controllers::Process* process();
  const std::string& cluster() const { return cluster_; }
  /// True while the process runs and may write.
  bool leads();
  /// Sets another replica of the same cluster, which must not write while this one may.
  void set_rival(ProcessBox& rival) { rival_ = &rival; }
  /// Compares all links with what happened at their servers, and returns the writes that should not have been sent.
  std::vector<Violation> check_requests();
  /// All links; the first one leads to its own cluster.
  std::vector<kube::testing::SimLink*> links();
  /// How a process ended by itself, "" if none did.
  const std::string& crash() const { return crash_; }

 private:
  struct Run;
  asio::awaitable<void> guard(asio::awaitable<void> running);
  void check_write(const kube::HttpRequest& request);

  kube::testing::Simulator& simulator_;
  std::string cluster_;
  controllers::Settings settings_;
  kube::testing::FakeApiServer& home_server_;
  std::string identity_;
  ProcessBox* rival_ = nullptr;
  std::map<std::string, std::string> bad_writes_;  ///< the first of each kind, by what is wrong
  kube::testing::SimLink home_;
  std::map<std::string, std::unique_ptr<kube::testing::SimLink>> providers_;
  std::map<kube::testing::SimLink*, kube::testing::FakeApiServer*> servers_;  ///< where the links lead
  std::unique_ptr<Run> run_;
  std::string crash_;
  bool stopping_ = false;
};

/// Ends all running processes, as SIGTERM does. Returns the names of those that do not end within two minutes.
std::vector<std::string> stop_all(kube::testing::Simulator& simulator,
                                  const std::map<std::string, std::unique_ptr<ProcessBox>>& daemons);

}  // namespace liqo::sim
