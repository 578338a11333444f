// Removes data: with a claim that never got its volume, and with a volume whose policy says so.
// Tested by test/unit/controllers/storage/storage_provisioner_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "controllers/common/context.hpp"
#include "controllers/storage/claim_writer.hpp"
#include "controllers/storage/storage_sites.hpp"
#include "core/storage/claim_times.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Removes the objects that were made for claims. One thread.
class VolumeRemoval {
 public:
  /// `sites`, `writer` and `times` outlive this.
  VolumeRemoval(Context context, const StorageSites& sites, ClaimWriter& writer, core::storage::ClaimTimes& times);

  /// Removes what was made for a claim that is deleted before it has a volume.
  asio::awaitable<kube::Outcome> abandon(kube::Object claim);
  /// Removes the volume of that name and its data, if its claim is gone and its policy says so.
  asio::awaitable<kube::Outcome> remove_volume(kube::ObjectKey key);

 private:
  Context context_;
  const StorageSites& sites_;
  ClaimWriter& writer_;
  core::storage::ClaimTimes& times_;
  kube::InformerHandle volumes_;
  kube::Log log_{"storage"};
};

}  // namespace liqo::controllers
