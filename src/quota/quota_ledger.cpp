#include "quota/quota_ledger.hpp"

#include <set>
#include <utility>
#include <vector>

#include "core/admission/shadow_pod.hpp"
#include "core/common/peer_names.hpp"
#include "core/quota/quota_user.hpp"
#include "kube/async/finally.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/quota.hpp"
#include "liqo/api/shadow_pod.hpp"
#include "quota/quota_desk.hpp"
#include "quota/record_owner.hpp"
#include "quota/reservations.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

using core::QuotaVerdict;
using Ruling = QuotaVerdict::Ruling;
using core::QuotaRefusal;
using core::admission::Answer;

}  // namespace

QuotaLedger::QuotaLedger(LedgerContext context, kube::Api& replica_api, LedgerSettings settings)
    : context_(std::move(context), replica_api, settings, [this] { notify_usage(); }),
      recorded_(context_),
      unrecorded_users_(context_),
      sweeper_(context_),
      rounds_(context_, [this](std::string tenant_namespace) { return settle_now(std::move(tenant_namespace)); }),
      group_(context_.executor) {
  context_.stored.on_stored(
      [this](const kube::ObjectKey& pod, const core::HeldShadow& shadow) { confirm(pod, shadow); });
  context_.quotas.subscribe([this](const kube::ObjectKey& key) {
    if (!context_.quotas->store().contains(key)) sweeper_.wake();
  });
  context_.records.subscribe([this](const kube::Change& record) {
    if (!record.now) context_.unrecorded.see_removed(record.previous() ? record.previous()->uid() : std::string_view());
    open_desk_of(record.key);
    notify_usage();
  });
}

QuotaLedger::~QuotaLedger() = default;

asio::awaitable<void> QuotaLedger::run() {
  running_ = true;
  group_.spawn(context_.stored.run());
  group_.spawn(open_desks());
  group_.spawn(kube::run_while_leading(context_.leadership, [this] { return sweeper_.run(); }));
  co_await kube::async::finally(group_.join(), close());
}

asio::awaitable<void> QuotaLedger::close() {
  running_ = false;
  co_await group_.stop();
  const QuotaVerdict stopping = QuotaVerdict::unavailable("liqod is shutting down");
  for (auto& [quota, desk] : desks_) desk->close(stopping);
}

asio::awaitable<Answer> QuotaLedger::answer(const core::admission::Request& request, const core::PodPolicy& policy,
                                            core::Claimant claimant) {
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
    context_.counters.unavailable.add();
    co_return QuotaVerdict::unavailable("liqod has just started and is counting what runs; ask again in a moment");
  }
  const auto quota = context_.find_quota(std::string(shadow_pod.label(api::labels::creator_user)),
                                         api::ShadowPod(shadow_pod).origin());
  if (!quota) {
    QuotaVerdict verdict = QuotaVerdict::refused(quota.error(), QuotaRefusal::no_quota);
    count(verdict, nullptr);
    co_return verdict;
  }
  QuotaDesk& desk = open_desk(*quota);  // may be gone after the wait
  // A dry run reserves nothing, so an unproven caller could use it to find out how much is free.
  auto asked = dry_run && !claimant.proven ? std::unexpected(QuotaVerdict::held_back(*quota))
                                           : desk.question_of(shadow_pod, before, std::move(claimant));
  if (asked) (*asked)->dry_run = dry_run;
  QuotaVerdict verdict = asked ? co_await desk.ask(std::move(*asked)) : std::move(asked.error());
  count(verdict, &*quota);
  co_return verdict;
}

void QuotaLedger::count(const QuotaVerdict& verdict, const kube::ObjectKey* quota) {
  context_.counters.count(verdict.ruling);
  if (verdict.ruling != Ruling::refused) return;
  if (!quota) return context_.counters.without_quota.add();
  // The desk may have closed while the caller waited.
  if (const auto desk = desks_.find(*quota); desk != desks_.end()) desk->second->count_refusal(verdict.reason);
}

void QuotaLedger::confirm(const kube::ObjectKey& pod, const core::HeldShadow& shadow) {
  const auto asked = context_.proofs.confirm(pod, shadow);
  if (!asked) return;
  if (const auto desk = desks_.find(asked->quota); asked->large && desk != desks_.end()) desk->second->confirm_large();
  if (confirmed_) confirmed_(asked->address);
}

QuotaDesk& QuotaLedger::open_desk(const kube::ObjectKey& quota) {
  auto& desk = desks_[quota];
  if (!desk) {
    desk = std::make_unique<QuotaDesk>(context_, quota);
    group_.spawn(serve(*desk, quota));
  }
  return *desk;
}

