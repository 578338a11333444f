// The switch of a move: the claim is created again, as the owner of the volume with the copy.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <string>

#include "volumes/moved_claim.hpp"

namespace liqoctl {

/// Guarantees: after any interruption, one of both volumes has all data and stays, and the record on the volume with
/// the copy shows how to continue.
/// Lifetime: the MovedClaim must outlive it. One thread.
class ClaimSwitch {
 public:
  explicit ClaimSwitch(MovedClaim& moved) : moved_(moved), cluster_(moved.cluster()) {}

  /// Continues the switch of an earlier, interrupted move of this claim. Returns whether nothing is left to do.
  asio::awaitable<Result<bool>> resume();
  /// Keeps all other pods from using the claim: it is deleted, and only the pod that reads from it keeps it alive. Both
  /// volumes stay in any case, and record which claim may own them. `copy` is the volume with the copy.
  asio::awaitable<Result<void>> lock(const model::MoveRecord& record, std::string copy);
  /// Gives the copy, which was compared, to the claim, and deletes the source unless it is to be kept.
  asio::awaitable<Result<void>> finish(model::MoveRecord record, std::string copy);

  /// Whether the volumes may have the annotations of this move.
  bool is_noted() const { return is_noted_; }
  /// Whether the volumes have them, and outlive their claims.
  bool is_locked() const { return is_locked_; }

 private:
  asio::awaitable<Result<bool>> go_on(model::MoveRecord record, std::string copy);
  /// Creates the claim again, as the owner of `volume`.
  asio::awaitable<Result<void>> give(const model::MoveRecord& record, std::string volume, std::string node);
  /// The volume of the claim, once it is certain that it has the data of the given one. Until then nothing is deleted,
  /// because an older liqod or another provisioner would have made an empty volume.
  asio::awaitable<Result<Object>> check_given(std::string volume);

  MovedClaim& moved_;
  Cluster& cluster_;
  bool is_noted_ = false;
  bool is_locked_ = false;
};

}  // namespace liqoctl
