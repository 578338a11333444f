// Checks everything that a move needs before anything is created.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <string>

#include "volumes/moved_claim.hpp"

namespace liqoctl {

/// A move that can begin.
struct PreparedMove {
  Object claim;
  model::MoveRecord record;  ///< of this move, whose copy was not made yet
  std::string source_node;   ///< where the reading pod runs; "" = the scheduler chooses
  std::string target;        ///< the cluster that gets the data; "" = the one that the claim is in
  std::string image;         ///< of the pods that carry the data
};

/// Errors: Errc::invalid_input and Errc::missing with the obstacle. If the data is at the target already, the leftovers
/// of an earlier move are removed. Warns of pods that will find no node afterwards.
asio::awaitable<Result<PreparedMove>> prepare_move(MovedClaim& moved);

}  // namespace liqoctl
