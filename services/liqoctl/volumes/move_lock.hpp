// One move of a claim at a time: a Lease that is renewed while the move goes on.
// Tested by test/unit/liqoctl/volumes/move_lock_test.cpp and test/cluster/tried/test_applications.py.
#pragma once

#include "kube/async/task_group.hpp"
#include "session/cluster.hpp"

namespace liqoctl {

/// Call release() before it is destroyed. One thread.
class MoveLock {
 public:
  MoveLock(Cluster& cluster, asio::any_io_executor executor, kube::ObjectKey lease);

  /// Errors: Errc::invalid_input if another move holds it. Such a Lease is watched for its whole term first, in case it
  /// is not renewed.
  asio::awaitable<Result<void>> acquire();
  asio::awaitable<void> release();
  /// Whether it is certain that no other move holds it now.
  bool is_held() const;

 private:
  /// Until another move is seen to hold the Lease. If it cannot be read, is_held() ends after its term.
  asio::awaitable<void> renew();
  asio::awaitable<Result<void>> write(Object lease, bool is_new);

  Cluster& cluster_;
  kube::ObjectKey key_;
  std::string holder_;
  Object lease_;
  kube::TimePoint renewed_{};
  bool is_lost_ = false;
  kube::async::TaskGroup tasks_;
};

}  // namespace liqoctl
