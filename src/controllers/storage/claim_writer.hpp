// What is written on a claim of StorageClass liqo, and told to it and to the pods that use it.
// Tested by test/unit/controllers/storage/storage_provisioner_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/storage/storage_sites.hpp"
#include "core/storage/volume_plan.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Writes on claims in this cluster, whose readers see each answer at once. One thread.
class ClaimWriter {
 public:
  explicit ClaimWriter(Context context);

  /// Puts our finalizer on the claim, and where it is begun; false where the claim has gone meanwhile, or goes.
  asio::awaitable<kube::Result<bool>> hold(kube::Object claim, const StorageSite& site);
  /// Takes our finalizer off the claim.
  asio::awaitable<kube::Result<void>> release(kube::Object claim);
  /// Writes on the claim where the one behind it is, in case the volume is lost; returns what is stored.
  asio::awaitable<kube::Result<kube::Object>> note_backing(kube::Object claim, const StorageSite& site);
  /// Has the scheduler choose a node for the claim again, and tells why.
  asio::awaitable<kube::Outcome> reschedule(kube::Object claim, std::string message);
  /// Writes what the claim is to show of its volume.
  asio::awaitable<kube::Outcome> show_volume(kube::Object claim, core::storage::volume_action::PatchClaim step);
  /// The claim as the cache has it now, with our own writes.
  kube::Object latest(kube::Object claim) const;

  /// A Warning Event of the claim, and of the pods that use it where the warning is for them, too.
  asio::awaitable<void> warn(const kube::Object& claim, const std::optional<core::storage::VolumeWarning>& warning);
  /// A Warning Event of the claim and of the pods that use it.
  asio::awaitable<void> tell(kube::Object claim, std::string_view reason, std::string message);
  /// The pods that use the claim.
  asio::awaitable<kube::Result<std::vector<kube::Object>>> pods_of(const kube::Object& claim);

 private:
  Context context_;
  kube::InformerHandle claims_;
  kube::Log log_{"storage"};
};

}  // namespace liqo::controllers
