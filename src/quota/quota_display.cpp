#include "liqo/quota/quota_display.hpp"

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
  ledger_.on_usage_change([this] { changed_.set(); });
}

QuotaDisplay::~QuotaDisplay() { ledger_.on_usage_change({}); }

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
      // All Quotas share one CRD: where one has no status, the others have none.
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
  auto patched = co_await leader_api.patch(
      api::kinds::quotas, key, {kube::PatchType::merge, kube::json::serialize(*patch)}, {.subresource = "status"});
  if (patched) {
    troubled_ = false;
    // A CRD that has the status subresource but not these fields answers 200 and drops them.
    const bool kept = !core::plan_quota_status(*patched, usage);
    quotas_->observe(std::move(*patched));
    if (!kept) {
      say_absent(key);
      co_return Shown::has_none;
    }
    if (std::exchange(absent_, false)) log_.info("what is used of quotas is shown again");
    co_return Shown::yes;
  }
  // The UID is that of another Quota of this name. The watch brings it into the cache.
  if (patched.error().is_conflict()) co_return Shown::yes;
  kube::Failure failure = std::move(patched.error());
  if (failure.is_not_found()) {
    // A 404 means that either the Quota or its status subresource does not exist. Reading the Quota tells which.
    auto live = co_await leader_api.get(api::kinds::quotas, key);
    if (live) {
      say_absent(key);
      co_return Shown::has_none;
    }
    if (live.error().is_not_found()) co_return Shown::yes;
    failure = std::move(live.error());
  }
  if (!std::exchange(troubled_, true))
    log_.warn("what is used of a quota cannot be shown, which is tried again", {{"quota", key}, {"error", failure}});
  co_return Shown::failed;
}

void QuotaDisplay::say_absent(const kube::ObjectKey& key) {
  if (std::exchange(absent_, true)) return;
  constexpr std::string_view text =
      "the CRD quotas.offloading.liqo.io that is installed has no status, so what is used is not shown; quotas bind as "
      "before; apply the CRD of this version of Liqo to see it";
  log_.warn(text, {{"quota", key}});
  if (const auto quota = quotas_->find(key))
    context_.events.warning(*quota, api::kinds::quotas, "UseNotShown", std::string(text));
}

}  // namespace liqo::quota
