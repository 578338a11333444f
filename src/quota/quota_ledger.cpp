#include "quota/quota_ledger.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "core/admission/shadow_pod.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/quota/quota_user.hpp"
#include "kube/async/finally.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "quota/quota_ledger_parts.hpp"
#include "quota/quota_users.hpp"
#include "telemetry/families.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

using core::QuotaVerdict;
using Ruling = QuotaVerdict::Ruling;
using core::QuotaRefusal;
using core::admission::Answer;

/// The time between two looks at reservations whose ShadowPod nobody has seen stored ...
constexpr kube::Duration expiry_interval = 5s;
/// ... and the time after a look that was cut short.
constexpr kube::Duration next_expiry_round = 1s;
/// More admissions than this in one write would make the record grow in leaps.
constexpr std::size_t max_batch = 500;
/// A longer queue is refused, because callers would give up before their turn.
constexpr std::size_t max_waiting = 5'000;
/// While the cache of ShadowPods is behind, the record keeps what is stored already, and each batch writes it again.
/// This bounds the bytes written in a second.
constexpr double max_record_bytes_per_second = 2.0 * 1024 * 1024;

kube::Duration pause_for(std::size_t bytes) {
  return std::chrono::duration_cast<kube::Duration>(
      std::chrono::duration<double>(static_cast<double>(bytes) / max_record_bytes_per_second));
}

}  // namespace

QuotaLedger::QuotaLedger(LedgerContext context, kube::Api& replica_api, LedgerSettings settings)
    : context_(context),
      replica_api_(replica_api),
      settings_(settings),
      stored_(context, replica_api, settings.counting, [this] { tell_usage(); }),
      quotas_(context.home.acquire({.resource = api::kinds::quotas})),
      namespaces_(context.home.acquire(
          {.resource = kube::resources::namespaces, .selection = core::marked_tenant_namespaces()})),
      records_(context.home.acquire({.resource = kube::resources::config_maps,
                                     .ns = context.liqo_namespace,
                                     .selection = {.label_selector = kube::label_is(api::labels::ledger)}})),
      quota_gone_(context.executor),
      group_(context.executor),
      log_("quota-ledger") {
  const auto counter = [&](std::string_view outcome) {
    return context.metrics.counter(families::quota_admissions, {{"outcome", std::string(outcome)}});
  };
  admitted_ = counter("admitted");
  refused_ = counter("refused");
  unavailable_ = counter("unavailable");
  held_back_ = counter("held_back");
  unproven_ = context.metrics.gauge(families::quota_unproven);
  commits_ = context.metrics.counter(families::quota_commits);
  conflicts_ = context.metrics.counter(families::quota_conflicts);
  without_quota_ = context.metrics.counter(
      families::quota_refusals, {{"cluster_id", ""}, {"reason", std::string(word_for(QuotaRefusal::no_quota))}});
  index_quotas_by_user(*quotas_);
  stored_.on_stored([this](const kube::ObjectKey& pod, const core::HeldShadow& shadow) { confirm(pod, shadow); });
  quotas_.subscribe([this](const kube::ObjectKey& key) {
    if (!quotas_->store().contains(key)) quota_gone_.set();
  });
  records_.subscribe([this](const kube::Change& record) {
    if (!record.now) see_removed(record.previous() ? record.previous()->uid() : std::string_view());
    open_desk_of(record.key);
    tell_usage();
  });
}

QuotaLedger::~QuotaLedger() = default;

bool QuotaLedger::has_synced() const {
  return running_ && stored_.has_synced() && quotas_->has_synced() && namespaces_->has_synced() &&
         records_->has_synced();
}

asio::awaitable<void> QuotaLedger::run() {
  running_ = true;
  group_.spawn(stored_.run());
  group_.spawn(open_desks());
  group_.spawn(kube::run_while_leading(context_.leadership, [this] { return sweep(); }));
  co_await kube::async::finally(group_.join(), close());
}

