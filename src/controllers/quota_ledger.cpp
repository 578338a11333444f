#include "liqo/controllers/quota_ledger.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "liqo/controllers/quota_users.hpp"
#include "liqo/core/admission/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using Ruling = Judgement::Ruling;

/// Beyond the API server's time-out, for clocks and scheduling.
constexpr kube::Duration expiry_slack = 10s;
/// How often reservations that nobody has seen stored are looked at.
constexpr kube::Duration expiry_interval = 5s;
/// Where there was more to look at than so many and so long: admissions wait meanwhile.
constexpr kube::Duration next_expiry_round = 1s;
constexpr std::size_t most_expiry_reads = 16;
constexpr kube::Duration most_expiry_time = 250ms;
/// How long a decision waits for the cache to reach the floor.
constexpr kube::Duration catch_up_time = 3s;
/// Another replica's write is read and decided upon anew so often.
constexpr int most_attempts = 8;
constexpr std::int64_t list_page = 500;
/// More admissions than this in one write would make the record grow in leaps.
constexpr std::size_t most_batch = 500;
/// More waiting than this is refused at once: the caller gives up before its turn.
constexpr std::size_t most_waiting = 5'000;

Judgement unavailable(std::string text) { return {Ruling::unavailable, std::move(text)}; }
Judgement refused(std::string text) { return {Ruling::refused, std::move(text)}; }

Judgement no_quota(const kube::ObjectKey& quota, const kube::Failure& failure) {
  if (failure.is_not_found()) return refused("quota " + quota.text() + " has been withdrawn");
  return unavailable("quota " + quota.text() + " cannot be read: " + failure.text());
}

/// Why the quota takes nobody at all, "" if it may; then `hard` is what it grants.
std::string why_closed(const api::Quota& quota, core::Resources& hard) {
  const std::string name = "quota " + quota.object().key().text();
  auto amounts = core::read_resources(quota.resources());
  if (!amounts) return name + " is malformed: " + amounts.error().text();
  hard = std::move(*amounts);
  if (quota.is_cordoned()) return name + " is cordoned: the provider takes no new pods; those that run go on";
  return "";
}

std::uint64_t version_of(const kube::Object& object) { return kube::Store::version_number(object.resource_version()); }

/// Whose record a ConfigMap is; an empty key where it does not say.
kube::ObjectKey quota_of(const kube::Object& config_map) {
  const std::string text(config_map.annotation(core::ledger_quota_annotation));
  const std::size_t slash = text.find('/');
  return slash == std::string::npos ? kube::ObjectKey{}
                                    : kube::ObjectKey{text.substr(0, slash), text.substr(slash + 1)};
}

}  // namespace

QuotaLedger::QuotaLedger(const asio::any_io_executor& executor, Context context, kube::Api& api,
                         LedgerSettings settings)
    : executor_(executor),
      context_(context),
      api_(api),
      settings_(settings),
      stored_(executor, context, api, settings.counting, [this] { tell_usage(); }),
      quotas_(context.home.acquire({.resource = api::kinds::quotas})),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces,
                                        .selection = {.label_selector = std::string(api::labels::tenant_namespace)}})),
      records_(context.home.acquire({.resource = kube::resources::config_maps,
                                     .ns = context.settings.liqo_namespace,
                                     .selection = {.label_selector = "liqo.io/ledger=true"}})),
      quota_gone_(executor),
      group_(executor, kube::async::TaskGroup::OnFailure::keep_others),
      log_("quota-ledger") {
  const auto counter = [&](std::string_view outcome) {
    return context.metrics.counter("liqo_quota_admissions_total", "ShadowPods decided upon.",
                                   {{"outcome", std::string(outcome)}});
  };
  admitted_ = counter("admitted");
  refused_ = counter("refused");
  unavailable_ = counter("unavailable");
  commits_ = context.metrics.counter("liqo_quota_commits_total", "Writes of the record of reservations.", {});
  conflicts_ = context.metrics.counter("liqo_quota_conflicts_total",
                                       "Writes that another replica was faster with, and that were decided anew.", {});
  index_quotas_by_user(*quotas_);
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
  std::exception_ptr ended;
  running_ = true;
  try {
    group_.spawn(stored_.run());
    group_.spawn(open_desks());
    group_.spawn(kube::run_while_leading(context_.leadership, [this] { return sweep(); }));
    co_await group_.join();
  } catch (...) {
    ended = std::current_exception();
  }
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  running_ = false;
  co_await group_.stop();
  for (auto& [key, desk] : desks_)
    for (const auto& asked : std::exchange(desk->queue, {})) answer(*asked, unavailable("liqod is shutting down"));
  if (ended) std::rethrow_exception(ended);
}

