#include "volumes/move.hpp"

#include <boost/asio/this_coro.hpp>
#include <string>
#include <utility>

#include "kube/async/finally.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "volumes/claim_switch.hpp"
#include "volumes/move_leftovers.hpp"
#include "volumes/move_lock.hpp"
#include "volumes/move_preparation.hpp"
#include "volumes/moved_claim.hpp"
#include "volumes/volume_copy.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
using kube::Errc;

/// One move, under its Lease: it checks everything, copies and compares the data, and switches the claim. One thread.
class Mover {
 public:
  Mover(Session& session, Cluster& cluster, const MoveLock& lock, const VolumeMove& asked)
      : moved_(session, cluster, lock, asked), switch_(moved_) {}

  /// Finishes a move that was begun, and then moves the data if it is not at the target.
  asio::awaitable<Result<void>> run();

 private:
  /// Copies, locks the claim, and copies again if the source has changed meanwhile.
  asio::awaitable<Result<void>> carry(model::MoveRecord& record, VolumeCopy& copy);
  /// Cleans up, and adds to the failure of carry() what is left, and what to do.
  asio::awaitable<Result<void>> give_up(kube::Failure failure, std::string source);

  MovedClaim moved_;
  ClaimSwitch switch_;
};

asio::awaitable<Result<void>> Mover::run() {
  KUBE_CO_TRY(resumed, co_await switch_.resume());
  if (resumed) co_return Result<void>();
  KUBE_CO_TRY(move, co_await prepare_move(moved_));
  VolumeCopy copy(moved_, move);
  if (auto carried = co_await carry(move.record, copy); !carried)
    co_return co_await give_up(std::move(carried.error()), move.record.source);
  co_return co_await switch_.finish(move.record, copy.volume());
}

asio::awaitable<Result<void>> Mover::carry(model::MoveRecord& record, VolumeCopy& copy) {
  KUBE_CO_TRYV(co_await copy.begin());
  KUBE_CO_TRY(before, co_await copy.state());
  KUBE_CO_TRYV(co_await copy.copy());
  KUBE_CO_TRYV(co_await switch_.lock(record, copy.volume()));
  KUBE_CO_TRY(after, co_await copy.state());
  if (before != after) {
    moved_.log("files have changed since the copy was begun: they are copied again");
    KUBE_CO_TRYV(co_await copy.copy());
    KUBE_CO_TRY(at_last, co_await copy.state());
    if (after != at_last)
      co_return kube::fail(Errc::invalid_input,
                           "files of " + moved_.words() + " go on changing: end what writes to them");
  }
  KUBE_CO_TRYV(moved_.still_mine());
  record.verified = true;
  co_return co_await moved_.note(copy.volume(), json::object{{annotations::move_record, model::write_record(record)}});
}

asio::awaitable<Result<void>> Mover::give_up(kube::Failure failure, std::string source) {
  const std::string claim = moved_.key().text();
  if (switch_.is_locked())
    co_return kube::fail(std::move(failure), "claim " + claim +
                                                 " comes back when the same command is run again; its "
                                                 "data is in PersistentVolume " +
                                                 source);
  static_cast<void>(co_await remove_carriers(moved_));
  if (switch_.is_noted())
    co_return kube::fail(failure.code(),
                         failure.text() + ". Claim " + claim +
                             " has its volume and data still, but the switch to the copy may have begun: run the "
                             "same command again, which goes on from there, and delete nothing");
  const kube::ObjectKey key = moved_.copy_key();
  auto copy = co_await moved_.cluster().find(kinds::claims, key);
  if (!copy || !*copy || (*copy)->annotation(annotations::moves_claim) != moved_.asked().claim)
    co_return std::unexpected(std::move(failure));
  co_return kube::fail(failure.code(), failure.text() + ". Claim " + key.text() +
                                           ", which was to get the copy, is left: the same command goes on with it; "
                                           "who gives up removes it: kubectl delete pvc " +
                                           key.name + " -n " + moved_.ns());
}

asio::awaitable<Result<void>> move_under(MoveLock& lock, Session& session, Cluster& cluster, const VolumeMove& asked) {
  KUBE_CO_TRYV(co_await lock.acquire());
  Mover mover(session, cluster, lock, asked);
  co_return co_await mover.run();
}

}  // namespace

asio::awaitable<Result<void>> move_volume(Session& session, Cluster& cluster, VolumeMove asked) {
  MoveLock lock(cluster, co_await asio::this_coro::executor, {cluster.ns(), model::move_name(asked.claim)});
  co_return co_await kube::async::finally(move_under(lock, session, cluster, asked), lock.release());
}

}  // namespace liqoctl
