#include "peering/foreign_cluster.hpp"

#include "liqo/api/kinds.hpp"
#include "model/peer/remote_namespace.hpp"
#include "session/find_one.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;

/// Looks for the ForeignCluster. If it is there, `key` becomes its key.
asio::awaitable<Result<WaitState>> look_for_peer(Cluster& consumer, std::string provider_id, kube::ObjectKey& key) {
  KUBE_CO_TRY(peer, co_await find_peer(consumer, provider_id));
  if (!peer) co_return WaitState{.seen = "there is none yet"};
  key = peer->key();
  co_return WaitState{.done = true};
}

}  // namespace

asio::awaitable<Result<kube::ObjectKey>> wait_for_foreign_cluster(Session& session, Cluster& consumer,
                                                                  std::string provider_id) {
  kube::ObjectKey key;
  const std::function<asio::awaitable<Result<WaitState>>()> look = [&] {
    return look_for_peer(consumer, provider_id, key);
  };
  KUBE_CO_TRYV(
      co_await wait_for(
          consumer, {.what = "the ForeignCluster of " + provider_id + " to be made", .deadline = session.deadline()},
          look),
      consumer.scope());
  co_return key;
}

asio::awaitable<Result<void>> declare_remote_namespace(Session& session, Session::Pair pair) {
  Cluster& consumer = *pair.consumer;
  const std::string ns = pair.provider->liqo_namespace();
  KUBE_CO_TRY(peer, co_await find_peer(consumer, pair.provider_id), consumer.scope());
  Object copy = peer ? *peer : Object();
  if (!model::note_remote_namespace(copy, ns)) co_return Result<void>();
  const std::string noted = "namespace of Liqo at " + pair.provider_id;
  if (session.flags().dry_run) {
    session.output().info(consumer.scope(), noted + " would be noted: " + ns);
    co_return Result<void>();
  }
  KUBE_CO_TRY(key, co_await wait_for_foreign_cluster(session, consumer, pair.provider_id));
  const std::function<bool(Object&)> change = [&ns](Object& object) {
    return model::note_remote_namespace(object, ns);
  };
  KUBE_CO_TRY(done, co_await update(consumer, kinds::foreign_clusters, key, change), consumer.scope());
  if (done == Ensured::changed) session.output().success(consumer.scope(), noted + " noted: " + ns);
  co_return Result<void>();
}

}  // namespace liqoctl
