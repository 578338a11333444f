#include "controllers/storage/provisioned_claim.hpp"

#include <algorithm>
#include <string>

#include "controllers/common/guarded_write.hpp"
#include "controllers/storage/storage_limits.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/storage/volume.hpp"
#include "core/storage/waiting_backing.hpp"
#include "kube/base/printable.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace kinds = api::kinds;
namespace storage = core::storage;
namespace action = storage::volume_action;

/// How many Events of one claim are read at most.
constexpr std::int64_t max_events = 50;

}  // namespace

ProvisionedClaim::ProvisionedClaim(ClaimTools tools, kube::Object claim, std::optional<kube::Object> volume,
                                   StorageSite site)
    : tools_(tools), claim_(std::move(claim)), volume_(std::move(volume)), site_(std::move(site)) {}

asio::awaitable<Outcome> ProvisionedClaim::reconcile(bool is_lost) {
  KUBE_CO_TRY(plan, co_await look_behind(is_lost));
  co_return co_await std::visit([&](auto& part) { return act(part); }, plan);
}

asio::awaitable<kube::Result<storage::VolumePlan>> ProvisionedClaim::look_behind(bool is_lost) {
  auto live = co_await tools_.sites.api_of(site_).get(kinds::claims, site_.key);
  if (!live && !tools_.sites.is_gone(live.error(), site_, claim_.ns()))
    co_return kube::fail(std::move(live.error()), "looking at the claim behind it");
  if (live) backing_ = std::move(*live);
  if (backing_ && !volume_ && !is_lost) {
    KUBE_CO_TRY(taken, co_await tools_.takeover.take_stray(claim_, *backing_, site_));
    backing_ = std::move(taken);
  }
  is_pending_ = backing_ && !storage::is_bound(*backing_) && !is_lost;
  storage::VolumeSight sight{.claim = claim_,
                             .volume = volume_ ? &*volume_ : nullptr,
                             .backing = backing_ ? &*backing_ : nullptr,
                             .is_local = site_.cluster.empty(),
                             .where = site_.where};
  if (is_pending_) {
    // A volume that no pod uses is not waited for.
    if (volume_) {
      const auto users = co_await tools_.writer.pods_of(claim_);
      // If it cannot be read, a pod may use it.
      if (users && users->empty()) tools_.times.end_wait(claim_.uid());
    }
    waited_ = tools_.times.waited(claim_.uid(), tools_.context.clock.now());
    sight.is_late = waited_ >= storage::binding_patience;
    if (!volume_ && !site_.cluster.empty())
      sight.waits_for_consumer = storage::waits_silently(*backing_, waited_) || co_await waits_for_consumer();
  }
  co_return storage::plan_volume(sight);
}

asio::awaitable<bool> ProvisionedClaim::waits_for_consumer() {
  auto page = co_await tools_.sites.api_of(site_).list(
      kube::resources::events, site_.key.ns,
      {.selection = {.field_selector = "involvedObject.uid=" + std::string(backing_->uid())}, .limit = max_events},
      max_bytes);
  if (!page) co_return false;
  co_return std::ranges::any_of(page->items, storage::reports_waiting);
}

asio::awaitable<Outcome> ProvisionedClaim::act(const action::CreateBacking&) {
  return tools_.maker.create_backing(claim_, site_);
}

asio::awaitable<Outcome> ProvisionedClaim::act(const action::CreateVolume&) {
  return tools_.maker.create_volume(claim_, *backing_, site_);
}

asio::awaitable<Outcome> ProvisionedClaim::act(const action::Discard&) {
  // Another claim of the name may get its volume: 409 is a failure here, and everything is looked at again.
  auto removed =
      co_await tools_.sites.api_of(site_).remove(kinds::claims, site_.key, {.uid = std::string(backing_->uid())});
  if (!removed && !removed.error().is_not_found())
    co_return Outcome::retry(std::move(removed.error()).in("discarding the claim behind it"));
  if (!backing_->has_annotation(api::annotations::selected_node))
    co_return co_await tools_.writer.reschedule(claim_, "the node that was chosen has no room for the volume");
  co_return Outcome::again_after(soon);
}

asio::awaitable<Outcome> ProvisionedClaim::act(const action::AwaitBacking& plan) {
  co_await tools_.writer.warn(claim_, plan.warning);
  // Each look costs the provider two requests.
  co_return Outcome::again_after(std::clamp(waited_ / 2, soon, later));
}

asio::awaitable<Outcome> ProvisionedClaim::act(action::Keep& plan) {
  co_await tools_.writer.warn(claim_, plan.warning);
  if (!is_pending_) tools_.times.end_wait(claim_.uid());
  if (!volume_) co_return Outcome::again_after(rarely);
  bool is_on_its_way = is_pending_ || (backing_ && !storage::has_grown(claim_, *backing_));
  for (action::Step& step : plan.steps) {
    is_on_its_way |= std::holds_alternative<action::PatchBacking>(step);
    auto done = co_await std::visit([&](auto& part) { return correct(part); }, step);
    if (done.failure() || done.delay()) co_return done;
  }
  co_return Outcome::again_after(is_on_its_way ? later : rarely);
}

asio::awaitable<Outcome> ProvisionedClaim::correct(action::PatchBacking& step) {
  auto patched = co_await tools_.sites.api_of(site_).patch(
      kinds::claims, site_.key, {kube::PatchType::merge, guarded_patch(*backing_, std::move(step.patch))});
  if (!patched && !patched.error().is_permanent())
    co_return Outcome::retry(std::move(patched.error()).in("correcting the claim behind it"));
  if (patched) co_return Outcome::done();
  tools_.context.events.warning(
      claim_, kinds::claims, api::reasons::resize_failed,
      "the volume in " + site_.where + " does not grow: " + kube::one_line(patched.error().text(), core::max_refusal));
  co_return Outcome::again_after(rarely);
}

asio::awaitable<Outcome> ProvisionedClaim::correct(action::PatchVolume& step) {
  KUBE_CO_TRYV(co_await kube::merge_patch(
      tools_.context.home.api(), tools_.volumes, volume_->key(),
      {.body = guarded_patch(*volume_, std::move(step.patch)), .phase = "correcting the volume"}));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ProvisionedClaim::correct(action::PatchClaim& step) {
  return tools_.writer.show_volume(claim_, std::move(step));
}

}  // namespace liqo::controllers
