// Takes over existing data: of volumes that are given to a claim, of volumes that the Go version has made (which does
// not record where the data is), and of claims that do not exist at home any more.
// Tested by test/unit/controllers/storage/storage_provisioner_test.cpp.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "controllers/common/context.hpp"
#include "controllers/storage/claim_writer.hpp"
#include "controllers/storage/storage_sites.hpp"
#include "controllers/storage/volume_maker.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Gives existing data to claims. One thread.
class DataTakeover {
 public:
  /// `sites`, `writer` and `maker` outlive this.
  DataTakeover(Context context, const StorageSites& sites, ClaimWriter& writer, VolumeMaker& maker);

  /// Makes the volume of a claim that gets the data of another volume, whose claim is gone.
  asio::awaitable<kube::Outcome> take_volume(kube::Object claim);
  /// Records on the claim, the volume and the claim behind where the data of a volume of the Go version is.
  asio::awaitable<kube::Outcome> adopt(kube::Object claim, kube::Object volume, std::string cluster);
  /// Returns the claim behind it, after taking it over if it holds data for which nothing at home stands any more.
  asio::awaitable<kube::Result<kube::Object>> take_stray(kube::Object claim, kube::Object backing,
                                                         const StorageSite& site);

 private:
  Context context_;
  const StorageSites& sites_;
  ClaimWriter& writer_;
  VolumeMaker& maker_;
  kube::InformerHandle volumes_;
  kube::Log log_{"storage"};
};

}  // namespace liqo::controllers
