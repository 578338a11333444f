#include "kube/runtime/leader_elector.hpp"

#include <boost/asio/this_coro.hpp>

#include "kube/async/timeout.hpp"

namespace kube {

LeaseRecord read_lease(const Object& lease) {
  LeaseRecord record;
  record.holder = string_at(lease.tree(), {"spec", "holderIdentity"});
  const json::value spec = lease.spec();
  record.duration_seconds = int_at(spec, {"leaseDurationSeconds"});
  record.transitions = int_at(spec, {"leaseTransitions"});
  if (auto time = parse_time(string_at(spec, {"renewTime"}))) record.renewed = *time;
  return record;
}

LeaderElector::LeaderElector(const asio::any_io_executor& executor, Api& api, LeaderElectionSettings settings)
    : Leadership(executor),
      api_(api),
      settings_(std::move(settings)),
      log_(Log("leader").with("lease", settings_.lease.text())) {}

bool LeaderElector::may_write() const { return is_leader() && api_.clock().now() < fence_; }

void LeaderElector::change(bool leading) {
  if (leading == is_leader()) return;
  if (leading) {
    log_.info("leads");
  } else {
    log_.warn("leads no longer");
  }
  set_leading(leading);
}

asio::awaitable<void> LeaderElector::run() {
  std::exception_ptr ended;
  try {
    while (true) {
      auto tried = co_await async::with_timeout(api_.clock(), try_once(), settings_.renew_deadline);
      if (tried && !*tried && !tried->error().is_conflict())
        log_.warn("the lease cannot be read or written", {{"error", tried->error()}});
      if (is_leader() && api_.clock().now() >= fence_) change(false);
      co_await api_.clock().sleep(settings_.retry_period);
    }
  } catch (...) {
    ended = std::current_exception();
  }
  if (is_leader()) {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await async::with_timeout(api_.clock(), release(), std::chrono::seconds(2));
    change(false);
  }
  std::rethrow_exception(ended);
}

Object LeaderElector::forge(const Object* current, const LeaseRecord* before, bool releasing) const {
  Object lease = current ? *current : Object::make(resources::leases, settings_.lease);
  const std::string now = format_micro_time(api_.clock().wall());
  json::object& spec = lease.mutable_spec();
  spec["holderIdentity"] = releasing ? "" : settings_.identity;
  const auto duration = std::chrono::ceil<std::chrono::seconds>(settings_.lease_duration).count();
  spec["leaseDurationSeconds"] = releasing ? 1 : duration;
  spec["renewTime"] = now;
  if (!before || before->holder != settings_.identity) {
    spec["acquireTime"] = now;
    spec["leaseTransitions"] = before ? before->transitions + 1 : 0;
  }
  return lease;
}

asio::awaitable<Result<void>> LeaderElector::try_once() {
  const TimePoint sent = api_.clock().now();
  auto current = co_await api_.get(resources::leases, settings_.lease);
  if (!current && !current.error().is_not_found()) co_return std::unexpected(std::move(current.error()));

  if (!current) {
    const Object lease = forge(nullptr, nullptr, false);
    auto created = co_await api_.create(resources::leases, lease);
    if (!created) co_return std::unexpected(std::move(created.error()));
  } else {
    const LeaseRecord record = read_lease(*current);
    if (record.holder != settings_.identity && !record.holder.empty()) {
      change(false);
      if (current->resource_version() != seen_version_) {
        seen_version_ = current->resource_version();
        seen_at_ = sent;
      }
      if (sent - seen_at_ < std::chrono::seconds(record.duration_seconds)) co_return Result<void>();
    }
    const Object lease = forge(&*current, &record, false);
    auto replaced = co_await api_.replace(resources::leases, lease);
    if (!replaced) co_return std::unexpected(std::move(replaced.error()));
  }
  fence_ = sent + settings_.renew_deadline;
  change(true);
  co_return Result<void>();
}

asio::awaitable<void> LeaderElector::release() {
  auto current = co_await api_.get(resources::leases, settings_.lease);
  if (!current) co_return;
  const LeaseRecord record = read_lease(*current);
  if (record.holder != settings_.identity) co_return;
  const Object lease = forge(&*current, &record, true);
  auto released = co_await api_.replace(resources::leases, lease);
  if (!released) log_.debug("the lease was not released", {{"error", released.error()}});
}

}  // namespace kube
