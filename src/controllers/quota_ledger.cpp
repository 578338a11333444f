#include "liqo/controllers/quota_ledger.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "kube/async/finally.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "liqo/controllers/quota_users.hpp"
#include "liqo/core/admission/shadow_pod.hpp"
#include "liqo/telemetry/families.hpp"
#include "quota_ledger_parts.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

using Ruling = Judgement::Ruling;

/// How often reservations that nobody has seen stored are looked at ...
constexpr kube::Duration expiry_interval = 5s;
/// ... and where there was more to look at than in one go.
constexpr kube::Duration next_expiry_round = 1s;
/// More admissions than this in one write would make the record grow in leaps.
constexpr std::size_t most_batch = 500;
/// More waiting than this is refused at once: the caller gives up before its turn.
constexpr std::size_t most_waiting = 5'000;
/// What a cache that is behind leaves in a record is written again with each batch: no more than so much each second.
constexpr double record_bytes_per_second = 2.0 * 1024 * 1024;

kube::Duration pause_for(std::size_t bytes) {
  return std::chrono::duration_cast<kube::Duration>(
      std::chrono::duration<double>(static_cast<double>(bytes) / record_bytes_per_second));
}

const char* word_for(QuotaRefusal reason) {
  switch (reason) {
    case QuotaRefusal::no_quota:
      return "no_quota";
    case QuotaRefusal::unreadable:
      return "unreadable";
    case QuotaRefusal::withdrawn:
      return "withdrawn";
    case QuotaRefusal::malformed:
      return "malformed";
    case QuotaRefusal::cordoned:
      return "cordoned";
    case QuotaRefusal::drained:
      return "drained";
    case QuotaRefusal::enforcement:
      return "enforcement";
    case QuotaRefusal::no_room:
      break;
  }
  return "no_room";
}

std::uint64_t version_of(const kube::Object& object) { return kube::Store::version_number(object.resource_version()); }

}  // namespace