// ---- What people see -----------------------------------------------------------------------------------------------

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

// ---- One admission ------------------------------------------------------------------------------------------------

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
    desk = std::make_unique<Desk>(executor_);
    desk->quota = quota;
    group_.spawn(serve(*desk));
  }
  return *desk;
}

asio::awaitable<Judgement> QuotaLedger::admit(const kube::Object& shadow_pod, bool dry_run) {
  if (!has_synced()) {
    unavailable_.add();
    co_return unavailable("liqod has just started and is counting what runs; ask again in a moment");
  }
  const api::ShadowPod view(shadow_pod);
  std::string problem;
  Desk* desk = find_desk(std::string(shadow_pod.label(api::labels::creator_user)), view.origin(), problem);
  auto needs = stored_.needs_of(shadow_pod);
  if (desk && !needs) problem = "the pod's amounts cannot be read: " + needs.error().text();
  if (desk && problem.empty() && desk->queue.size() >= most_waiting)
    co_return unavailable("too many pods are waiting for " + desk->quota.text());
  if (!problem.empty()) {
    refused_.add();
    co_return refused(std::move(problem));
  }
  auto asked = std::make_shared<Asked>(executor_);
  asked->uid = shadow_pod.uid();
  asked->reservation = {.pod = shadow_pod.key(), .demand = core::pod_demand(*needs, settings_.counting)};
  asked->needs = std::move(*needs);
  asked->dry_run = dry_run;
  desk->queue.push_back(asked);
  desk->wake.set();
  const bool in_time = co_await asked->answered.wait_for(context_.clock, settings_.patience);
  if (!in_time && !asked->judgement) {
    asked->abandoned = true;
    answer(*asked, unavailable("the quota could not be decided upon in time; ask again"));
  }
  const Ruling ruling = asked->judgement->ruling;
  (ruling == Ruling::admitted ? admitted_ : ruling == Ruling::refused ? refused_ : unavailable_).add();
  co_return *asked->judgement;
}

void QuotaLedger::answer(Asked& asked, Judgement judgement) {
  if (asked.judgement) return;
  asked.judgement = std::move(judgement);
  asked.answered.set();
}

// ---- The record ---------------------------------------------------------------------------------------------------

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
    next_write = context_.clock.now() + settings_.gather;
    std::vector<std::shared_ptr<Asked>> batch;
    while (!desk.queue.empty() && batch.size() < most_batch) {
      if (!desk.queue.front()->abandoned) batch.push_back(std::move(desk.queue.front()));
      desk.queue.pop_front();
    }
    if (!batch.empty()) co_await decide(desk, std::move(batch));
  }
  const kube::ObjectKey quota = desk.quota;
  desks_.erase(quota);
}

bool QuotaLedger::is_over(const Desk& desk) const {
  return desk.queue.empty() && !quotas_->store().contains(desk.quota) &&
         !records_->store().contains({context_.settings.liqo_namespace, core::ledger_name(desk.quota)});
}

core::Resources QuotaLedger::reserved(const core::LedgerRecord& record) const {
  core::Resources total;
  for (const auto& [uid, reservation] : record.reservations)
    if (stored_.account().seen_version(uid) == 0) core::add(total, reservation.demand);
  return total;
}