asio::awaitable<void> QuotaLedger::serve(QuotaDesk& desk, kube::ObjectKey quota) {
  co_await desk.serve();
  desks_.erase(quota);
}

asio::awaitable<void> QuotaLedger::open_desks() {
  co_await context_.quotas->wait_synced();
  co_await context_.records->wait_synced();
  while (!has_synced()) co_await context_.clock.sleep(100ms);
  for (const kube::ObjectKey& key : context_.records->store().keys()) open_desk_of(key);
}

void QuotaLedger::open_desk_of(const kube::ObjectKey& record) {
  if (!context_.records->store().contains(record)) {
    quota_of_record_.erase(record.name);
    recorded_.forget(record.name);
    return;
  }
  if (!has_synced()) return;
  auto found = quota_of_record_.find(record.name);
  if (found == quota_of_record_.end()) {
    const auto config_map = context_.records->find(record);
    if (!config_map) return;
    found = quota_of_record_.emplace(record.name, owner_of(*config_map)).first;
  }
  if (record.name != core::ledger_name(found->second)) return;
  open_desk(found->second).take_over();
  if (!context_.quotas->store().contains(found->second)) sweeper_.wake();
}

core::QuotaUsage QuotaLedger::usage(const kube::ObjectKey& quota) const {
  core::QuotaUsage usage;
  const auto object = context_.quotas->find(quota);
  if (!object) return usage;
  const core::QuotaAccount& account = context_.stored.account();
  const std::string user = core::escape_user(api::Quota(*object).user());
  usage.used = account.used(user);
  usage.pods = static_cast<std::int64_t>(account.pods(user));
  // The cache of records has the admissions of other replicas; the desk may not.
  if (const auto config_map = context_.records->find(context_.record_of(quota)))
    if (const auto record = core::LedgerRecord::read(*config_map)) usage.reserved = reserved(account, *record);
  return usage;
}

std::map<std::string, core::Resources> QuotaLedger::held_by(const std::string& consumer,
                                                            std::string_view tenant_namespace) const {
  std::map<std::string, core::Resources> held;
  const core::QuotaAccount& account = context_.stored.account();
  const std::string suffix = core::user_suffix(consumer);
  for (const std::string& user : account.users())
    if (user.ends_with(suffix)) held[user] = account.used(user);
  std::set<kube::ObjectKey> recorded;
  for (const auto& [name, quota] : quota_of_record_)
    if (quota.ns == tenant_namespace) recorded.insert(quota);
  for (const auto& [quota, desk] : desks_)
    if (quota.ns == tenant_namespace) recorded.insert(quota);
  for (const kube::ObjectKey& quota : recorded) {
    const auto desk = desks_.find(quota);
    core::add(held[quota.name], recorded_.of(quota, desk == desks_.end() ? nullptr : &desk->second->known()));
  }
  return held;
}

asio::awaitable<kube::Result<void>> QuotaLedger::settle(std::string tenant_namespace) {
  if (!has_synced()) co_return kube::fail(kube::Errc::timeout, "what runs is still being counted");
  co_return co_await rounds_.join(std::move(tenant_namespace));
}

asio::awaitable<kube::Result<void>> QuotaLedger::settle_now(std::string tenant_namespace) {
  for (const kube::InformerHandle* cache : {&context_.quotas, &context_.records})
    KUBE_CO_TRYV(co_await (*cache)->refresh());
  // close() may have ended the group, in which a desk would be spawned.
  if (!running_) co_return kube::fail(kube::Errc::stopped, "liqod is shutting down");
  // A replica that makes a record after that reads the Quota afterwards, so a Quota without a record is not waited for.
  std::set<kube::ObjectKey> quotas;
  for (const kube::ObjectKey& quota : context_.quotas->store().keys_in(tenant_namespace))
    if (context_.records->store().contains(context_.record_of(quota))) quotas.insert(quota);
  for (const auto& [name, quota] : quota_of_record_)
    if (quota.ns == tenant_namespace) quotas.insert(quota);
  std::vector<std::shared_ptr<SettleWaiter>> settling;
  for (const kube::ObjectKey& quota : quotas) {
    settling.push_back(std::make_shared<SettleWaiter>(context_.executor));
    open_desk(quota).settle(settling.back());
  }
  const kube::Deadline deadline = context_.clock.deadline_in(context_.settings.patience);
  for (const auto& one : settling) {
    if (!co_await one->answered.wait_until(context_.clock, deadline))
      co_return kube::fail(kube::Errc::timeout, "a quota could not be settled in time");
    if (!one->result) co_return kube::fail(kube::Errc::stopped, "liqod is shutting down");
    if (!*one->result) co_return *one->result;
  }
  co_return co_await unrecorded_users_.see();
}

}  // namespace liqo::quota
