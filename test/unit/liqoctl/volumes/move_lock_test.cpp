// The Lease of a move, while answers are lost and others write.
#include "volumes/move_lock.hpp"

#include <doctest/doctest.h>

#include "../peered_clusters.hpp"
#include "kube/async/finally.hpp"
#include "session/session.hpp"

namespace liqoctl::test {
namespace {

using namespace std::chrono_literals;

const kube::ObjectKey lease{"shop", "liqo-move-data"};
const std::string path_of_lease = resources::leases.path(lease.ns, lease.name);

/// Runs `meanwhile` while a lock of rome is held.
using Meanwhile = std::function<asio::awaitable<void>(MoveLock& lock)>;

asio::awaitable<Result<void>> hold_under(MoveLock& lock, const Meanwhile& meanwhile) {
  KUBE_CO_TRYV(co_await lock.acquire());
  co_await meanwhile(lock);
  co_return Result<void>();
}

asio::awaitable<Result<void>> hold(Session& session, const Meanwhile& meanwhile) {
  KUBE_CO_TRY(cluster, co_await session.local());
  MoveLock lock(*cluster, co_await asio::this_coro::executor, lease);
  co_return co_await kube::async::finally(hold_under(lock, meanwhile), lock.release());
}

struct Holder {
  CommandWorld world;
  TestCluster rome{world, "rome"};

  int hold(const Meanwhile& meanwhile) {
    return world.run([&meanwhile](Session& session) { return test::hold(session, meanwhile); }, rome).code;
  }
  asio::awaitable<void> sleep(kube::Duration duration) { return world.simulator().clock().sleep(duration); }
  void change_lease(std::string_view patch) { rome.change(resources::leases, lease, patch); }
};

TEST_CASE("a move goes on if a renewal of its Lease was stored and the answer was lost") {
  Holder holder;
  bool held = false;
  const Meanwhile lose_one = [&](MoveLock& lock) -> asio::awaitable<void> {
    co_await holder.sleep(2s);
    holder.rome.link().set_faults({.lost_answer = 1});
    co_await holder.sleep(4s);
    holder.rome.link().set_faults({});
    co_await holder.sleep(60s);
    held = lock.is_held();
  };
  CHECK(holder.hold(lose_one) == 0);
  CHECK(held);
  CHECK_FALSE(holder.rome.has(resources::leases, lease));
}

TEST_CASE("a move ends if another one has taken its Lease, or the Lease is gone") {
  Holder holder;
  bool held = true, is_gone = false;
  SUBCASE("taken") {}
  SUBCASE("gone") { is_gone = true; }
  const Meanwhile lose_it = [&](MoveLock& lock) -> asio::awaitable<void> {
    co_await holder.sleep(2s);
    if (is_gone)
      holder.rome.remove(resources::leases, lease);
    else
      holder.change_lease(R"({"spec": {"holderIdentity": "liqoctl-another"}})");
    co_await holder.sleep(4s);
    held = lock.is_held();
  };
  CHECK(holder.hold(lose_it) == 0);
  CHECK_FALSE(held);
  CHECK(holder.rome.has(resources::leases, lease) == !is_gone);
}

TEST_CASE("a move whose Lease cannot be read after a conflict holds it for its term, and again once it is read") {
  Holder holder;
  bool held_within = false, held_after = true, held_again = false;
  const Meanwhile fail_reads = [&](MoveLock& lock) -> asio::awaitable<void> {
    co_await holder.sleep(2s);
    holder.change_lease(R"({"metadata": {"labels": {"touched": "true"}}})");
    holder.rome.broken.insert(path_of_lease);
    co_await holder.sleep(10s);
    held_within = lock.is_held();
    co_await holder.sleep(15s);
    held_after = lock.is_held();
    holder.rome.broken.clear();
    co_await holder.sleep(10s);
    held_again = lock.is_held();
  };
  CHECK(holder.hold(fail_reads) == 0);
  CHECK(held_within);
  CHECK_FALSE(held_after);
  CHECK(held_again);
}

}  // namespace
}  // namespace liqoctl::test
