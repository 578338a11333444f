// Everything that a move needs is looked at before anything is made.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <string>

#include "volumes/moved_claim.hpp"

namespace liqoctl {

/// A move that can begin.
struct PreparedMove {
  Object claim;
  model::MoveRecord record;  ///< of this move, whose copy was not made yet
  std::string source_node;   ///< where the pod runs that reads the data; "" = the scheduler chooses
  std::string target;        ///< the cluster that gets the data; "" = the one that the claim is in
  std::string image;         ///< of the pods that carry the data
};

/// Errors: Errc::invalid_input and Errc::missing with what stands in the way. Where the data is at the target already,
/// what an earlier move has left is removed. Warns of pods that will find no node afterwards.
asio::awaitable<Result<PreparedMove>> prepare_move(MovedClaim& moved);

}  // namespace liqoctl
