// Reconciles one claim of StorageClass liqo: the claim behind it, and the volume between the two.
// Tested by test/unit/controllers/storage/storage_provisioner_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "controllers/common/context.hpp"
#include "controllers/storage/claim_writer.hpp"
#include "controllers/storage/data_takeover.hpp"
#include "controllers/storage/storage_sites.hpp"
#include "controllers/storage/volume_maker.hpp"
#include "core/storage/claim_times.hpp"
#include "core/storage/volume_plan.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// The tools with which claims are provisioned. They outlive each claim.
struct ClaimTools {
  const Context& context;
  const StorageSites& sites;
  ClaimWriter& writer;
  VolumeMaker& maker;
  DataTakeover& takeover;
  core::storage::ClaimTimes& times;
  kube::Informer& volumes;
};

/// A claim whose site is known, with its volume. The caller keeps this object until reconcile() has ended.
class ProvisionedClaim {
 public:
  /// `volume`: nothing if the claim has none yet, or none any more.
  ProvisionedClaim(ClaimTools tools, kube::Object claim, std::optional<kube::Object> volume, StorageSite site);

  /// Reads the claim behind it, and does what is next for both. `is_lost`: the claim had a volume that is gone. Called
  /// once.
  asio::awaitable<kube::Outcome> reconcile(bool is_lost);

 private:
  asio::awaitable<kube::Result<core::storage::VolumePlan>> look_behind(bool is_lost);
  /// Whether a provider's claim waits for its first pod.
  asio::awaitable<bool> waits_for_consumer();
  asio::awaitable<kube::Outcome> act(const core::storage::volume_action::CreateBacking& plan);
  asio::awaitable<kube::Outcome> act(const core::storage::volume_action::CreateVolume& plan);
  asio::awaitable<kube::Outcome> act(const core::storage::volume_action::Discard& plan);
  asio::awaitable<kube::Outcome> act(const core::storage::volume_action::AwaitBacking& plan);
  asio::awaitable<kube::Outcome> act(core::storage::volume_action::Keep& plan);
  /// Each writes one patch of the plan.
  asio::awaitable<kube::Outcome> correct(core::storage::volume_action::PatchBacking& step);
  asio::awaitable<kube::Outcome> correct(core::storage::volume_action::PatchVolume& step);
  asio::awaitable<kube::Outcome> correct(core::storage::volume_action::PatchClaim& step);

  ClaimTools tools_;
  const kube::Object claim_;
  const std::optional<kube::Object> volume_;
  const StorageSite site_;
  std::optional<kube::Object> backing_;  ///< the claim behind it as its API server has it; nothing: there is none
  bool is_pending_ = false;              ///< the claim behind it is there and not bound
  kube::Duration waited_{};              ///< how long it has been pending
};

}  // namespace liqo::controllers