asio::awaitable<void> QuotaLedger::close() {
  running_ = false;
  co_await group_.stop();
  const QuotaVerdict stopping = QuotaVerdict::unavailable("liqod is shutting down");
  for (auto& [key, desk] : desks_) {
    tell_all(std::exchange(desk->batch, {}), stopping);
    for (const auto& asked : std::exchange(desk->queue, {})) tell(*asked, stopping);
    for (const auto& settling : std::exchange(desk->settling, {})) settling->answered.set();
  }
}

core::QuotaUsage QuotaLedger::usage(const kube::ObjectKey& quota) const {
  core::QuotaUsage usage;
  const auto object = quotas_->find(quota);
  if (!object) return usage;
  const std::string user = core::escape_user(api::Quota(*object).user());
  usage.used = stored_.account().used(user);
  usage.pods = static_cast<std::int64_t>(stored_.account().pods(user));
  // The cache of records has what other replicas have admitted; the desk may not.
  if (const auto config_map = records_->find({context_.liqo_namespace, core::ledger_name(quota)}))
    if (const auto record = core::LedgerRecord::read(*config_map)) usage.reserved = reserved(*record);
  return usage;
}

std::expected<QuotaLedger::Desk*, std::string> QuotaLedger::find_desk(const std::string& user,
                                                                      std::string_view origin) {
  std::vector<kube::ObjectKey> found;
  for (kube::ObjectKey& key : quotas_->store().keys(quotas_by_user, user)) {
    const auto tenant = namespaces_->find({"", key.ns});
    if (tenant && tenant->label(api::labels::remote_cluster_id) == origin) found.push_back(std::move(key));
  }
  if (found.empty())
    return std::unexpected("there is no quota for user \"" + user + "\" of cluster " + std::string(origin) +
                           ": its ResourceSlice is not accepted (any more)");
  if (found.size() > 1)
    return std::unexpected("quotas " + found[0].text() + " and " + found[1].text() + " are both for user " + user +
                           "; the provider's administrator has to delete one");
  return &open_desk(found[0]);
}

QuotaLedger::Desk& QuotaLedger::open_desk(const kube::ObjectKey& quota) {
  auto& desk = desks_[quota];
  if (!desk) {
    desk = std::make_unique<Desk>(context_.executor);
    desk->quota = quota;
    group_.spawn(serve(*desk));
  }
  return *desk;
}

asio::awaitable<Answer> QuotaLedger::answer(const core::admission::Request& request,
                                            const core::admission::PodPolicy& policy, core::Claimant claimant) {
  const std::string origin(request.object.label(api::labels::reflection_origin));
  if (std::string refusal = core::admission::refuse_growth(request, stored(origin), policy, claimant.proven);
      !refusal.empty())
    co_return Answer::deny(std::move(refusal));
  const bool creates = request.operation == core::admission::Operation::create;
  if (!creates && !core::admission::is_resize(request)) co_return Answer::allow();
  QuotaVerdict verdict =
      co_await decide_on(request.object, creates ? nullptr : &request.old_object, request.dry_run, std::move(claimant));
  switch (verdict.ruling) {
    case Ruling::admitted:
      co_return Answer::allow();
    case Ruling::refused:
      co_return Answer::deny(std::move(verdict.text));
    case Ruling::unavailable:
    case Ruling::held_back:
      break;
  }
  co_return Answer::unavailable(std::move(verdict.text));
}

asio::awaitable<QuotaVerdict> QuotaLedger::decide_on(const kube::Object& shadow_pod, const kube::Object* before,
                                                     bool dry_run, core::Claimant claimant) {
  if (!has_synced()) {
    unavailable_.add();
    co_return QuotaVerdict::unavailable("liqod has just started and is counting what runs; ask again in a moment");
  }
  const auto found =
      find_desk(std::string(shadow_pod.label(api::labels::creator_user)), api::ShadowPod(shadow_pod).origin());
  if (!found) {
    QuotaVerdict verdict = QuotaVerdict::refused(found.error(), QuotaRefusal::no_quota);
    count(verdict, nullptr);
    co_return verdict;
  }
  Desk& desk = **found;
  const kube::ObjectKey quota = desk.quota;
  // A dry run reserves nothing, so an unproven caller could use it to find out what is free.
  auto asked = dry_run && !claimant.proven ? std::unexpected(QuotaVerdict::held_back(quota))
                                           : question_of(desk, shadow_pod, before, std::move(claimant));
  if (asked) (*asked)->dry_run = dry_run;
  QuotaVerdict verdict = asked ? co_await wait_for(desk, std::move(*asked)) : std::move(asked.error());
  count(verdict, &quota);
  co_return verdict;
}

