#include "kube/runtime/leader_elector.hpp"

#include <stdexcept>

#include "kube/async/finally.hpp"
#include "kube/async/timeout.hpp"

namespace kube {
namespace {

/// By which part of the retry period a try comes earlier, at most.
constexpr double max_early = 0.2;

/// The spec of a coordination.k8s.io/v1 Lease.
struct LeaseRecord {
  std::string holder;
  std::int64_t duration_seconds = 0;
  std::int64_t transitions = 0;
};

LeaseRecord read_lease(const Object& lease) {
  LeaseRecord record;
  record.holder = string_at(lease.tree(), {"spec", "holderIdentity"});
  const json::object& spec = lease.spec();
  record.duration_seconds = int_at(spec, {"leaseDurationSeconds"});
  record.transitions = int_at(spec, {"leaseTransitions"});
  return record;
}

}  // namespace

LeaderElector::LeaderElector(const asio::any_io_executor& executor, Api& open_api, LeaderElectionSettings settings)
    : Leadership(executor),
      executor_(executor),
      open_api_(open_api),
      settings_(std::move(settings)),
      log_(Log("leader").with("lease", settings_.lease.text())) {
  if (settings_.retry_period >= settings_.renew_deadline || settings_.renew_deadline >= settings_.lease_duration)
    throw std::invalid_argument("leader election needs retry period < renew deadline < lease duration");
}

LeaderElector::~LeaderElector() {
  if (fall_) open_api_.clock().cancel(*fall_);
}

bool LeaderElector::may_write() const { return is_leader() && open_api_.clock().now() < fence_; }

void LeaderElector::change(bool leading) {
  if (leading == is_leader()) return;
  if (leading) {
    log_.info("leads");
  } else {
    log_.warn("leads no longer");
  }
  set_leading(leading);
}

void LeaderElector::set_fence(TimePoint at) {
  if (fall_) open_api_.clock().cancel(*fall_);
  fall_.reset();
  fence_ = at;
  if (fence_ <= open_api_.clock().now()) {
    change(false);
    return;
  }
  fall_ = open_api_.clock().call_at(executor_, fence_, [this] {
    fall_.reset();
    change(false);
  });
  change(true);
}

void LeaderElector::see(const Object& lease) {
  const std::uint64_t version = lease.version_number();
  const bool is_older = version != 0 && version < newest_;
  newest_ = version;
  if (!is_older) return;
  log_.warn("the lease is older than it was: the database of the cluster was restored");
  if (settings_.rewound) settings_.rewound();
}

asio::awaitable<void> LeaderElector::run() { co_await async::finally(compete(), step_down()); }

asio::awaitable<void> LeaderElector::compete() {
  while (true) {
    auto tried = co_await async::with_timeout(open_api_.clock(), try_once(), settings_.renew_deadline);
    // Another replica may have been faster.
    const bool was_late = tried && !*tried && (tried->error().is_conflict() || tried->error().is_already_exists());
    const std::string failure = !tried                 ? "the API server did not answer in time"
                                : !*tried && !was_late ? tried->error().text()
                                                       : "";
    if (!failure.empty())
      if (const auto held_back = failures_.note(failure, open_api_.clock().now()))
        log_.warn("the lease cannot be read or written", {{"error", failure}, {"others_since", *held_back}});
    // Replicas that were started together are not to ask together for ever. Never later than the period, which the
    // deadline for renewals was checked against.
    const double early = max_early * open_api_.random().unit();
    co_await open_api_.clock().sleep(std::chrono::duration_cast<Duration>(settings_.retry_period * (1 - early)));
  }
}

asio::awaitable<void> LeaderElector::step_down() {
  if (!is_leader()) co_return;
  // In this order, because a replica that finds the lease free may write at once.
  set_fence(open_api_.clock().now());
  if (open_api_.clock().now() < doubt_until()) {
    log_.info("the lease is left to run out: writes of this leader or of one before may still be carried out");
    co_return;
  }
  co_await async::with_timeout(open_api_.clock(), release(), std::chrono::seconds(2));
}

Object LeaderElector::forge(const Object* current, bool releasing) const {
  Object lease = current ? *current : Object::make(resources::leases, settings_.lease);
  const std::string now = format_micro_time(open_api_.clock().wall());
  json::object& spec = lease.mutable_spec();
  spec["holderIdentity"] = releasing ? "" : settings_.identity;
  const auto duration = std::chrono::ceil<std::chrono::seconds>(settings_.lease_duration).count();
  spec["leaseDurationSeconds"] = releasing ? 1 : duration;
  spec["renewTime"] = now;
  const std::optional<LeaseRecord> before = current ? std::optional(read_lease(*current)) : std::nullopt;
  if (!before || before->holder != settings_.identity) {
    spec["acquireTime"] = now;
    spec["leaseTransitions"] = before ? before->transitions + 1 : 0;
  }
  return lease;
}

asio::awaitable<Result<void>> LeaderElector::try_once() {
  const TimePoint sent = open_api_.clock().now();
  bool is_expired = false;
  auto current = co_await open_api_.get(resources::leases, settings_.lease);
  if (!current && !current.error().is_not_found()) co_return std::unexpected(std::move(current.error()));

  if (!current) {
    const Object lease = forge(nullptr, false);
    KUBE_CO_TRY(created, co_await open_api_.create(resources::leases, lease));
    see(created);
  } else {
    see(*current);
    const LeaseRecord record = read_lease(*current);
    // Also one of this name, if it was another process: a container that was restarted in its pod.
    is_expired = !record.holder.empty() && (record.holder != settings_.identity || !has_led_);
    if (record.holder != settings_.identity && !record.holder.empty()) {
      // The answer to taking it over may get lost, and then its own name does not show who led before.
      has_led_ = false;
      set_fence(sent);
      // From the answer on: the renewal that it shows may have been made just before the server sent it.
      const TimePoint read = open_api_.clock().now();
      if (current->resource_version() != seen_version_) {
        seen_version_ = current->resource_version();
        seen_at_ = read;
      }
      if (read - seen_at_ < std::chrono::seconds(record.duration_seconds)) co_return Result<void>();
    }
    const Object lease = forge(&*current, false);
    KUBE_CO_TRY(replaced, co_await open_api_.replace(resources::leases, lease));
    see(replaced);
  }
  // Its holder was killed, or has lost its way to the server: it sends nothing any more, but has not said so.
  if (is_expired) inherit_doubt(open_api_.clock().now() + settings_.late_requests);
  has_led_ = true;
  set_fence(sent + settings_.renew_deadline);
  co_return Result<void>();
}

asio::awaitable<void> LeaderElector::release() {
  auto current = co_await open_api_.get(resources::leases, settings_.lease);
  if (!current) co_return;
  if (read_lease(*current).holder != settings_.identity) co_return;
  const Object lease = forge(&*current, true);
  auto released = co_await open_api_.replace(resources::leases, lease);
  if (!released) log_.debug("the lease was not released", {{"error", released.error()}});
}

}  // namespace kube