asio::awaitable<void> QuotaLedger::decide(Desk& desk, std::vector<std::shared_ptr<Asked>> batch) {
  const auto answer_all = [&batch](const Judgement& judgement) {
    for (const auto& asked : batch) answer(*asked, judgement);
  };
  // The quota that the cache has decides, and is read live beside the write, so that one that was lowered or cordoned a
  // moment ago binds already. What is said without a write needs a live one before.
  auto quota = quotas_->find(desk.quota);
  bool is_live = false, fresh = false, ask_quota = !quota;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (ask_quota && !is_live) {
      auto read = co_await api_.get(api::kinds::quotas, desk.quota);
      if (!read) {
        answer_all(no_quota(desk.quota, read.error()));
        co_return;
      }
      quota = std::move(*read);
      is_live = true;
    }
    // A record that did not exist may have come and gone.
    if (!desk.known || desk.version.empty()) {
      fresh = true;
      auto read = co_await read_record(desk);
      if (!read) {
        answer_all(unavailable("the record of " + desk.quota.text() + " cannot be read: " + read.error().text()));
        co_return;
      }
    }
    if (!co_await catch_up(desk)) {
      answer_all(unavailable("the cache of ShadowPods is behind; ask again"));
      co_return;
    }
    // From here to the write nothing suspends: caches and record are of one moment.
    core::LedgerRecord next = desk.record;
    std::erase_if(next.reservations, [&](const auto& entry) {
      const std::uint64_t seen = stored_.account().seen_version(entry.first);
      if (seen != 0) next.floor = std::max(next.floor, seen);
      return seen != 0;
    });
    const api::Quota view(*quota);
    core::QuotaState state{
        .quota = desk.quota, .hard = {}, .used = stored_.account().used(core::admission::escape_user(view.user()))};
    const std::string closed = why_closed(view, state.hard);
    core::add(state.used, reserved(next));
    const core::Enforcement enforcement = core::parse_enforcement(view.enforcement());
    std::vector<Asked*> accepted;
    std::vector<std::pair<Asked*, std::string>> refusals;
    bool changed = false, only_asked = false;
    for (const auto& asked : batch) {
      if (asked->judgement) continue;
      const core::Resources& demand = asked->reservation.demand;
      const bool is_reserved = next.reservations.contains(asked->uid);
      const bool in_doubt = is_reserved && desk.doubtful.contains(asked->uid);
      if (!in_doubt && (is_reserved || stored_.account().seen_version(asked->uid) != 0)) {
        accepted.push_back(asked.get());
        continue;
      }
      if (in_doubt) core::subtract(state.used, demand);
      std::string refusal = closed;
      if (refusal.empty())
        if (auto problem = core::check_enforcement(asked->needs, enforcement, settings_.counting))
          refusal = *problem + " (quota " + desk.quota.text() + ")";
      if (refusal.empty()) refusal = core::refuse_demand(state, demand);
      if (in_doubt) core::add(state.used, demand);
      if (!refusal.empty()) {
        refusals.emplace_back(asked.get(), std::move(refusal));
        continue;
      }
      accepted.push_back(asked.get());
      if (in_doubt) {
        only_asked = true;
        continue;
      }
      if (asked->dry_run) {
        only_asked = true;
        continue;
      }
      core::add(state.used, demand);
      next.reservations[asked->uid] = asked->reservation;
      if (!is_live) desk.doubtful.insert(asked->uid);
      changed = true;
    }
    // A write proves that the record was the newest. What is said without one needs a look: another replica may have
    // admitted this very pod, or freed what is missing.
    if (!changed && (!fresh || !is_live) && (only_asked || !refusals.empty())) {
      if (!fresh) desk.known = false;
      ask_quota = true;
      continue;
    }
    if (changed) {
      std::optional<kube::Result<kube::Object>> live;
      auto written =
          is_live ? co_await write_record(desk, std::move(next)) : co_await write_and_read(desk, std::move(next), live);
      const bool stands =
          is_live || (live && *live && (*live)->uid() == quota->uid() && (*live)->spec() == quota->spec());
      if (!written) {
        answer_all(unavailable("the record of " + desk.quota.text() + " cannot be written: " + written.error().text()));
        co_return;
      }
      if (live && *live) {
        quota = std::move(**live);
        is_live = true;
      }
      ask_quota = true;  // once more, where it could not be read
      if (stands)
        for (const Asked* asked : accepted) desk.doubtful.erase(asked->uid);
      fresh = *written;
      if (!*written || !stands) continue;
    }
    for (auto& [asked, refusal] : refusals) answer(*asked, refused(std::move(refusal)));
    for (Asked* asked : accepted) {
      desk.doubtful.erase(asked->uid);
      answer(*asked, {});
    }
    co_return;
  }
  answer_all(unavailable("other replicas were faster " + std::to_string(most_attempts) + " times; ask again"));
}