std::expected<std::shared_ptr<QuotaLedger::Asked>, QuotaVerdict> QuotaLedger::question_of(
    const Desk& desk, const kube::Object& shadow_pod, const kube::Object* before, core::Claimant claimant) {
  const auto refuse = [](std::string problem) {
    return std::unexpected(QuotaVerdict::refused(std::move(problem), QuotaRefusal::unreadable));
  };
  if (before && before->version_number() == 0)
    return refuse("the ShadowPod has no version from which it could be changed");
  auto needs = stored_.needs_of(shadow_pod);
  if (!needs) return refuse("the pod's amounts cannot be read: " + needs.error().text());
  if (desk.queue.size() >= max_waiting)
    return std::unexpected(
        QuotaVerdict::unavailable("quota " + desk.quota.text() + ": too many pods are waiting for it; ask again"));
  auto asked = std::make_shared<Asked>(context_.executor);
  asked->user = shadow_pod.label(api::labels::creator_user);
  core::Reservation& reservation = asked->reservation;
  reservation = {
      .pod = shadow_pod.key(), .demand = core::pod_demand(*needs, settings_.counting), .unproven = !claimant.proven};
  core::drop_zeros(reservation.demand);
  reservation.from = before ? before->version_number() : 0;
  // The ledger did not count a stored ShadowPod whose amounts it could not read: all of the new amounts are growth.
  if (before)
    if (const auto had = stored_.needs_of(*before))
      reservation.demand = core::beyond(reservation.demand, core::pod_demand(*had, settings_.counting));
  asked->key = before ? core::growth_key(shadow_pod.uid(), context_.random.next()) : std::string(shadow_pod.uid());
  if (!core::is_recordable(asked->key, reservation))
    return refuse("the pod names too many resources, or by too long names");
  asked->bytes = core::reservation_bytes(asked->key, reservation);
  asked->claimant = std::move(claimant);
  asked->needs = std::move(*needs);
  return asked;
}

