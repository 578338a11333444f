// The state of one run of the program: flags, output, and clusters, which are connected at their first use.
#pragma once

#include <memory>

#include "session/cluster.hpp"
#include "session/context.hpp"

namespace liqoctl {

/// Lives as long as the command. One thread.
class Session {
 public:
  Session(SessionContext context, CommonFlags flags);

  const SessionContext& context() const { return context_; }
  const CommonFlags& flags() const { return flags_; }
  Output& output() { return output_; }
  Terminal& terminal() { return context_.terminal; }
  kube::async::Clock& clock() { return context_.clock; }
  /// The time at which the whole command must be over (`--timeout` from its start).
  kube::Deadline deadline() const { return deadline_; }

  /// Errors: those of Cluster::open.
  asio::awaitable<Result<Cluster*>> local();
  /// The local cluster, without reading its ID, which not every user may. So it is not known yet whether the cluster
  /// responds. Errors: those of Cluster::open.
  asio::awaitable<Result<Cluster*>> local_without_id();
  asio::awaitable<Result<Cluster*>> remote();
  /// Both clusters, with their IDs, and checked to be different.
  struct Pair {
    Cluster* consumer = nullptr;
    Cluster* provider = nullptr;
    std::string consumer_id, provider_id;
  };
  asio::awaitable<Result<Pair>> both();

  /// The clusters that are connected.
  std::vector<Cluster*> clusters() const;

  /// Asks the user to confirm. `what` is a sentence about what will happen. Errors: Errc::invalid_input without a
  /// terminal to ask on (naming --skip-confirm), Errc::stopped if the answer is not yes.
  asio::awaitable<Result<void>> confirm(std::string what);

  asio::awaitable<void> stop();

 private:
  asio::awaitable<Result<Cluster*>> opened(Side side, bool with_id = true);
  /// Asks whether the kubeconfig of the other cluster may run its program, or send its file, on this machine.
  asio::awaitable<Result<void>> allow_remote(const kube::wire::ClusterConfig& config);
  asio::awaitable<bool> answered_yes(std::string question);

  SessionContext context_;
  CommonFlags flags_;
  Output output_;
  kube::Deadline deadline_;
  std::unique_ptr<Cluster> local_, remote_;
};

}  // namespace liqoctl
