// The copy of a volume: the claim that gets it, and the pods that carry the data to it.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <string>
#include <vector>

#include "volumes/move_preparation.hpp"
#include "volumes/moved_claim.hpp"
#include "volumes/remote_program.hpp"

namespace liqoctl {

/// Leaves the claim and the pods behind when it is destroyed: move_leftovers.hpp removes them. One thread.
class VolumeCopy {
 public:
  VolumeCopy(MovedClaim& moved, const PreparedMove& move) : moved_(moved), cluster_(moved.cluster()), move_(move) {}

  /// Makes the claim and the pods, and waits until they are ready. What an earlier move has left is used again if it
  /// fits, and removed if not.
  asio::awaitable<Result<void>> begin();
  /// The PersistentVolume that gets the data, once begin() has succeeded.
  const std::string& volume() const { return volume_; }
  /// A text that is another one when files of the source have changed.
  asio::awaitable<Result<std::string>> state();
  /// Copies all files, and compares. A connection that is cut makes it copy again.
  asio::awaitable<Result<void>> copy();

 private:
  asio::awaitable<Result<void>> make_claim();
  asio::awaitable<Result<void>> wait_for_volume();
  asio::awaitable<Result<void>> make_carrier(model::Carrier carrier, std::string claim, std::string node);
  /// Fails at once where it has ended.
  asio::awaitable<Result<void>> wait_for_carrier(model::Carrier carrier);
  RemoteProgram program(model::Carrier carrier, std::vector<std::string> words) const;
  asio::awaitable<Result<void>> copy_once();

  MovedClaim& moved_;
  Cluster& cluster_;
  const PreparedMove& move_;
  std::string volume_;
};

}  // namespace liqoctl
