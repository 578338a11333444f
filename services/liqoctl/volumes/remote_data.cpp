#include "volumes/remote_data.hpp"

#include <algorithm>

#include "liqo/api/kinds.hpp"
#include "model/volume/volumes.hpp"

namespace liqoctl {

namespace kinds = liqo::api::kinds;
using liqo::core::storage::RemoteData;

asio::awaitable<Result<std::vector<RemoteData>>> find_remote_data(Cluster& cluster, VolumesIn where) {
  KUBE_CO_TRY(volumes, co_await cluster.list(kinds::volumes, ""));
  KUBE_CO_TRY(claims, co_await cluster.list(kinds::claims, where.ns));
  std::vector<RemoteData> of_volumes, of_claims;
  for (const Object& volume : volumes)
    if (auto data = liqo::core::storage::data_of_volume(volume)) of_volumes.push_back(std::move(*data));
  for (const Object& claim : claims)
    if (auto data = liqo::core::storage::data_of_claim(claim)) of_claims.push_back(std::move(*data));
  auto found = liqo::core::storage::each_once(std::move(of_volumes), std::move(of_claims));
  std::erase_if(found, [&](const RemoteData& data) {
    return (!where.ns.empty() && data.claim.ns != where.ns) ||
           (!where.cluster.empty() && data.cluster != where.cluster);
  });
  co_return found;
}

asio::awaitable<Result<void>> clear_volumes(Cluster& cluster, VolumesIn where, bool delete_volumes) {
  auto there = co_await find_remote_data(cluster, where);
  if (!there && there.error().is_forbidden() && delete_volumes) co_return Result<void>();
  if (!there)
    co_return kube::fail(std::move(there.error()),
                         "looking for volumes whose data would be lost (to go on without, " + where.way_out + ")");
  if (there->empty()) co_return Result<void>();
  if (!delete_volumes)
    co_return kube::fail(kube::Errc::invalid_input, model::describe_remote_data(*there, where.way_out));
  for (const RemoteData& data : *there) {
    if (data.has_claim) {
      auto removed = co_await cluster.remove(kinds::claims, data.claim, {.uid = data.claim_uid});
      if (!removed && !removed.error().is_conflict())
        co_return kube::fail(std::move(removed.error()), "deleting the claim " + data.claim.text());
    }
    // Kubernetes keeps the volume as long as the claim exists.
    if (data.volume.empty() || (data.has_claim && !data.outlasts)) continue;
    KUBE_CO_TRYV(co_await cluster.remove(kinds::volumes, {"", data.volume}), "deleting the volume " + data.volume);
  }
  co_return Result<void>();
}

}  // namespace liqoctl
