// Makes the volume of a claim of StorageClass liqo: first the claim behind it, then the volume between the two.
// Tested by test/unit/controllers/storage/storage_provisioner_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/storage/claim_writer.hpp"
#include "controllers/storage/storage_sites.hpp"
#include "core/slices/policy.hpp"
#include "core/storage/claim_times.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Makes volumes, and the claims behind other claims. One thread.
class VolumeMaker {
 public:
  /// `sites`, `writer` and `times` outlive this. `changed`: called when the StorageClass, or the setting for the real
  /// class in this cluster, has changed; must not suspend.
  VolumeMaker(Context context, const StorageSites& sites, ClaimWriter& writer, core::storage::ClaimTimes& times,
              const std::function<void()>& changed);

  bool has_synced() const { return volumes_->has_synced() && classes_->has_synced() && config_->has_synced(); }

  /// Makes the claim behind this one, which is held first.
  asio::awaitable<kube::Outcome> create_backing(kube::Object claim, const StorageSite& site);
  /// Makes the volume of the claim over the one behind it. `policy`: the reclaim policy of the data; "" = that of its
  /// class.
  asio::awaitable<kube::Outcome> create_volume(kube::Object claim, kube::Object backing, const StorageSite& site,
                                               std::string policy = {});

 private:
  asio::awaitable<kube::Result<void>> ensure_storage_namespace();

  Context context_;
  const StorageSites& sites_;
  ClaimWriter& writer_;
  core::storage::ClaimTimes& times_;
  kube::InformerHandle volumes_, classes_, config_;
  /// The policy in the ConfigMap of settings; nothing before it was read.
  std::optional<core::ReadPolicy> policy_;
  kube::Log log_{"storage"};
};

}  // namespace liqo::controllers
