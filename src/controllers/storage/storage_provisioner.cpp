#include "controllers/storage/storage_provisioner.hpp"

#include <algorithm>

#include "controllers/common/guarded_write.hpp"
#include "controllers/common/older_namesake.hpp"
#include "controllers/storage/storage_parts.hpp"
#include "core/common/late_requests.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/slices/policy.hpp"
#include "core/storage/claim_plan.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace json = kube::json;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;
namespace action = storage::volume_action;
namespace claim_action = storage::claim_action;

/// A provider's claim that is not bound by then, and of which no provisioner has taken notice, waits for a pod, though
/// no Event says so: Events may get lost.
constexpr kube::Duration silence = 20s;
/// How many Events of one claim are read at most.
constexpr std::int64_t max_events = 50;
/// An index: the claims of the class that have no volume yet, under "".
constexpr std::string_view waiting_claims = "waiting";

}  // namespace

StorageProvisioner::StorageProvisioner(FindReach reach, Context context)
    : context_(context),
      reach_(std::move(reach)),
      claims_(context.home.acquire({.resource = kinds::claims})),
      volumes_(context.home.acquire({.resource = kinds::volumes})),
      classes_(context.home.acquire({.resource = kinds::storage_classes})),
      virtual_nodes_(context.home.acquire({.resource = kinds::virtual_nodes})),
      namespace_maps_(context.home.acquire({.resource = kinds::namespace_maps})),
      config_(context.home.acquire({.resource = kube::resources::config_maps,
                                    .ns = context.settings.liqo_namespace,
                                    .selection = {.field_selector = kube::name_is(core::policy_config_map)}})),
      controller_(context,
                  {.name = "storage-provisioner",
                   .limits = {.workers = 16, .workers_per_group = 4},
                   .ready = [this] { return has_synced(); },
                   .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  index_by_node_name(*virtual_nodes_);
  claims_->add_index(std::string(waiting_claims), [this](const kube::Object& claim, std::vector<std::string>& out) {
    if (is_of_class(claim) && !storage::is_bound(claim)) out.emplace_back();
  });
  claims_.subscribe([this](const kube::ObjectKey& key) { see_claim(key); }, [this] { doubt_held(); });
  volumes_.subscribe([this](const kube::ObjectKey& key) { see_volume(key); });
  const auto read_policy = [this] {
    if (!config_->has_synced()) return;
    const auto map = config_->find({context_.settings.liqo_namespace, std::string(core::policy_config_map)});
    policy_ = core::read_policy(context_.settings.slices, map ? &*map : nullptr, policy_ ? &*policy_ : nullptr).policy;
    enqueue_waiting();
  };
  config_.subscribe([read_policy](const kube::ObjectKey&) { read_policy(); }, read_policy);
  for (kube::InformerHandle* source : {&classes_, &virtual_nodes_, &namespace_maps_})
    source->subscribe([this](const kube::ObjectKey&) { enqueue_waiting(); });
}

bool StorageProvisioner::has_synced() const {
  return claims_->has_synced() && volumes_->has_synced() && classes_->has_synced() && virtual_nodes_->has_synced() &&
         namespace_maps_->has_synced() && config_->has_synced();
}

bool StorageProvisioner::is_of_class(const kube::Object& claim) const {
  return kube::string_at(claim.spec(), {"storageClassName"}) == context_.settings.storage.storage_class;
}

void StorageProvisioner::see_claim(const kube::ObjectKey& key) {
  const auto claim = claims_->find(key);
  if (claim && is_of_class(*claim)) return enqueue(key);
  if (!claim || key.ns != context_.settings.storage.storage_namespace) return;
  // The claim behind one of ours.
  if (const auto front = kube::ObjectKey::parse(claim->annotation(api::annotations::virtual_claim))) enqueue(*front);
}

void StorageProvisioner::see_volume(const kube::ObjectKey& key) {
  const auto volume = volumes_->find(key);
  if (!volume || volume->annotation(api::annotations::provisioned_by) != api::storage_provisioner) return;
  if (storage::backing_of(*volume)) enqueue(key);
  // Also where nothing is recorded yet: the claim shows whether the volume is to be taken over.
  enqueue({std::string(kube::string_at(volume->spec(), {"claimRef", "namespace"})),
           std::string(kube::string_at(volume->spec(), {"claimRef", "name"}))});
}

void StorageProvisioner::enqueue_waiting() {
  for (const kube::ObjectKey& key : claims_->store().keys(waiting_claims, "")) enqueue(key);
}

void StorageProvisioner::enqueue_all() {
  doubt_held();
  for (const kube::ObjectKey& key : claims_->store().keys()) see_claim(key);
  for (const kube::ObjectKey& key : volumes_->store().keys()) see_volume(key);
}

kube::Duration StorageProvisioner::waited(std::string_view uid) {
  const kube::TimePoint now = context_.clock.now();
  return now - waiting_since_.try_emplace(std::string(uid), now).first->second;
}

void StorageProvisioner::doubt(std::string_view uid, kube::TimePoint sent_at) {
  std::erase_if(in_doubt_until_, [now = context_.clock.now()](const auto& entry) { return entry.second <= now; });
  in_doubt_until_[std::string(uid)] = sent_at + core::late_after;
}

void StorageProvisioner::doubt_held() {
  for (const kube::Object& claim : claims_->objects())
    // One that has its volume had its answer.
    if (claim.has_finalizer(api::finalizers::storage_provisioning) &&
        kube::string_at(claim.spec(), {"volumeName"}).empty())
      in_doubt_until_[std::string(claim.uid())] = context_.clock.now() + core::late_after;
}

kube::Duration StorageProvisioner::left_of_doubt(std::string_view uid) const {
  const auto found = in_doubt_until_.find(uid);
  if (found == in_doubt_until_.end()) return {};
  return std::max(found->second - context_.clock.now(), kube::Duration::zero());
}

asio::awaitable<Outcome> StorageProvisioner::reconcile(kube::WorkKey work) {
  if (work.object.ns.empty()) co_return co_await reconcile_volume(work.object);
  co_return co_await reconcile_claim(work.object);
}

asio::awaitable<Outcome> StorageProvisioner::reconcile_claim(kube::ObjectKey key) {
  const auto claim = claims_->find(key);
  // The storage class behind must not be this one: claims would stand behind claims without end.
  if (!claim || !is_of_class(*claim) || key.ns == context_.settings.storage.storage_namespace)
    co_return Outcome::done();
  auto volume = volumes_->find({"", storage::volume_name(*claim)});
  const storage::ClaimPlan plan = storage::plan_claim({.claim = *claim,
                                                       .volume = volume ? &*volume : nullptr,
                                                       .storage_class = context_.settings.storage.storage_class});
  if (plan.release) {
    auto released =
        co_await remove_finalizer(context_.home.api(), *claims_, *claim, api::finalizers::storage_provisioning);
    if (!released) co_return Outcome::retry(std::move(released.error()));
  }
  if (std::holds_alternative<claim_action::Nothing>(plan.next)) co_return Outcome::done();
  if (std::holds_alternative<claim_action::Abandon>(plan.next)) co_return co_await abandon(*claim);
  if (std::holds_alternative<claim_action::Take>(plan.next)) co_return co_await take_volume(*claim);
  if (const auto* found = std::get_if<claim_action::Adopt>(&plan.next))
    co_return co_await adopt(*claim, *volume, found->cluster);
  if (std::holds_alternative<claim_action::Forget>(plan.next)) {
    waiting_since_.erase(std::string(claim->uid()));
    co_return Outcome::done();
  }
  if (std::holds_alternative<claim_action::Refuse>(plan.next)) {
    context_.events.warning(*claim, kinds::claims, reasons::provisioning_failed,
                            "there is a PersistentVolume " + std::string(volume->name()) + " of somebody else");
    co_return Outcome::done();
  }

  const bool is_lost = std::holds_alternative<claim_action::Recover>(plan.next);
  if (is_lost) {
    auto seen = co_await see_live_volume(*claim);
    if (!seen) co_return Outcome::retry(std::move(seen.error()));
    if (*seen) co_return Outcome::again_after(soon);
  }
  const auto* follow = std::get_if<claim_action::Follow>(&plan.next);
  auto site = follow ? site_of(follow->recorded) : co_await site_of(*claim);
  if (!site) {
    if (!volume) context_.events.warning(*claim, kinds::claims, reasons::provisioning_failed, site.error().text());
    co_return Outcome::again_after(later);
  }
  // The peering has ended: whether the volume is there nobody can tell.
  if (follow && !site->cluster.empty() && !site->virtual_node) co_return Outcome::again_after(rarely);
  auto behind = co_await look_behind(*claim, volume ? &*volume : nullptr, *site, is_lost);
  if (!behind) co_return Outcome::retry(std::move(behind.error()));
  Look look{.claim = *claim, .volume = std::move(volume), .behind = std::move(*behind)};
  co_return co_await carry_out(look, *site);
}

asio::awaitable<kube::Result<StorageProvisioner::Behind>> StorageProvisioner::look_behind(kube::Object claim,
                                                                                          const kube::Object* volume,
                                                                                          Site& site, bool is_lost) {
  Behind behind;
  auto live = co_await api_of(site).get(kinds::claims, site.key);
  if (!live && !is_gone(live.error(), site, claim.ns()))
    co_return kube::fail(std::move(live.error()), "looking at the claim behind it");
  if (live) behind.live = std::move(*live);
  if (behind.live && !volume && !is_lost) {
    auto taken = co_await take_stray(claim, *behind.live, site);
    if (!taken) co_return std::unexpected(std::move(taken.error()));
    behind.live = std::move(*taken);
  }
  behind.is_pending = behind.live && !storage::is_bound(*behind.live) && !is_lost;
  storage::VolumeSight sight{.claim = claim,
                             .volume = volume,
                             .backing = behind.live ? &*behind.live : nullptr,
                             .is_local = site.cluster.empty(),
                             .where = site.where};
  if (behind.is_pending) {
    // Nobody waits for a volume that no pod uses.
    if (volume) {
      const auto users = co_await pods_of(claim);
      // Where it cannot be read, a pod may use it.
      if (users && users->empty()) waiting_since_.erase(std::string(claim.uid()));
    }
    behind.waited = waited(claim.uid());
    sight.is_late = behind.waited >= storage::binding_patience;
    if (!volume && !site.cluster.empty())
      sight.waits_for_consumer =
          (behind.waited >= silence && behind.live->annotation(api::annotations::volume_provisioner).empty()) ||
          co_await waits_for_consumer(*behind.live, site);
  }
  behind.plan = storage::plan_volume(sight);
  co_return behind;
}

asio::awaitable<Outcome> StorageProvisioner::carry_out(Look& look, Site& site) {
  return std::visit([&](auto& part) { return act(look, part, site); }, look.behind.plan);
}

asio::awaitable<Outcome> StorageProvisioner::act(Look& look, const action::CreateBacking&, Site& site) {
  return create_backing(look.claim, site);
}

asio::awaitable<Outcome> StorageProvisioner::act(Look& look, const action::CreateVolume&, Site& site) {
  return create_volume(look.claim, *look.behind.live, site);
}

asio::awaitable<Outcome> StorageProvisioner::act(Look& look, const action::Discard&, Site& site) {
  const kube::Object& live = *look.behind.live;
  // Another claim of the name may get its volume: 409 is a failure here, and everything is looked at anew.
  auto removed = co_await api_of(site).remove(kinds::claims, site.key, {.uid = std::string(live.uid())});
  if (!removed && !removed.error().is_not_found())
    co_return Outcome::retry(std::move(removed.error()).in("discarding the claim behind it"));
  if (!live.has_annotation(api::annotations::selected_node))
    co_return co_await reschedule(look.claim, "the node that was chosen has no room for the volume");
  co_return Outcome::again_after(soon);
}

asio::awaitable<Outcome> StorageProvisioner::act(Look& look, const action::AwaitBacking& plan, Site&) {
  co_await warn(look.claim, plan.warning);
  // Each look costs the provider two requests.
  co_return Outcome::again_after(std::clamp(look.behind.waited / 2, soon, later));
}

asio::awaitable<Outcome> StorageProvisioner::act(Look& look, action::Keep& plan, Site& site) {
  co_await warn(look.claim, plan.warning);
  const auto& [claim, volume, behind] = look;
  if (!behind.is_pending) waiting_since_.erase(std::string(claim.uid()));
  if (!volume) co_return Outcome::again_after(rarely);
  bool is_on_its_way = behind.is_pending || (behind.live && !storage::has_grown(claim, *behind.live));
  for (action::Step& step : plan.steps) {
    is_on_its_way |= std::holds_alternative<action::PatchBacking>(step);
    auto done = co_await std::visit([&](auto& part) { return correct(look, part, site); }, step);
    if (done.failure() || done.delay()) co_return done;
  }
  co_return Outcome::again_after(is_on_its_way ? later : rarely);
}

asio::awaitable<Outcome> StorageProvisioner::correct(const Look& look, action::PatchBacking& step, Site& site) {
  auto patched = co_await api_of(site).patch(
      kinds::claims, site.key, {kube::PatchType::merge, guarded_patch(*look.behind.live, std::move(step.patch))});
  if (!patched && !patched.error().is_permanent())
    co_return Outcome::retry(std::move(patched.error()).in("correcting the claim behind it"));
  if (patched) co_return Outcome::done();
  context_.events.warning(
      look.claim, kinds::claims, reasons::resize_failed,
      "the volume in " + site.where + " does not grow: " + kube::one_line(patched.error().text(), core::max_refusal));
  co_return Outcome::again_after(rarely);
}

asio::awaitable<Outcome> StorageProvisioner::correct(const Look& look, action::PatchVolume& step, Site&) {
  auto patched = co_await kube::merge_patch(
      context_.home.api(), *volumes_, look.volume->key(),
      {.body = guarded_patch(*look.volume, std::move(step.patch)), .phase = "correcting the volume"});
  if (!patched) co_return Outcome::retry(std::move(patched.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> StorageProvisioner::correct(const Look& look, action::PatchClaim& step, Site&) {
  auto patched =
      co_await kube::merge_patch(context_.home.api(), *claims_, look.claim.key(),
                                 {.body = guarded_patch(latest_of(*claims_, look.claim), std::move(step.patch)),
                                  .phase = "telling the size of the volume",
                                  .options = {.subresource = "status"}});
  if (!patched) co_return Outcome::retry(std::move(patched.error()));
  co_return Outcome::done();
}

asio::awaitable<kube::Result<bool>> StorageProvisioner::see_live_volume(const kube::Object& claim) {
  const kube::ObjectKey key{"", storage::volume_name(claim)};
  auto live = co_await context_.home.api().get(kinds::volumes, key);
  if (!live && live.error().is_not_found()) co_return false;
  if (!live) co_return kube::fail(std::move(live.error()), "looking for the volume");
  volumes_->observe(std::move(*live));
  co_return true;
}

asio::awaitable<bool> StorageProvisioner::waits_for_consumer(const kube::Object& backing, Site& site) {
  auto page = co_await api_of(site).list(
      kube::resources::events, site.key.ns,
      {.selection = {.field_selector = "involvedObject.uid=" + std::string(backing.uid())}, .limit = max_events},
      max_bytes);
  if (!page) co_return false;
  co_return std::ranges::any_of(page->items, [](const json::value& event) {
    const std::string_view reason = kube::string_at(event, {"reason"});
    return reason == "WaitForFirstConsumer" || reason == "WaitForPodScheduled";
  });
}

asio::awaitable<kube::Result<std::vector<kube::Object>>> StorageProvisioner::pods_of(const kube::Object& claim) {
  const std::string name(claim.name());
  std::vector<kube::Object> users;
  auto listed = co_await kube::list_all(
      context_.home.api(), {.resource = kube::resources::pods, .ns = std::string(claim.ns())}, {},
      [&](kube::Object pod) {
        if (std::ranges::any_of(kube::array_at(pod.spec(), {"volumes"}), [&](const json::value& volume) {
              return kube::string_at(volume, {"persistentVolumeClaim", "claimName"}) == name;
            }))
          users.push_back(std::move(pod));
        return true;
      });
  if (!listed) co_return kube::fail(std::move(listed.error()), "looking for the pods of a claim");
  co_return users;
}

asio::awaitable<void> StorageProvisioner::warn(const kube::Object& claim,
                                               const std::optional<storage::VolumeWarning>& warning) {
  if (!warning) co_return;
  if (warning->for_pods)
    co_await tell(claim, warning->reason, warning->message);
  else
    context_.events.warning(claim, kinds::claims, warning->reason, warning->message);
}

asio::awaitable<void> StorageProvisioner::tell(kube::Object claim, std::string_view reason, std::string message) {
  context_.events.warning(claim, kinds::claims, reason, message);
  auto users = co_await pods_of(claim);
  if (!users) {
    log_.warn("the pods of a claim are not told what it waits for",
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

}  // namespace liqo::controllers
