// Writes on claims of StorageClass liqo, and sends Events to them and to the pods that use them.
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

/// Writes on claims in this cluster. The answers go into the cache, so readers see each write at once. One thread.
class ClaimWriter {
 public:
  explicit ClaimWriter(Context context);

  /// Puts our finalizer on the claim, and the site where its volume is begun; false if the claim is gone, being
  /// deleted, or has its volume: one whose creation seemed to fail, or that another replica has made.
  asio::awaitable<kube::Result<bool>> hold(kube::Object claim, const StorageSite& site);
  /// Removes our finalizer from the claim.
  asio::awaitable<kube::Result<void>> release(kube::Object claim);
  /// Writes on the claim where the one behind it is, in case the volume is lost; returns the claim as it is stored.
  asio::awaitable<kube::Result<kube::Object>> note_backing(kube::Object claim, const StorageSite& site);
  /// Makes the scheduler choose a node for the claim again, and reports why.
  asio::awaitable<kube::Outcome> reschedule(kube::Object claim, std::string message);
  /// Writes into the claim what it shows of its volume.
  asio::awaitable<kube::Outcome> show_volume(kube::Object claim, core::storage::volume_action::PatchClaim step);
  /// The claim as the cache has it now, including our own writes.
  kube::Object latest(kube::Object claim) const;

  /// Sends a Warning Event for the claim, and for the pods that use it if the warning is for them, too.
  asio::awaitable<void> warn(const kube::Object& claim, const std::optional<core::storage::VolumeWarning>& warning);
  /// Sends a Warning Event for the claim and the pods that use it.
  asio::awaitable<void> report(kube::Object claim, std::string_view reason, std::string message);
  /// The pods that use the claim.
  asio::awaitable<kube::Result<std::vector<kube::Object>>> pods_of(const kube::Object& claim);

 private:
  Context context_;
  kube::InformerHandle claims_;
  kube::Log log_{"storage"};
};

}  // namespace liqo::controllers