asio::awaitable<kube::Result<bool>> QuotaLedger::write_and_read(Desk& desk, core::LedgerRecord next,
                                                                std::optional<kube::Result<kube::Object>>& quota) {
  kube::async::TaskGroup beside(executor_);
  beside.spawn(read_quota(desk.quota, quota));
  std::exception_ptr ended;
  kube::Result<bool> written = false;
  try {
    written = co_await write_record(desk, std::move(next));
    co_await beside.join();
  } catch (...) {
    ended = std::current_exception();
  }
  if (!ended) co_return written;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await beside.stop();
  std::rethrow_exception(ended);
}

asio::awaitable<void> QuotaLedger::read_quota(kube::ObjectKey key, std::optional<kube::Result<kube::Object>>& quota) {
  quota = co_await api_.get(api::kinds::quotas, std::move(key));
}

void QuotaLedger::adopt(Desk& desk, core::LedgerRecord record, std::string version) {
  const kube::TimePoint now = context_.clock.now();
  std::erase_if(desk.since, [&](const auto& entry) { return !record.reservations.contains(entry.first); });
  std::erase_if(desk.doubtful, [&](const std::string& uid) { return !record.reservations.contains(uid); });
  for (const auto& [uid, reservation] : record.reservations) desk.since.emplace(uid, now);
  desk.record = std::move(record);
  desk.version = std::move(version);
  desk.known = true;
}

