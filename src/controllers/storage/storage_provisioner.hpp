// The provisioner of StorageClass liqo: makes volumes where their pods run, in this cluster or at a provider.
#pragma once

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "controllers/storage/claim_writer.hpp"
#include "controllers/storage/data_takeover.hpp"
#include "controllers/storage/storage_sites.hpp"
#include "controllers/storage/volume_maker.hpp"
#include "controllers/storage/volume_removal.hpp"
#include "core/storage/claim_times.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Makes a claim behind each claim of the class once the scheduler has chosen a node for it, at the provider if that is
/// a virtual node, and then the volume between the two. It keeps the volume's size equal to that of the claim behind
/// it, lets that claim grow with the claim here, and removes the data with the volume if the policy says so. A
/// provider's claims are read while they are in progress, and otherwise every five minutes. One thread.
class StorageProvisioner final : public Runnable {
 public:
  StorageProvisioner(FindReach reach, Context context);

  asio::awaitable<void> run() override { return controller_.run(); }
  bool has_synced() const override { return controller_.has_synced(); }
  bool is_busy() const override { return controller_.is_busy(); }

 private:
  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey work);
  asio::awaitable<kube::Outcome> reconcile_claim(kube::ObjectKey key);
  bool is_of_class(const kube::Object& claim) const;
  /// Marks as doubtful all claims for which an earlier process may have sent a request that got no answer.
  void doubt_held();
  void see_claim(const kube::ObjectKey& key);
  void see_volume(const kube::ObjectKey& key);
  void enqueue(const kube::ObjectKey& key) { controller_.enqueue({key.ns, key}); }
  void enqueue_waiting();
  void enqueue_all();

  Context context_;
  kube::InformerHandle claims_, volumes_;
  core::storage::ClaimTimes times_;
  StorageSites sites_;
  ClaimWriter writer_;
  VolumeMaker maker_;
  DataTakeover takeover_;
  VolumeRemoval removal_;
  kube::Controller controller_;
};

}  // namespace liqo::controllers
