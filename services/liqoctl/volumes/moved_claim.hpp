// The claim that `liqoctl move volume` moves, with the reads and writes that all steps of a move share.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "model/volume/volume_move.hpp"
#include "volumes/move.hpp"
#include "volumes/move_lock.hpp"

namespace liqoctl {

/// The name of a cluster in a sentence; "" = the one that the claim is in.
std::string cluster_in_words(std::string_view cluster);

/// The references that it gets must outlive it. One thread.
class MovedClaim {
 public:
  MovedClaim(Session& session, Cluster& cluster, const MoveLock& lock, const VolumeMove& asked)
      : deadline_(session.deadline()), cluster_(cluster), lock_(lock), asked_(asked), ns_(cluster.ns()) {}

  Cluster& cluster() { return cluster_; }
  const VolumeMove& asked() const { return asked_; }
  const std::string& ns() const { return ns_; }
  kube::ObjectKey key() const { return {ns_, asked_.claim}; }
  /// The claim with the copy, until the moved claim takes over its volume.
  kube::ObjectKey copy_key() const { return {ns_, model::move_name(asked_.claim)}; }
  /// A pod that carries the data.
  kube::ObjectKey carrier_key(model::Carrier carrier) const {
    return {ns_, model::move_name(asked_.claim) + (carrier == model::Carrier::writes ? "-to" : "-from")};
  }
  std::string words() const { return "the volume of claim " + key().text(); }
  void log(const std::string& what) { cluster_.output().info(cluster_.scope(), what); }

  /// The time at which the whole command must be over.
  kube::Deadline deadline() const { return deadline_; }
  /// The deadline of steps that take seconds, such as making a volume or starting a pod.
  kube::Deadline soon() const { return {std::min(deadline_.at, cluster_.clock().now() + patience)}; }

  /// Errors: Errc::stopped if another move may have begun, because the Lease of this one was not renewed.
  Result<void> still_mine() const;
  /// Errors: Errc::missing if there is no such object.
  asio::awaitable<Result<Object>> existing(const kube::Resource& kind, kube::ObjectKey key);
  /// Errors: Errc::invalid_input if pods use the claim, except those that carry its data. `when` follows their names.
  asio::awaitable<Result<void>> check_users(std::string_view when);
  asio::awaitable<Result<void>> wait_until_gone(const kube::Resource& kind, kube::ObjectKey key);

  /// Sets annotations of a volume, and removes those that are null.
  asio::awaitable<Result<void>> note(std::string volume, kube::json::object notes);
  asio::awaitable<Result<void>> set_policy(std::string volume, std::string policy);
  /// Changes only the volume that was read, not another one of its name.
  asio::awaitable<Result<void>> set_policy(const Object& volume, std::string policy);
  /// Deletes the record of a copy. The next move copies again, and the copy is deleted with its claim.
  asio::awaitable<Result<void>> forget(std::string copy);
  asio::awaitable<Result<void>> remove_volume(std::string name);

 private:
  static constexpr kube::Duration patience = std::chrono::minutes(5);

  asio::awaitable<Result<void>> change(std::string volume, kube::json::object changes);

  kube::Deadline deadline_;
  Cluster& cluster_;
  const MoveLock& lock_;
  const VolumeMove& asked_;
  std::string ns_;
};

}  // namespace liqoctl
