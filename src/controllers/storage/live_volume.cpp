#include "controllers/storage/live_volume.hpp"

#include "core/storage/volume.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

boost::asio::awaitable<kube::Result<bool>> has_live_volume(kube::Api& home, kube::Informer& volumes,
                                                           kube::Object claim) {
  const kube::ObjectKey key{"", core::storage::volume_name(claim)};
  auto live = co_await home.get(api::kinds::volumes, key);
  if (!live && live.error().is_not_found()) co_return false;
  if (!live) co_return kube::fail(std::move(live.error()), "looking for the volume");
  volumes.observe(std::move(*live));
  co_return true;
}

}  // namespace liqo::controllers
