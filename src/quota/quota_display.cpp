#include "quota/quota_display.hpp"

#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

/// A pod is admitted, stored and counted within this time, so one write shows the result and not each step.
constexpr kube::Duration gather = 300ms;
/// The pause between two looks at all Quotas. It is short, because a user who reads a refusal and then the table has to
/// find the same figures in both.
constexpr kube::Duration pause = 1s;
constexpr kube::Duration failure_pause = 15s;
/// The pause after a write has shown that the installed CRD has no status.
constexpr kube::Duration absence_pause = 60s;

}  // namespace

QuotaDisplay::QuotaDisplay(LedgerContext context, QuotaLedger& ledger)
    : context_(std::move(context)),
      ledger_(ledger),
      quotas_(context_.home.acquire({.resource = api::kinds::quotas})),
      changed_(context_.executor) {
  quotas_.subscribe([this](const kube::ObjectKey&) { changed_.set(); }, [this] { changed_.set(); });
  reader_ = ledger_.on_usage_change([this] { changed_.set(); });
}

QuotaDisplay::~QuotaDisplay() { ledger_.forget(reader_); }

asio::awaitable<void> QuotaDisplay::run() {
  co_await kube::run_while_leading(context_.leadership, [this] { return show(); });
}

asio::awaitable<void> QuotaDisplay::show() {
  while (!ledger_.has_synced()) co_await context_.clock.sleep(pause);
  changed_.set();
  while (true) {
    co_await changed_.wait();
    co_await context_.clock.sleep(gather);
    changed_.reset();
    Shown worst = Shown::yes;
    for (const kube::ObjectKey& key : quotas_->store().keys()) {
      const Shown shown = co_await write(key);
      if (shown == Shown::yes) continue;
      worst = shown;
      // All Quotas share one CRD: if one has no status, the others have none.
      if (shown == Shown::has_none) break;
    }
    if (worst == Shown::failed) changed_.set();
    co_await context_.clock.sleep(worst == Shown::yes ? pause : worst == Shown::failed ? failure_pause : absence_pause);
  }
}

asio::awaitable<QuotaDisplay::Shown> QuotaDisplay::write(kube::ObjectKey key) {
  const auto quota = quotas_->find(key);
  if (!quota || quota->is_deleting()) co_return Shown::yes;
  const core::QuotaUsage usage = ledger_.usage(key);
  const auto patch = core::plan_quota_status(*quota, usage);
  if (!patch) co_return Shown::yes;
  kube::Api& leader_api = context_.home.api();
  const auto shown = co_await kube::merge_patch(
      leader_api, *quotas_, key,
      {.body = kube::json::serialize(*patch), .phase = "showing what is used", .options = {.subresource = "status"}});
  if (!shown) {
    // The UID is that of another Quota of this name. The watch brings it into the cache.
    if (shown.error().is_conflict()) co_return Shown::yes;
    co_return log_failure(key, shown.error());
  }
  if (!*shown) {
    // Either the Quota or its status subresource does not exist. Reading the Quota shows which.
    const auto live = co_await leader_api.get(api::kinds::quotas, key);
    if (live) co_return report_absence(key);
    co_return live.error().is_not_found() ? Shown::yes : log_failure(key, live.error());
  }
  troubled_ = false;
  // A CRD that has the status subresource but not these fields answers 200 and drops them.
  if (core::plan_quota_status(**shown, usage)) co_return report_absence(key);
  if (std::exchange(absent_, false)) log_.info("what is used of quotas is shown again");
  co_return Shown::yes;
}

QuotaDisplay::Shown QuotaDisplay::log_failure(const kube::ObjectKey& key, const kube::Failure& failure) {
  if (!std::exchange(troubled_, true))
    log_.warn("what is used of a quota cannot be shown, which is tried again", {{"quota", key}, {"error", failure}});
  return Shown::failed;
}

QuotaDisplay::Shown QuotaDisplay::report_absence(const kube::ObjectKey& key) {
  if (std::exchange(absent_, true)) return Shown::has_none;
  constexpr std::string_view text =
      "the CRD quotas.offloading.liqo.io that is installed has no status, so what is used is not shown; quotas bind as "
      "before; apply the CRD of this version of Liqo to see it";
  log_.warn(text, {{"quota", key}});
  if (const auto quota = quotas_->find(key))
    context_.events.warning(*quota, api::kinds::quotas, "UseNotShown", std::string(text));
  return Shown::has_none;
}

}  // namespace liqo::quota