asio::awaitable<kube::Result<void>> QuotaLedger::read_record(Desk& desk) {
  auto config_map = co_await api_.get(kube::resources::config_maps,
                                      {context_.settings.liqo_namespace, core::ledger_name(desk.quota)});
  if (!config_map) {
    if (!config_map.error().is_not_found()) co_return std::unexpected(std::move(config_map.error()));
    auto floor = co_await stored_floor(desk);
    if (!floor) co_return std::unexpected(std::move(floor.error()));
    adopt(desk, {.floor = *floor, .reservations = {}}, "");
    co_return kube::Result<void>();
  }
  auto record = core::LedgerRecord::read(*config_map);
  if (!record) co_return std::unexpected(std::move(record.error()));
  adopt(desk, std::move(*record), std::string(config_map->resource_version()));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::uint64_t>> QuotaLedger::stored_floor(const Desk& desk) {
  const auto quota = quotas_->find(desk.quota);
  if (!quota) co_return kube::fail(kube::Errc::missing, "the quota is not in the cache");
  const std::string user = core::admission::escape_user(api::Quota(*quota).user());
  std::uint64_t floor = 0;
  kube::ListOptions options{.selection = {.label_selector = std::string(api::labels::creator_user) + "=" + user},
                            .limit = list_page};
  do {
    auto page = co_await api_.list(api::kinds::shadow_pods, "", options);
    if (!page) co_return std::unexpected(std::move(page.error()));
    for (const kube::json::value& item : page->items)
      floor = std::max(floor, kube::Store::version_number(kube::string_at(item, {"metadata", "resourceVersion"})));
    options.continue_token = std::move(page->continue_token);
  } while (!options.continue_token.empty());
  co_return floor;
}

asio::awaitable<kube::Result<bool>> QuotaLedger::write_record(Desk& desk, core::LedgerRecord next) {
  kube::Object config_map = core::forge_ledger(context_.settings.liqo_namespace, desk.quota, next);
  if (kube::string_at(config_map.tree(), {"data", core::ledger_key}).size() > core::most_ledger_bytes)
    co_return kube::fail(kube::Errc::too_large, "it is full: too many admitted pods have not been stored yet");
  const bool fresh = desk.version.empty();
  if (!fresh) config_map.mutable_metadata()["resourceVersion"] = desk.version;
  // Until the answer is here, nobody knows what is stored.
  desk.known = false;
  auto written = fresh ? co_await api_.create(kube::resources::config_maps, config_map)
                       : co_await api_.replace(kube::resources::config_maps, config_map);
  commits_.add();
  if (written) {
    adopt(desk, std::move(next), std::string(written->resource_version()));
    co_return true;
  }
  const kube::Failure& failure = written.error();
  // Somebody else wrote, or ours may have been stored without an answer: read, and decide anew. Reservations that are
  // there already are found by their UID.
  const bool unclear = failure.http_code() == 0 || failure.http_code() >= 500;
  if (!failure.is_conflict() && !failure.is_already_exists() && !failure.is_not_found() && !unclear)
    co_return std::unexpected(std::move(written.error()));
  conflicts_.add();
  co_return false;
}

asio::awaitable<bool> QuotaLedger::catch_up(const Desk& desk) {
  const kube::Deadline deadline = context_.clock.deadline_in(catch_up_time);
  while (stored_.version() < desk.record.floor)
    if (!co_await stored_.progress(deadline)) co_return stored_.version() >= desk.record.floor;
  co_return true;
}

asio::awaitable<bool> QuotaLedger::expire(Desk& desk) {
  // Another replica's write may be newer than what is known here.
  const auto config_map = records_->find({context_.settings.liqo_namespace, core::ledger_name(desk.quota)});
  if (!config_map) co_return true;
  if (const auto record = core::LedgerRecord::read(*config_map); record && record->reservations.empty()) co_return true;
  if (auto read = co_await read_record(desk); !read) co_return true;
  const kube::TimePoint now = context_.clock.now();
  std::set<std::string> gone;
  std::size_t reads = 0;
  bool complete = true;
  for (const auto& [uid, reservation] : core::LedgerRecord(desk.record).reservations) {
    if (stored_.account().seen_version(uid) != 0) continue;
    const auto since = desk.since.find(uid);
    if (since == desk.since.end() || now - since->second < settings_.request_timeout + expiry_slack) continue;
    if (reads == most_expiry_reads || context_.clock.now() - now > most_expiry_time) {
      complete = false;
      break;
    }
    ++reads;
    auto live = co_await api_.get(api::kinds::shadow_pods, reservation.pod);
    if (live ? live->uid() != uid : live.error().is_not_found()) gone.insert(uid);
  }
  if (!desk.known || !co_await catch_up(desk)) co_return true;
  core::LedgerRecord next = desk.record;
  std::size_t dropped = std::erase_if(next.reservations, [&](const auto& entry) { return gone.contains(entry.first); });
  if (dropped > 0)
    log_.info("reservations of pods that were never stored have expired", {{"quota", desk.quota}, {"count", dropped}});
  dropped += std::erase_if(next.reservations, [&](const auto& entry) {
    const std::uint64_t seen = stored_.account().seen_version(entry.first);
    if (seen != 0) next.floor = std::max(next.floor, seen);
    return seen != 0;
  });
  if (dropped > 0) (void)co_await write_record(desk, std::move(next));
  co_return complete;
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
    adopt(desk, std::move(*read), std::string(config_map->resource_version()));
}

asio::awaitable<void> QuotaLedger::open_desks() {
  co_await quotas_->wait_synced();
  co_await records_->wait_synced();
  while (!has_synced()) co_await context_.clock.sleep(100ms);
  for (const kube::ObjectKey& key : records_->store().keys()) open_desk_of(key);
}

asio::awaitable<void> QuotaLedger::sweep() {
  co_await quotas_->wait_synced();
  co_await records_->wait_synced();
  while (true) {
    bool clean = true;
    for (const kube::ObjectKey& key : records_->store().keys()) {
      const auto config_map = records_->find(key);
      if (!config_map) continue;
      const kube::ObjectKey quota = quota_of(*config_map);
      if (key.name != core::ledger_name(quota) || quotas_->store().contains(quota)) continue;
      // What was admitted last may still be on its way into storage, and counts if the slice comes back. Our desk
      // lets it expire, and that wakes us again.
      if (const auto record = core::LedgerRecord::read(*config_map); record && !record->reservations.empty()) continue;
      // The watch of Quotas may be behind that of the records, and a slice may come back by its name meanwhile: what is
      // admitted then is written down before the delete, which so comes to nothing.
      const auto live = co_await api_.get(api::kinds::quotas, quota);
      if (live || !live.error().is_not_found()) {
        clean &= live.has_value();
        continue;
      }
      auto removed = co_await api_.remove(
          kube::resources::config_maps, key,
          {.uid = std::string(config_map->uid()), .resource_version = std::string(config_map->resource_version())});
      clean &= removed || removed.error().is_not_found();
    }
    if (clean) {
      co_await quota_gone_.wait_and_reset();
    } else {
      co_await context_.clock.sleep(10s);
    }
  }
}

}  // namespace liqo::controllers
