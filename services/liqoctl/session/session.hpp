// What one run of the program has: flags, output, and the clusters, connected when they are first asked for.
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
  /// When the command as a whole must be over (`--timeout` from its start).
  kube::Deadline deadline() const { return deadline_; }

  /// Errors: those of Cluster::open.
  asio::awaitable<Result<Cluster*>> local();
  /// Likewise, without reading the cluster's ID, which not everybody may. Errors: those of Cluster::open; whether the
  /// cluster answers is not known yet.
  asio::awaitable<Result<Cluster*>> local_without_id();
  asio::awaitable<Result<Cluster*>> remote();
  /// Both, with their IDs read, and checked to be two clusters.
  struct Pair {
    Cluster* consumer = nullptr;
    Cluster* provider = nullptr;
    std::string consumer_id, provider_id;
  };
  asio::awaitable<Result<Pair>> both();

  /// Those that are connected.
  std::vector<Cluster*> clusters() const;

  /// Asks for a yes. `what` is a sentence about what will happen. Errors: Errc::invalid_input without a terminal to ask
  /// on (naming --skip-confirm), Errc::stopped for any other answer.
  asio::awaitable<Result<void>> confirm(std::string what);

  asio::awaitable<void> stop();

 private:
  asio::awaitable<Result<Cluster*>> opened(Side side, bool with_id = true);
  /// Asks whether the kubeconfig of the other cluster may do on this machine what it says.
  asio::awaitable<Result<void>> allow_remote(const kube::wire::ClusterConfig& config);
  asio::awaitable<bool> answered_yes(std::string question);

  SessionContext context_;
  CommonFlags flags_;
  Output output_;
  kube::Deadline deadline_;
  std::unique_ptr<Cluster> local_, remote_;
};

}  // namespace liqoctl
