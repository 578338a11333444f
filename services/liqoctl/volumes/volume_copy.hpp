// The copy of a volume: the claim that holds it, and the pods that carry the data to it.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <string>
#include <vector>

#include "volumes/move_preparation.hpp"
#include "volumes/moved_claim.hpp"
#include "volumes/remote_program.hpp"

namespace liqoctl {

/// Leaves the claim and the pods behind when it is destroyed; move_leftovers.hpp removes them. One thread.
class VolumeCopy {
 public:
  VolumeCopy(MovedClaim& moved, const PreparedMove& move) : moved_(moved), cluster_(moved.cluster()), move_(move) {}

  /// Creates the claim and the pods, and waits until they are ready. Leftovers of an earlier move are used again if
  /// they fit, and removed if not.
  asio::awaitable<Result<void>> begin();
  /// The PersistentVolume of the copy, once begin() has succeeded.
  const std::string& volume() const { return volume_; }
  /// A text that changes when files of the source change.
  asio::awaitable<Result<std::string>> state();
  /// Copies all files, and compares them. Copies again if a connection is cut.
  asio::awaitable<Result<void>> copy();

 private:
  asio::awaitable<Result<void>> make_claim();
  asio::awaitable<Result<void>> wait_for_volume();
  asio::awaitable<Result<void>> make_carrier(model::Carrier carrier, std::string claim, std::string node);
  /// Waits until the pod runs. Fails at once if it has ended.
  asio::awaitable<Result<void>> wait_for_carrier(model::Carrier carrier);
  RemoteProgram program(model::Carrier carrier, std::vector<std::string> words) const;
  asio::awaitable<Result<void>> copy_once();

  MovedClaim& moved_;
  Cluster& cluster_;
  const PreparedMove& move_;
  std::string volume_;
};

}  // namespace liqoctl
