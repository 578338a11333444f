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
    auto removed = co_await moved.cluster().remove(resources::pods, moved.carrier_key(carrier));
    if (!removed) co_return std::unexpected(std::move(removed.error()));
  }
  for (const Carrier carrier : {Carrier::reads, Carrier::writes})
    if (auto gone = co_await moved.wait_until_gone(resources::pods, moved.carrier_key(carrier)); !gone) co_return gone;
  co_return Result<void>();
}

asio::awaitable<Result<void>> remove_copy_claim(MovedClaim& moved, bool with_data) {
  Cluster& cluster = moved.cluster();
  auto claim = co_await cluster.find(kinds::claims, moved.copy_key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  if (!*claim) co_return Result<void>();
  const std::string volume(string_at((*claim)->spec(), {"volumeName"}));
  bool goes = false;
  if (with_data && !volume.empty()) {
    auto found = co_await cluster.find(kinds::volumes, {"", volume});
    if (!found) co_return std::unexpected(std::move(found.error()));
    // Whoever may make claims can make this one name any volume of the cluster.
    goes = *found && liqo::core::storage::is_volume_of(**found, **claim);
    if (goes)
      if (auto set = co_await moved.set_policy(**found, "Delete"); !set) co_return set;
  }
  auto removed = co_await cluster.remove(kinds::claims, moved.copy_key(), {.uid = std::string((*claim)->uid())});
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  if (auto gone = co_await moved.wait_until_gone(kinds::claims, moved.copy_key()); !gone) co_return gone;
  if (goes) co_return co_await moved.wait_until_gone(kinds::volumes, {"", volume});
  co_return Result<void>();
}

asio::awaitable<Result<bool>> remove_leftovers(MovedClaim& moved) {
  auto claim = co_await moved.cluster().find(kinds::claims, moved.copy_key());
  if (!claim) co_return std::unexpected(std::move(claim.error()));
  if (auto gone = co_await remove_carriers(moved); !gone) co_return std::unexpected(std::move(gone.error()));
  if (!*claim || (*claim)->annotation(annotations::moves_claim) != moved.asked().claim) co_return false;
  if (auto gone = co_await remove_copy_claim(moved, true); !gone) co_return std::unexpected(std::move(gone.error()));
  co_return true;
}

}  // namespace liqoctl
