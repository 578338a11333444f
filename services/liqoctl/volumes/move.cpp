#include "volumes/move.hpp"

#include <boost/asio/this_coro.hpp>

#include "kube/async/finally.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "model/volume/volume_move.hpp"
#include "volumes/move_lock.hpp"
#include "volumes/mover.hpp"

namespace liqoctl {

namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
using kube::Errc;

std::string cluster_in_words(std::string_view cluster) {
  return cluster.empty() ? "this cluster" : "cluster " + std::string(cluster);
}

asio::awaitable<Result<void>> Mover::run() {
  auto record = co_await find_record();
  if (!record) co_return std::unexpected(std::move(record.error()));
  if (*record) {
    auto resumed = co_await resume((*record)->second, (*record)->first);
    if (!resumed) co_return std::unexpected(std::move(resumed.error()));
    if (*resumed) co_return Result<void>();
  }
  auto ready = co_await prepare();
  if (!ready) co_return ready;
  auto carried = co_await carry();
  if (!carried) {
    if (is_locked_)
      co_return kube::fail(std::move(carried.error()), "claim " + claim_key().text() +
                                                           " comes back when the same command is run again; its "
                                                           "data is in PersistentVolume " +
                                                           record_.source);
    (void)co_await remove_carriers();
    if (is_noted_)
      co_return kube::fail(carried.error().code(),
                           carried.error().text() + ". Claim " + claim_key().text() +
                               " has its volume and data still, but the switch to the copy may have begun: run the "
                               "same command again, which goes on from there, and delete nothing");
    auto copy = co_await cluster_.find(kinds::claims, copy_key());
    if (!copy || !*copy || (*copy)->annotation(annotations::moves_claim) != asked_.claim) co_return carried;
    co_return kube::fail(carried.error().code(),
                         carried.error().text() + ". Claim " + copy_key().text() +
                             ", which was to get the copy, is left: the same command goes on with it; who gives up "
                             "removes it: kubectl delete pvc " +
                             copy_key().name + " -n " + ns_);
  }
  co_return co_await finish(record_, copy_);
}

Result<void> Mover::still_mine() const {
  if (lock_.is_held()) return {};
  return kube::fail(Errc::stopped, "the Lease " + copy_key().text() +
                                       " could not be renewed, so another move may have begun; run " +
                                       "the same command again");
}

namespace {

asio::awaitable<Result<void>> move_under(MoveLock& lock, Session& session, Cluster& cluster, const VolumeMove& asked) {
  if (auto locked = co_await lock.acquire(); !locked) co_return locked;
  Mover mover(session, cluster, lock, asked);
  co_return co_await mover.run();
}

}  // namespace

asio::awaitable<Result<void>> move_volume(Session& session, Cluster& cluster, VolumeMove asked) {
  MoveLock lock(cluster, co_await asio::this_coro::executor, {cluster.ns(), model::move_name(asked.claim)});
  co_return co_await kube::async::finally(move_under(lock, session, cluster, asked), lock.release());
}

}  // namespace liqoctl
