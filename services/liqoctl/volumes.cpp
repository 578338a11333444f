#include "volumes.hpp"

#include "liqo/api/kinds.hpp"
#include "model/volumes.hpp"

namespace liqoctl {

namespace kinds = liqo::api::kinds;

asio::awaitable<Result<void>> clear_volumes(Cluster& cluster, VolumesIn where, bool delete_volumes) {
  auto found = co_await cluster.list(kinds::volumes, "");
  if (!found && found.error().is_forbidden() && delete_volumes) co_return Result<void>();
  if (!found)
    co_return kube::fail(std::move(found.error()),
                         "looking for volumes whose data would be lost (--delete-volumes goes on without)");
  std::vector<model::RemoteVolume> there;
  for (const Object& volume : *found) {
    auto one = model::remote_volume(volume);
    if (!one || (!where.ns.empty() && one->claim.ns != where.ns) ||
        (!where.cluster.empty() && one->cluster != where.cluster))
      continue;
    there.push_back(std::move(*one));
  }
  if (there.empty()) co_return Result<void>();
  if (!delete_volumes) co_return kube::fail(kube::Errc::invalid_input, model::describe_remote_volumes(there));
  for (const model::RemoteVolume& one : there) {
    auto removed = one.has_claim ? co_await cluster.remove(kinds::claims, one.claim, {.uid = one.claim_uid})
                                 : co_await cluster.remove(kinds::volumes, {"", one.name});
    if (!removed && !removed.error().is_conflict())
      co_return kube::fail(std::move(removed.error()), "deleting the claim " + one.claim.text());
  }
  co_return Result<void>();
}

}  // namespace liqoctl
