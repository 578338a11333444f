#include "controllers/storage/claim_writer.hpp"

#include "controllers/common/guarded_write.hpp"
#include "core/offloading/ephemeral_volumes.hpp"
#include "core/storage/volume.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace json = kube::json;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;

/// What is written on a claim that is held, and is not held for this site yet.
std::optional<std::string> holding_patch(const kube::Object& claim, const StorageSite& site) {
  auto patch = kube::finalizer_patch(claim, api::finalizers::storage_provisioning, true);
  if (!patch && (claim.annotation(api::annotations::backing_claim) != site.key.text() ||
                 claim.annotation(api::annotations::backing_cluster) != site.cluster))
    patch.emplace();
  if (!patch) return std::nullopt;
  json::object& notes = kube::ensure_object(kube::ensure_object(*patch, "metadata"), "annotations");
  notes[api::annotations::backing_claim] = json::string(site.key.text());
  notes[api::annotations::backing_cluster] = site.cluster.empty() ? json::value() : json::string(site.cluster);
  return guarded_patch(claim, std::move(*patch));
}

}  // namespace

ClaimWriter::ClaimWriter(Context context)
    : context_(context), claims_(context.home.acquire({.resource = kinds::claims})) {}

asio::awaitable<kube::Result<bool>> ClaimWriter::hold(kube::Object claim, const StorageSite& site) {
  kube::Api& home = context_.home.api();
  auto patch = holding_patch(claim, site);
  auto live = patch ? co_await home.patch(kinds::claims, claim.key(), {kube::PatchType::merge, std::move(*patch)})
                    : co_await home.get(kinds::claims, claim.key());
  if (!live && live.error().is_not_found()) {
    claims_->observe_gone(claim.key(), claim.uid());
    co_return false;
  }
  if (!live) co_return kube::fail(std::move(live.error()), "holding the claim");
  const bool is_held = live->uid() == claim.uid() && !live->is_deleting() && !storage::had_volume(*live) &&
                       live->has_finalizer(api::finalizers::storage_provisioning);
  claims_->observe(std::move(*live));
  co_return is_held;
}

asio::awaitable<kube::Result<void>> ClaimWriter::release(kube::Object claim) {
  return kube::remove_finalizer(context_.home.api(), *claims_, std::move(claim), api::finalizers::storage_provisioning);
}

asio::awaitable<kube::Result<kube::Object>> ClaimWriter::note_backing(kube::Object claim, const StorageSite& site) {
  const json::value cluster = site.cluster.empty() ? json::value() : json::value(json::string(site.cluster));
  json::object notes{{api::annotations::backing_claim, json::string(site.key.text())},
                     {api::annotations::backing_cluster, cluster}};
  auto noted = co_await context_.home.api().patch(
      kinds::claims, claim.key(),
      {kube::PatchType::merge,
       guarded_patch(claim, json::object{{"metadata", json::object{{"annotations", std::move(notes)}}}})});
  if (noted) claims_->observe(*noted);
  co_return noted;
}

asio::awaitable<Outcome> ClaimWriter::reschedule(kube::Object claim, std::string message) {
  co_await report(claim, reasons::rescheduling_required, std::move(message));
  json::object changes{
      {"metadata", json::object{{"annotations", json::object{{api::annotations::selected_node, nullptr},
                                                             {api::annotations::backing_claim, nullptr},
                                                             {api::annotations::backing_cluster, nullptr}}}}}};
  KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *claims_, claim.key(),
                                          {.body = guarded_patch(latest_of(*claims_, claim), std::move(changes)),
                                           .phase = "having the pod scheduled anew"}));
  co_return Outcome::done();
}

asio::awaitable<Outcome> ClaimWriter::show_volume(kube::Object claim, storage::volume_action::PatchClaim step) {
  KUBE_CO_TRYV(co_await kube::merge_patch(context_.home.api(), *claims_, claim.key(),
                                          {.body = guarded_patch(latest_of(*claims_, claim), std::move(step.patch)),
                                           .phase = "reporting the size of the volume",
                                           .options = {.subresource = "status"}}));
  co_return Outcome::done();
}

kube::Object ClaimWriter::latest(kube::Object claim) const { return latest_of(*claims_, std::move(claim)); }

asio::awaitable<void> ClaimWriter::warn(const kube::Object& claim,
                                        const std::optional<storage::VolumeWarning>& warning) {
  if (!warning) co_return;
  if (warning->for_pods)
    co_await report(claim, warning->reason, warning->message);
  else
    context_.events.warning(claim, kinds::claims, warning->reason, warning->message);
}

asio::awaitable<void> ClaimWriter::report(kube::Object claim, std::string_view reason, std::string message) {
  context_.events.warning(claim, kinds::claims, reason, message);
  auto users = co_await pods_of(claim);
  if (!users) {
    log_.warn("what a claim waits for is not reported to its pods",
              {{"claim", claim.key()}, {"error", users.error().text()}});
    co_return;
  }
  for (kube::Object& pod : *users) {
    // Items of a list do not say what they are.
    pod.set_kind(kube::resources::pods);
    context_.events.warning(pod, kube::resources::pods, reason,
                            "PersistentVolumeClaim " + std::string(claim.name()) + ": " + message);
  }
}

asio::awaitable<kube::Result<std::vector<kube::Object>>> ClaimWriter::pods_of(const kube::Object& claim) {
  const std::string name(claim.name());
  std::vector<kube::Object> users;
  KUBE_CO_TRYV(co_await kube::list_all(context_.home.api(),
                                       {.resource = kube::resources::pods, .ns = std::string(claim.ns())}, {},
                                       [&](kube::Object pod) {
                                         if (core::uses_claim(pod, name)) users.push_back(std::move(pod));
                                         return true;
                                       }),
               "looking for the pods of a claim");
  co_return users;
}

}  // namespace liqo::controllers
