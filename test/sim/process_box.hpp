// One liqod of the simulation: the real controllers over simulated links, that can be stopped, killed and started anew.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/testing/sim_link.hpp"
#include "liqo/controllers/process.hpp"

namespace liqo::sim {

namespace asio = boost::asio;

/// URL of the API server of a cluster, as a kubeconfig names it.
std::string address_of(std::string_view cluster);

/// Holds the links, which outlive the processes, and at most one process at a time.
class ProcessBox {
 public:
  /// `home` is the server of the cluster it serves; `providers` the servers that its kubeconfigs reach, by cluster ID:
  /// a kubeconfig is that ID alone, or a text that names the cluster's address.
  ProcessBox(kube::testing::Simulator& simulator, std::string cluster, kube::testing::FakeApiServer& home,
             const std::map<std::string, kube::testing::FakeApiServer*>& providers, controllers::Settings settings);
  ~ProcessBox();

  void start();
  /// Ends the process: as SIGTERM does, or as SIGKILL does (nothing is sent any more). Returns when all is joined.
  asio::awaitable<void> stop(bool killed);
  bool is_running() const { return run_ && !stopping_; }
  /// The process, or null.
  controllers::Process* process();
  const std::string& cluster() const { return cluster_; }
  /// All links, the one to the own cluster first.
  std::vector<kube::testing::SimLink*> links();
  /// Set if a process ended by itself: how.
  const std::string& crash() const { return crash_; }

 private:
  struct Run;
  asio::awaitable<void> guard(asio::awaitable<void> running);

  kube::testing::Simulator& simulator_;
  std::string cluster_;
  controllers::Settings settings_;
  kube::testing::SimLink home_;
  std::map<std::string, std::unique_ptr<kube::testing::SimLink>> providers_;
  std::unique_ptr<Run> run_;
  std::string crash_;
  bool stopping_ = false;
};

}  // namespace liqo::sim
