#include "controllers/storage/live_volume.hpp"

#include "core/storage/volume.hpp"
#include "kube/client/find_live.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

boost::asio::awaitable<kube::Result<bool>> has_live_volume(kube::Api& home, kube::Informer& volumes,
                                                           kube::Object claim) {
  const kube::ObjectKey key{"", core::storage::volume_name(claim)};
  KUBE_CO_TRY(live, co_await kube::find_live(home, api::kinds::volumes, key), "looking for the volume");
  if (!live) co_return false;
  volumes.observe(std::move(*live));
  co_return true;
}

}  // namespace liqo::controllers
