#include "controllers/storage/storage_provisioner.hpp"

#include "controllers/storage/live_volume.hpp"
#include "controllers/storage/provisioned_claim.hpp"
#include "controllers/storage/storage_limits.hpp"
#include "core/storage/claim_plan.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace kinds = api::kinds;
namespace storage = core::storage;
namespace claim_action = storage::claim_action;

/// An index: the claims of the class that have no volume yet, under "".
constexpr std::string_view waiting_claims = "waiting";

}  // namespace

StorageProvisioner::StorageProvisioner(FindReach reach, Context context)
    : context_(context),
      claims_(context.home.acquire({.resource = kinds::claims})),
      volumes_(context.home.acquire({.resource = kinds::volumes})),
      sites_(std::move(reach), context, [this] { enqueue_waiting(); }),
      writer_(context),
      maker_(context, sites_, writer_, times_, [this] { enqueue_waiting(); }),
      takeover_(context, sites_, writer_, maker_),
      removal_(context, sites_, writer_, times_),
      controller_(context,
                  {.name = "storage-provisioner",
                   .limits = {.workers = 16, .workers_per_group = 4},
                   .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  claims_->add_index(std::string(waiting_claims), [this](const kube::Object& claim, std::vector<std::string>& out) {
    if (is_of_class(claim) && !storage::is_bound(claim)) out.emplace_back();
  });
  controller_.watch(claims_, [this](const kube::ObjectKey& key) { see_claim(key); }, [this] { doubt_held(); });
  controller_.reads(sites_, maker_);
  controller_.watch(volumes_, [this](const kube::ObjectKey& key) { see_volume(key); });
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
  // Done even if nothing is recorded yet: the claim shows whether the volume is to be taken over.
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

void StorageProvisioner::doubt_held() {
  for (const kube::Object& claim : claims_->objects())
    // A claim with a volume had its answer.
    if (claim.has_finalizer(api::finalizers::storage_provisioning) &&
        kube::string_at(claim.spec(), {"volumeName"}).empty())
      times_.doubt(claim.uid(), context_.clock.now());
}

asio::awaitable<Outcome> StorageProvisioner::reconcile(kube::WorkKey work) {
  if (work.object.ns.empty()) co_return co_await removal_.remove_volume(work.object);
  co_return co_await reconcile_claim(work.object);
}

asio::awaitable<Outcome> StorageProvisioner::reconcile_claim(kube::ObjectKey key) {
  const auto claim = claims_->find(key);
  // The StorageClass of claims behind must not be this one: each claim would get another claim behind it, without end.
  if (!claim || !is_of_class(*claim) || key.ns == context_.settings.storage.storage_namespace)
    co_return Outcome::done();
  auto volume = volumes_->find({"", storage::volume_name(*claim)});
  const storage::ClaimPlan plan = storage::plan_claim({.claim = *claim,
                                                       .volume = volume ? &*volume : nullptr,
                                                       .storage_class = context_.settings.storage.storage_class});
  if (plan.release) {
    KUBE_CO_TRYV(co_await writer_.release(*claim));
  }
  if (std::holds_alternative<claim_action::Nothing>(plan.next)) co_return Outcome::done();
  if (std::holds_alternative<claim_action::Abandon>(plan.next)) co_return co_await removal_.abandon(*claim);
  if (std::holds_alternative<claim_action::Take>(plan.next)) co_return co_await takeover_.take_volume(*claim);
  if (const auto* found = std::get_if<claim_action::Adopt>(&plan.next))
    co_return co_await takeover_.adopt(*claim, *volume, found->cluster);
  if (std::holds_alternative<claim_action::Forget>(plan.next)) {
    times_.end_wait(claim->uid());
    co_return Outcome::done();
  }
  if (std::holds_alternative<claim_action::Refuse>(plan.next)) {
    context_.events.warning(*claim, kinds::claims, api::reasons::provisioning_failed,
                            "there is a PersistentVolume " + std::string(volume->name()) + " of somebody else");
    co_return Outcome::done();
  }

  const bool is_lost = std::holds_alternative<claim_action::Recover>(plan.next);
  if (is_lost) {
    KUBE_CO_TRY(seen, co_await has_live_volume(context_.home.api(), *volumes_, *claim));
    if (seen) co_return Outcome::again_after(soon);
  }
  const auto* follow = std::get_if<claim_action::Follow>(&plan.next);
  auto site = follow ? sites_.site_of(follow->recorded) : co_await sites_.site_of(*claim);
  if (!site) {
    if (!volume) context_.events.warning(*claim, kinds::claims, api::reasons::provisioning_failed, site.error().text());
    co_return Outcome::again_after(later);
  }
  // The peering has ended: it cannot be known whether the volume exists.
  if (follow && !site->cluster.empty() && !site->virtual_node) co_return Outcome::again_after(rarely);
  ProvisionedClaim provisioned({.context = context_,
                                .sites = sites_,
                                .writer = writer_,
                                .maker = maker_,
                                .takeover = takeover_,
                                .times = times_,
                                .volumes = *volumes_},
                               *claim, std::move(volume), std::move(*site));
  co_return co_await provisioned.reconcile(is_lost);
}

}  // namespace liqo::controllers
