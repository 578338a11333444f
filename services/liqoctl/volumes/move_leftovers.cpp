#include "volumes/move_leftovers.hpp"

#include <string>
#include <utility>

#include "core/storage/volume.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace liqoctl {

namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
namespace resources = kube::resources;
using kube::string_at;
using model::Carrier;

asio::awaitable<Result<void>> remove_carriers(MovedClaim& moved) {
  for (const Carrier carrier : {Carrier::reads, Carrier::writes}) {
    KUBE_CO_TRYV(co_await moved.cluster().remove(resources::pods, moved.carrier_key(carrier)));
  }
  for (const Carrier carrier : {Carrier::reads, Carrier::writes})
    KUBE_CO_TRYV(co_await moved.wait_until_gone(resources::pods, moved.carrier_key(carrier)));
  co_return Result<void>();
}

asio::awaitable<Result<void>> remove_copy_claim(MovedClaim& moved, bool with_data) {
  Cluster& cluster = moved.cluster();
  KUBE_CO_TRY(claim, co_await cluster.find(kinds::claims, moved.copy_key()));
  if (!claim) co_return Result<void>();
  const std::string volume(string_at(claim->spec(), {"volumeName"}));
  bool goes = false;
  if (with_data && !volume.empty()) {
    KUBE_CO_TRY(found, co_await cluster.find(kinds::volumes, {"", volume}));
    // A user who may create claims can make this one name any volume of the cluster.
    goes = found && liqo::core::storage::is_volume_of(*found, *claim);
    if (goes) KUBE_CO_TRYV(co_await moved.set_policy(*found, "Delete"));
  }
  KUBE_CO_TRYV(co_await cluster.remove(kinds::claims, moved.copy_key(), {.uid = std::string(claim->uid())}));
  KUBE_CO_TRYV(co_await moved.wait_until_gone(kinds::claims, moved.copy_key()));
  if (goes) co_return co_await moved.wait_until_gone(kinds::volumes, {"", volume});
  co_return Result<void>();
}

asio::awaitable<Result<bool>> remove_leftovers(MovedClaim& moved) {
  KUBE_CO_TRY(claim, co_await moved.cluster().find(kinds::claims, moved.copy_key()));
  KUBE_CO_TRYV(co_await remove_carriers(moved));
  if (!claim || claim->annotation(annotations::moves_claim) != moved.asked().claim) co_return false;
  KUBE_CO_TRYV(co_await remove_copy_claim(moved, true));
  co_return true;
}

}  // namespace liqoctl