QuotaLedger::QuotaLedger(Context context, kube::Api& api, LedgerSettings settings)
    : context_(context),
      api_(api),
      settings_(settings),
      stored_(context, api, settings.counting, [this] { tell_usage(); }),
      quotas_(context.home.acquire({.resource = api::kinds::quotas})),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces,
                                        .selection = {.label_selector = std::string(api::labels::tenant_namespace)}})),
      records_(context.home.acquire({.resource = kube::resources::config_maps,
                                     .ns = context.settings.liqo_namespace,
                                     .selection = {.label_selector = "liqo.io/ledger=true"}})),
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
  without_quota_ = context.metrics.counter(families::quota_refusals,
                                           {{"cluster_id", ""}, {"reason", word_for(QuotaRefusal::no_quota)}});
  index_quotas_by_user(*quotas_);
  stored_.on_stored([this](const kube::ObjectKey& pod, const core::HeldShadow& shadow) { confirm(pod, shadow); });
  quotas_.subscribe([this](const kube::ObjectKey& key) {
    if (!quotas_->store().contains(key)) quota_gone_.set();
  });
  records_.subscribe([this](const kube::ObjectKey& key) {
    open_desk_of(key);
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
  for (auto& [key, desk] : desks_)
    for (const auto& asked : std::exchange(desk->queue, {})) answer(*asked, unavailable("liqod is shutting down"));
}

core::QuotaUsage QuotaLedger::usage(const kube::ObjectKey& quota) const {
  core::QuotaUsage usage;
  const auto object = quotas_->find(quota);
  if (!object) return usage;
  const std::string user = core::admission::escape_user(api::Quota(*object).user());
  usage.used = stored_.account().used(user);
  usage.pods = static_cast<std::int64_t>(stored_.account().pods(user));
  // The cache and not the desk: it has what other replicas have admitted.
  if (const auto config_map = records_->find({context_.settings.liqo_namespace, core::ledger_name(quota)}))
    if (const auto record = core::LedgerRecord::read(*config_map)) usage.reserved = reserved(*record);
  return usage;
}

QuotaLedger::Desk* QuotaLedger::find_desk(const std::string& user, std::string_view origin, std::string& problem) {
  std::vector<kube::ObjectKey> found;
  for (kube::ObjectKey& key : quotas_->store().keys(quotas_by_user, user)) {
    const auto tenant = namespaces_->find({"", key.ns});
    if (tenant && tenant->label(api::labels::remote_cluster_id) == origin) found.push_back(std::move(key));
  }
  if (found.size() != 1) {
    problem = found.empty() ? "there is no quota for user \"" + user + "\" of cluster " + std::string(origin) +
                                  ": its ResourceSlice is not accepted (any more)"
                            : "quotas " + found[0].text() + " and " + found[1].text() + " are both for user " + user +
                                  "; the provider's administrator has to delete one";
    return nullptr;
  }
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

asio::awaitable<Judgement> QuotaLedger::decide_on(const kube::Object& shadow_pod, const kube::Object* before,
                                                  bool dry_run, core::Claimant claimant) {
  if (!has_synced()) {
    unavailable_.add();
    co_return unavailable("liqod has just started and is counting what runs; ask again in a moment");
  }
  const api::ShadowPod view(shadow_pod);
  std::string problem;
  Desk* desk = find_desk(std::string(shadow_pod.label(api::labels::creator_user)), view.origin(), problem);
  auto needs = stored_.needs_of(shadow_pod);
  if (before && version_of(*before) == 0) problem = "the ShadowPod has no version from which it could be changed";
  if (desk && !needs) problem = "the pod's amounts cannot be read: " + needs.error().text();
  if (desk && problem.empty() && desk->queue.size() >= most_waiting) {
    unavailable_.add();
    co_return unavailable("too many pods are waiting for " + desk->quota.text());
  }
  if (!problem.empty()) {
    refused_.add();
    const QuotaRefusal reason = desk ? QuotaRefusal::unreadable : QuotaRefusal::no_quota;
    count_refusal(desk, reason);
    co_return refused(std::move(problem), reason);
  }
  // It would say for nothing what is free.
  if (dry_run && !claimant.proven) {
    held_back_.add();
    co_return held_back(desk->quota);
  }
  auto asked = std::make_shared<Asked>(context_.executor);
  asked->user = shadow_pod.label(api::labels::creator_user);
  asked->reservation = {
      .pod = shadow_pod.key(), .demand = core::pod_demand(*needs, settings_.counting), .unproven = !claimant.proven};
  core::drop_zeros(asked->reservation.demand);
  asked->reservation.from = before ? version_of(*before) : 0;
  // What could not be read when it was stored was not counted.
  if (before)
    if (const auto had = stored_.needs_of(*before))
      asked->reservation.demand = core::beyond(asked->reservation.demand, core::pod_demand(*had, settings_.counting));
  asked->key = before ? core::growth_key(shadow_pod.uid(), context_.random.next()) : std::string(shadow_pod.uid());
  if (!core::is_recordable(asked->key, asked->reservation)) {
    refused_.add();
    count_refusal(desk, QuotaRefusal::unreadable);
    co_return refused("the pod names too many resources, or by too long names", QuotaRefusal::unreadable);
  }
  asked->bytes = core::reservation_bytes(asked->key, asked->reservation);
  asked->claimant = std::move(claimant);
  asked->needs = std::move(*needs);
  asked->dry_run = dry_run;
  // Whoever goes, be it because the caller's time is over, must not be written down any more.
  struct Leaving {
    Asked& asked;
    explicit Leaving(Asked& who) : asked(who) {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() {
      if (!asked.judgement) asked.judgement = unavailable("nobody waits any more");
    }
  };
  const Leaving leaving(*asked);
  const kube::ObjectKey quota = desk->quota;
  desk->queue.push_back(asked);
  desk->wake.set();
  const bool in_time = co_await asked->answered.wait_for(context_.clock, settings_.patience);
  if (!in_time) answer(*asked, unavailable("the quota could not be decided upon in time; ask again"));
  switch (asked->judgement->ruling) {
    case Ruling::admitted:
      admitted_.add();
      break;
    case Ruling::refused:
      refused_.add();
      if (const auto now = desks_.find(quota); now != desks_.end())
        count_refusal(now->second.get(), asked->judgement->reason);
      break;
    case Ruling::unavailable:
      unavailable_.add();
      break;
    case Ruling::held_back:
      held_back_.add();
      break;
  }
  co_return *asked->judgement;
}

void QuotaLedger::count_refusal(Desk* desk, QuotaRefusal reason) {
  if (!desk) return without_quota_.add();
  const auto [counter, is_new] = desk->refusals.try_emplace(reason);
  if (is_new) {
    const auto tenant = namespaces_->find({"", desk->quota.ns});
    counter->second = context_.metrics.counter(
        families::quota_refusals,
        {{"cluster_id", std::string(tenant ? tenant->label(api::labels::remote_cluster_id) : "")},
         {"reason", word_for(reason)}});
  }
  counter->second.add();
}

void QuotaLedger::answer(Asked& asked, Judgement judgement) {
  if (asked.judgement) return;
  asked.judgement = std::move(judgement);
  asked.answered.set();
}

asio::awaitable<void> QuotaLedger::serve(Desk& desk) {
  // What a replica that is gone has left must be known before it can expire.
  (void)co_await read_record(desk);
  kube::TimePoint next_write = context_.clock.now();
  kube::TimePoint expiry = next_write + expiry_interval;
  while (true) {
    if (desk.queue.empty()) co_await desk.wake.wait_until(context_.clock, {expiry});
    desk.wake.reset();
    // Also while there is always somebody to serve: a quota that looks full is what makes them ask again.
    if (context_.clock.now() >= expiry) {
      const bool complete = co_await expire(desk);
      expiry = context_.clock.now() + (complete ? expiry_interval : next_expiry_round);
      if (is_over(desk)) break;
    }
    if (desk.queue.empty()) continue;
    if (next_write > context_.clock.now()) co_await context_.clock.sleep_until(next_write);
    next_write = context_.clock.now() + std::max(settings_.gather, pause_for(desk.bytes));
    std::vector<std::shared_ptr<Asked>> batch;
    while (!desk.queue.empty() && batch.size() < most_batch) {
      if (!desk.queue.front()->judgement) batch.push_back(std::move(desk.queue.front()));
      desk.queue.pop_front();
    }
    if (!batch.empty()) co_await decide(desk, std::move(batch));
  }
  unproven_.add(-static_cast<double>(desk.unproven));
  const kube::ObjectKey quota = desk.quota;
  desks_.erase(quota);
}

bool QuotaLedger::is_over(const Desk& desk) const {
  return desk.queue.empty() && !quotas_->store().contains(desk.quota) &&
         !records_->store().contains({context_.settings.liqo_namespace, core::ledger_name(desk.quota)});
}

void QuotaLedger::open_desk_of(const kube::ObjectKey& record) {
  if (!records_->store().contains(record)) quota_of_record_.erase(record.name);
  if (!records_->store().contains(record) || !has_synced()) return;
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
  // A write or a read of ours that is under way knows better.
  if (!desk.known) return;
  const auto config_map = records_->find(record);
  if (!config_map || version_of(*config_map) <= kube::Store::version_number(desk.version)) return;
  if (auto read = core::LedgerRecord::read(*config_map))
    adopt(desk, std::move(*read), std::string(config_map->resource_version()), record_bytes(*config_map));
}

asio::awaitable<void> QuotaLedger::open_desks() {
  co_await quotas_->wait_synced();
  co_await records_->wait_synced();
  while (!has_synced()) co_await context_.clock.sleep(100ms);
  for (const kube::ObjectKey& key : records_->store().keys()) open_desk_of(key);
}

}  // namespace liqo::controllers
