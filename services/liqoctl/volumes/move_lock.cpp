#include "volumes/move_lock.hpp"

#include "kube/base/printable.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
namespace resources = kube::resources;

/// The Lease is valid for `term` and renewed every `renewal`.
constexpr kube::Duration term = std::chrono::seconds(20), renewal = std::chrono::seconds(4);

std::string random_name(kube::Random& random) {
  return "liqoctl-" + std::to_string(random.next()) + "-" + std::to_string(random.next());
}

std::string_view holder_of(const Object& lease) { return kube::string_at(lease.spec(), {"holderIdentity"}); }

}  // namespace

MoveLock::MoveLock(Cluster& cluster, asio::any_io_executor executor, kube::ObjectKey lease)
    : cluster_(cluster),
      key_(std::move(lease)),
      holder_(random_name(cluster.api().random())),
      tasks_(std::move(executor)) {}

bool MoveLock::is_held() const { return !is_lost_ && cluster_.clock().now() - renewed_ < term; }

asio::awaitable<Result<void>> MoveLock::write(Object lease, bool is_new) {
  const kube::TimePoint asked = cluster_.clock().now();
  kube::json::object& spec = lease.mutable_spec();
  spec["holderIdentity"] = kube::json::string(holder_);
  spec["leaseDurationSeconds"] = std::chrono::duration_cast<std::chrono::seconds>(term).count();
  spec["renewTime"] = kube::format_micro_time(cluster_.clock().wall());
  KUBE_CO_TRY(written, is_new ? co_await cluster_.api().create(resources::leases, lease)
                              : co_await cluster_.api().replace(resources::leases, lease));
  lease_ = std::move(written);
  renewed_ = asked;
  co_return Result<void>();
}

asio::awaitable<Result<void>> MoveLock::acquire() {
  const auto is_taken = [](std::string_view by) {
    return kube::fail(Errc::invalid_input,
                      "another move of this claim is under way (" + kube::printable(by) + "): wait until it has ended");
  };
  KUBE_CO_TRY(found, co_await cluster_.find(resources::leases, key_));
  if (found) {
    // A change of the Lease shows that its holder is alive. Its times do not, because clocks may differ.
    const std::string seen(found->resource_version());
    cluster_.output().doing(cluster_.scope(), "looking whether an earlier move of this claim still goes on");
    const kube::TimePoint until = cluster_.clock().now() + term;
    while (found && found->resource_version() == seen && cluster_.clock().now() < until) {
      co_await cluster_.clock().sleep(std::chrono::seconds(1));
      KUBE_CO_TRY(again, co_await cluster_.find(resources::leases, key_));
      found = std::move(again);
    }
    if (found && found->resource_version() != seen) co_return is_taken(holder_of(*found));
  }
  const bool is_new = !found;
  auto written = co_await write(is_new ? Object::make(resources::leases, key_) : std::move(*found), is_new);
  if (!written && (written.error().is_conflict() || written.error().is_already_exists()))
    co_return is_taken("it has just begun");
  if (written) tasks_.spawn(renew());
  co_return written;
}

asio::awaitable<void> MoveLock::renew() {
  while (true) {
    co_await cluster_.clock().sleep(renewal);
    auto written = co_await write(lease_, false);
    if (written || (!written.error().is_conflict() && !written.error().is_not_found())) continue;
    // The answer to an earlier write may have been lost, so the version that conflicts may be our own.
    auto found = co_await cluster_.find(resources::leases, key_);
    if (!found) continue;
    if (!*found || holder_of(**found) != holder_) {
      is_lost_ = true;
      co_return;
    }
    lease_ = std::move(**found);
  }
}

asio::awaitable<void> MoveLock::release() {
  co_await tasks_.stop();
  if (!lease_.name().empty() && is_held())
    static_cast<void>(co_await cluster_.api().remove(resources::leases, key_, {.uid = std::string(lease_.uid())}));
}

}  // namespace liqoctl