asio::awaitable<QuotaVerdict> QuotaLedger::wait_for(Desk& desk, std::shared_ptr<Asked> asked) {
  // A caller that has gone, also one whose time is over, must not get a reservation.
  struct Leaving {
    Asked& asked;
    explicit Leaving(Asked& who) : asked(who) {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() {
      if (!asked.verdict) asked.verdict = QuotaVerdict::unavailable("nobody waits any more");
    }
  };
  const Leaving leaving(*asked);
  const std::string quota = "quota " + desk.quota.text();  // the desk may be gone after the wait
  desk.queue.push_back(asked);
  desk.wake.set();
  const bool in_time = co_await asked->answered.wait_for(context_.clock, settings_.patience);
  if (!in_time) tell(*asked, QuotaVerdict::unavailable(quota + " could not be decided upon in time; ask again"));
  co_return *asked->verdict;
}

void QuotaLedger::count(const QuotaVerdict& verdict, const kube::ObjectKey* quota) {
  switch (verdict.ruling) {
    case Ruling::admitted:
      return admitted_.add();
    case Ruling::refused:
      break;
    case Ruling::unavailable:
      return unavailable_.add();
    case Ruling::held_back:
      return held_back_.add();
  }
  refused_.add();
  if (!quota) return without_quota_.add();
  // The desk may have closed while the caller waited.
  if (const auto desk = desks_.find(*quota); desk != desks_.end()) count_refusal(*desk->second, verdict.reason);
}

void QuotaLedger::count_refusal(Desk& desk, QuotaRefusal reason) {
  const auto [counter, is_new] = desk.refusals.try_emplace(reason);
  if (is_new) {
    const auto tenant = namespaces_->find({"", desk.quota.ns});
    counter->second = context_.metrics.counter(
        families::quota_refusals,
        {{"cluster_id", std::string(tenant ? tenant->label(api::labels::remote_cluster_id) : "")},
         {"reason", std::string(word_for(reason))}});
  }
  counter->second.add();
}

void QuotaLedger::tell(Asked& asked, QuotaVerdict verdict) {
  if (asked.verdict) return;
  asked.verdict = std::move(verdict);
  asked.answered.set();
}

void QuotaLedger::tell_all(const Batch& batch, const QuotaVerdict& verdict) {
  for (const auto& asked : batch) tell(*asked, verdict);
}

asio::awaitable<void> QuotaLedger::serve(Desk& desk) {
  // Reservations expire by the time at which this replica first saw them, so those of a replica that is gone have to be
  // read first.
  (void)co_await read_record(desk);
  kube::TimePoint next_write = context_.clock.now();
  kube::TimePoint expiry = next_write + expiry_interval;
  while (true) {
    if (desk.queue.empty() && desk.settling.empty()) co_await desk.wake.wait_until(context_.clock, {expiry});
    desk.wake.reset();
    // Reservations expire also while the queue is never empty: a Quota that looks full makes its callers ask again and
    // again.
    if (context_.clock.now() >= expiry) {
      const bool complete = co_await expire(desk);
      expiry = context_.clock.now() + (complete ? expiry_interval : next_expiry_round);
      if (is_over(desk)) break;
    }
    if (!desk.settling.empty()) co_await settle(desk);
    if (desk.queue.empty()) continue;
    if (next_write > context_.clock.now()) co_await context_.clock.sleep_until(next_write);
    next_write = context_.clock.now() + std::max(settings_.gather, pause_for(desk.bytes));
    while (!desk.queue.empty() && desk.batch.size() < max_batch) {
      if (!desk.queue.front()->verdict) desk.batch.push_back(std::move(desk.queue.front()));
      desk.queue.pop_front();
    }
    if (!desk.batch.empty()) co_await decide(desk);
    desk.batch.clear();
  }
  unproven_.add(-static_cast<double>(desk.unproven));
  const kube::ObjectKey quota = desk.quota;
  desks_.erase(quota);
}

bool QuotaLedger::is_over(const Desk& desk) const {
  return desk.queue.empty() && desk.settling.empty() && !quotas_->store().contains(desk.quota) &&
         !records_->store().contains({context_.liqo_namespace, core::ledger_name(desk.quota)});
}

void QuotaLedger::open_desk_of(const kube::ObjectKey& record) {
  if (!records_->store().contains(record)) {
    quota_of_record_.erase(record.name);
    read_.erase(record.name);
    return;
  }
  if (!has_synced()) return;
  auto found = quota_of_record_.find(record.name);
  if (found == quota_of_record_.end()) {
    const auto config_map = records_->find(record);
    if (!config_map) return;
    found = quota_of_record_.emplace(record.name, quota_of(*config_map)).first;
  }
  if (record.name != core::ledger_name(found->second)) return;
  take_over(open_desk(found->second), record);
  if (!quotas_->store().contains(found->second)) quota_gone_.set();
}

void QuotaLedger::take_over(Desk& desk, const kube::ObjectKey& record) {
  // While the desk is not known, a read or write is under way whose answer is newer than the cache.
  if (!desk.known) return;
  const auto config_map = records_->find(record);
  if (!config_map || config_map->version_number() <= kube::version_number(desk.version)) return;
  if (auto read = core::LedgerRecord::read(*config_map))
    adopt(desk, std::move(*read), std::string(config_map->resource_version()), record_bytes(*config_map));
}

asio::awaitable<void> QuotaLedger::open_desks() {
  co_await quotas_->wait_synced();
  co_await records_->wait_synced();
  while (!has_synced()) co_await context_.clock.sleep(100ms);
  for (const kube::ObjectKey& key : records_->store().keys()) open_desk_of(key);
}

}  // namespace liqo::quota
