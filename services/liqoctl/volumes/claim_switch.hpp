// The switch of a move: the claim is made anew, as the owner of the volume that has the copy.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <string>

#include "volumes/moved_claim.hpp"

namespace liqoctl {

/// Guarantees: whatever interrupts it, one of both volumes has all data and stays, and the record on the volume of the
/// copy says how to go on.
/// Lifetime: the claim that it gets must outlive it. One thread.
class ClaimSwitch {
 public:
  explicit ClaimSwitch(MovedClaim& moved) : moved_(moved), cluster_(moved.cluster()) {}

  /// Goes on with the switch of an earlier, interrupted move of this claim; answers whether nothing is left to do.
  asio::awaitable<Result<bool>> resume();
  /// From here on no other pod can begin to use the claim: it is deleted, and held only by the pod that reads from it.
  /// Both volumes stay whatever happens, and record whose they may become. `copy` is the volume that has the copy.
  asio::awaitable<Result<void>> lock(const model::MoveRecord& record, std::string copy);
  /// Gives the claim the copy, which was compared, and deletes the source unless it is to be kept.
  asio::awaitable<Result<void>> finish(model::MoveRecord record, std::string copy);

  /// The volumes may bear the notes of this move.
  bool is_noted() const { return is_noted_; }
  /// And outlive their claims.
  bool is_locked() const { return is_locked_; }

 private:
  asio::awaitable<Result<bool>> go_on(model::MoveRecord record, std::string copy);
  /// Makes the claim anew, as the owner of `volume`.
  asio::awaitable<Result<void>> give(const model::MoveRecord& record, std::string volume, std::string node);
  /// The volume of the claim, once it is sure that it has the data of the given one; nothing is deleted before. An
  /// older liqod or another provisioner would have made an empty volume.
  asio::awaitable<Result<Object>> check_given(std::string volume);

  MovedClaim& moved_;
  Cluster& cluster_;
  bool is_noted_ = false;
  bool is_locked_ = false;
};

}  // namespace liqoctl
