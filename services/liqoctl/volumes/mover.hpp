// How a volume is moved: everything is looked at, the data is copied and compared, and the claim is switched.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/volume/volume_move.hpp"
#include "volumes/move.hpp"
#include "volumes/move_lock.hpp"
#include "volumes/remote_program.hpp"
#include "wait.hpp"

namespace liqoctl {

/// A cluster, "" = the one that the claim is in.
std::string cluster_in_words(std::string_view cluster);

/// One move. One thread.
class Mover {
 public:
  Mover(Session& session, Cluster& cluster, const MoveLock& lock, const VolumeMove& asked)
      : session_(session), cluster_(cluster), lock_(lock), asked_(asked), ns_(cluster.ns()) {}

  /// Finishes a move that was begun, and then moves what is not where it should be.
  asio::awaitable<Result<void>> run();

 private:
  /// The deadline of what takes seconds, such as making a volume or starting a pod.
  static constexpr kube::Duration patience = std::chrono::minutes(5);

  kube::ObjectKey claim_key() const { return {ns_, asked_.claim}; }
  kube::ObjectKey copy_key() const { return {ns_, model::move_name(asked_.claim)}; }
  kube::ObjectKey key_of(model::Carrier carrier) const {
    return {ns_, model::move_name(asked_.claim) + (carrier == model::Carrier::writes ? "-to" : "-from")};
  }
  kube::Deadline soon() const { return {std::min(session_.deadline().at, cluster_.clock().now() + patience)}; }
  void say(const std::string& what) { cluster_.output().info(cluster_.scope(), what); }
  std::string words() const { return "the volume of claim " + claim_key().text(); }
  Result<void> still_mine() const;

  // Looking: mover_preparing.cpp.
  using Found = std::optional<std::pair<std::string, model::MoveRecord>>;
  /// The volume that has the copy of an earlier, interrupted move of this claim.
  asio::awaitable<Result<Found>> find_record();
  asio::awaitable<Result<Object>> existing(const kube::Resource& kind, kube::ObjectKey key);
  asio::awaitable<Result<void>> check_users(std::string_view when);
  /// Whether it is one of Liqo's StorageClass, with files.
  asio::awaitable<Result<void>> check_claim(const Object& claim);
  /// The node of the source's cluster on which its pod runs; "" = the scheduler chooses.
  asio::awaitable<Result<std::string>> node_of_source(const Object& claim, std::string cluster);
  /// Looks at everything before anything is made.
  asio::awaitable<Result<void>> prepare();
  asio::awaitable<Result<std::string>> find_image();
  /// Takes away what a move has left that did not come to its switch; answers whether that was a claim.
  asio::awaitable<Result<bool>> remove_leftovers();
  /// Says which pods will find no node once the data is where this node is.
  asio::awaitable<void> warn_of_stranded(const Object& node);

  // Copying: mover_copying.cpp.
  asio::awaitable<Result<void>> carry();
  asio::awaitable<Result<void>> make_copy_claim();
  asio::awaitable<Result<void>> wait_for_copy_volume();
  /// With `with_data`, the data of its volume is deleted, too.
  asio::awaitable<Result<void>> remove_copy_claim(bool with_data);
  asio::awaitable<Result<void>> make_carrier(model::Carrier carrier, std::string claim, std::string node);
  /// Fails at once where it has ended.
  asio::awaitable<Result<void>> wait_for_carrier(model::Carrier carrier);
  asio::awaitable<Result<void>> remove_carriers();
  RemoteProgram program(model::Carrier carrier, std::vector<std::string> words) const;
  asio::awaitable<Result<std::string>> state();
  /// A connection that is cut makes it copy again.
  asio::awaitable<Result<void>> copy();
  asio::awaitable<Result<void>> copy_once();

  // Switching, and going on with a switch: mover_switching.cpp.
  asio::awaitable<Result<void>> change(std::string volume, kube::json::object changes);
  asio::awaitable<Result<void>> note(std::string volume, kube::json::object notes);
  asio::awaitable<Result<void>> set_policy(std::string volume, std::string policy);
  /// Concerns the volume that was looked at, not another one of its name.
  asio::awaitable<Result<void>> set_policy(const Object& volume, std::string policy);
  asio::awaitable<Result<void>> wait_until_gone(const kube::Resource& kind, kube::ObjectKey key);
  /// From here on no other pod can begin to use the claim: it is deleted, and held only by the pod that reads from it.
  /// Both volumes stay whatever happens, and record whose they may become.
  asio::awaitable<Result<void>> lock();
  /// Makes the claim anew, as the owner of `volume`.
  asio::awaitable<Result<void>> give(const model::MoveRecord& record, std::string volume, std::string node);
  /// The volume of the claim, once it is sure that it has the data of the given one; nothing is deleted before. An
  /// older liqod or another provisioner would have made an empty volume.
  asio::awaitable<Result<Object>> check_given(std::string volume);
  asio::awaitable<Result<void>> remove_volume(std::string name);
  /// Gives the claim the copy, which was compared, and deletes the source unless it is to be kept.
  asio::awaitable<Result<void>> finish(model::MoveRecord record, std::string copy);
  /// Goes on with an interrupted switch; answers whether nothing is left to do.
  asio::awaitable<Result<bool>> resume(model::MoveRecord record, std::string copy);
  /// Drops the record of the copy: the next move copies anew, and the copy goes with its claim.
  asio::awaitable<Result<void>> forget(std::string copy);

  Session& session_;
  Cluster& cluster_;
  const MoveLock& lock_;
  const VolumeMove& asked_;
  std::string ns_;
  Object claim_;
  model::MoveRecord record_;
  std::string source_node_, target_, image_;
  std::string copy_;        ///< the volume that has the copy
  bool is_noted_ = false;   ///< the volumes may bear the notes of this move
  bool is_locked_ = false;  ///< and outlive their claims
};

}  // namespace liqoctl
