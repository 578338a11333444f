#include "liqo/controllers/storage_provisioner.hpp"

#include <algorithm>
#include <set>

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_map.hpp"
#include "liqo/api/virtual_node.hpp"
#include "liqo/controllers/guarded_write.hpp"
#include "liqo/core/quoted.hpp"
#include "liqo/core/replication.hpp"
#include "liqo/core/slice/policy.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;
namespace json = kube::json;
namespace kinds = api::kinds;
namespace reasons = api::reasons;
namespace storage = core::storage;

/// Between two looks at a claim of which something is to come, at first and later; and at one that is well.
constexpr kube::Duration soon = 1s, later = 15s, rarely = 5min;
/// A claim that is not bound by then is told of.
constexpr kube::Duration patience = 60s;
/// A provider's claim that is not bound by then, and of which no provisioner has taken notice, waits for a pod though
/// no Event says so: Events are written at best.
constexpr kube::Duration silence = 20s;
/// Of Events of one claim, and of pods in its namespace.
constexpr std::int64_t most_events = 50, most_pods = 500;

bool is_bound(const kube::Object& claim) { return kube::string_at(claim.status(), {"phase"}) == "Bound"; }

std::string provider_words(std::string_view cluster) { return "cluster " + std::string(cluster); }

}  // namespace

StorageProvisioner::StorageProvisioner(FindReach reach, Context context)
    : context_(context),
      reach_(std::move(reach)),
      claims_(context.home.acquire({.resource = kinds::claims})),
      volumes_(context.home.acquire({.resource = kinds::volumes})),
      classes_(context.home.acquire({.resource = kinds::storage_classes})),
      virtual_nodes_(context.home.acquire({.resource = kinds::virtual_nodes})),
      namespace_maps_(context.home.acquire({.resource = kinds::namespace_maps})),
      config_(context.home.acquire(
          {.resource = kube::resources::config_maps,
           .ns = context.settings.liqo_namespace,
           .selection = {.field_selector = "metadata.name=" + std::string(core::policy_config_map)}})),
      controller_(context,
                  {.name = "storage-provisioner",
                   .limits = {.workers = 16, .workers_per_group = 4},
                   .ready = [this] { return has_synced(); },
                   .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  claims_.subscribe([this](const kube::ObjectKey& key) { see_claim(key); });
  volumes_.subscribe([this](const kube::ObjectKey& key) { see_volume(key); });
  for (kube::InformerHandle* source : {&classes_, &virtual_nodes_, &namespace_maps_, &config_})
    source->subscribe([this](const kube::ObjectKey&) { enqueue_waiting(); });
}

bool StorageProvisioner::has_synced() const {
  return claims_->has_synced() && volumes_->has_synced() && classes_->has_synced() && virtual_nodes_->has_synced() &&
         namespace_maps_->has_synced() && config_->has_synced();
}

bool StorageProvisioner::is_of_class(const kube::Object& claim) const {
  return kube::string_at(claim.spec(), {"storageClassName"}) == context_.settings.storage_class;
}

void StorageProvisioner::see_claim(const kube::ObjectKey& key) {
  const auto claim = claims_->find(key);
  if (claim && is_of_class(*claim)) return enqueue(key);
  if (!claim || key.ns != context_.settings.storage_namespace) return;
  // The claim behind one of ours.
  const std::string_view front = claim->annotation(api::annotations::virtual_claim);
  const std::size_t slash = front.find('/');
  if (slash != std::string_view::npos)
    enqueue({std::string(front.substr(0, slash)), std::string(front.substr(slash + 1))});
}

void StorageProvisioner::see_volume(const kube::ObjectKey& key) {
  const auto volume = volumes_->find(key);
  if (!volume || !storage::backing_of(*volume)) return;
  enqueue(key);
  enqueue({std::string(kube::string_at(volume->spec(), {"claimRef", "namespace"})),
           std::string(kube::string_at(volume->spec(), {"claimRef", "name"}))});
}

void StorageProvisioner::enqueue_waiting() {
  for (const kube::ObjectKey& key : claims_->store().keys())
    if (const auto claim = claims_->find(key); claim && is_of_class(*claim) && !is_bound(*claim)) enqueue(key);
}

void StorageProvisioner::enqueue_all() {
  for (const kube::ObjectKey& key : claims_->store().keys()) see_claim(key);
  for (const kube::ObjectKey& key : volumes_->store().keys()) see_volume(key);
}

kube::Duration StorageProvisioner::waited(std::string_view uid) {
  const kube::TimePoint now = context_.clock.now();
  return now - waiting_since_.try_emplace(std::string(uid), now).first->second;
}

std::optional<kube::Object> StorageProvisioner::virtual_node(
    const std::function<bool(const kube::Object&)>& is_it) const {
  std::optional<kube::Object> found;
  for (const kube::ObjectKey& key : virtual_nodes_->store().keys()) {
    auto node = virtual_nodes_->find(key);
    if (!node || !is_it(*node)) continue;
    // Of several of a provider any will do that reaches it.
    if (reach_(key)) return node;
    if (!found) found = std::move(node);
  }
  return found;
}

std::string StorageProvisioner::twin_of(const kube::Object& virtual_node, std::string_view ns) const {
  const std::string_view cluster = api::VirtualNode(virtual_node).cluster_id();
  for (const kube::ObjectKey& key : namespace_maps_->store().keys()) {
    if (key.ns != virtual_node.ns()) continue;
    const auto map = namespace_maps_->find(key);
    if (!map || !api::NamespaceMap(*map).is_outgoing_to(cluster)) continue;
    for (const api::MappedNamespace& mapped : api::NamespaceMap(*map).current_mapping())
      if (mapped.local == ns && mapped.accepted()) return mapped.remote;
  }
  return {};
}

kube::Result<void> StorageProvisioner::connect(Site& site) const {
  site.reach = reach_(site.virtual_node->key());
  if (!site.reach) return kube::fail(kube::Errc::missing, "there is no session with " + site.where);
  site.provider = std::make_unique<kube::Api>(
      site.reach->link->transport(), context_.clock, context_.random, context_.metrics,
      kube::ApiSettings{.cluster = site.cluster,
                        .may_write = [&lead = context_.leadership] { return lead.may_write(); }});
  return {};
}

std::optional<kube::Object> StorageProvisioner::selected_virtual_node(const kube::Object& claim) const {
  const std::string_view selected = claim.annotation(api::annotations::selected_node);
  return virtual_node([&](const kube::Object& node) { return node.name() == selected; });
}

kube::Result<StorageProvisioner::Site> StorageProvisioner::site_in(const kube::Object& claim,
                                                                   std::string_view cluster) const {
  Site site;
  if (cluster.empty()) {
    site.where = storage::this_cluster;
    site.key = {context_.settings.storage_namespace, std::string(claim.uid())};
    // One that has taken a volume stands before a claim of another name.
    const std::string_view noted = claim.annotation(api::annotations::backing_claim);
    const std::string begin = site.key.ns + "/";
    if (storage::had_volume(claim) && noted.starts_with(begin)) site.key.name = noted.substr(begin.size());
    return site;
  }
  site.cluster = cluster;
  site.where = provider_words(cluster);
  site.virtual_node = selected_virtual_node(claim);
  const auto is_there = [&](const kube::Object& node) { return api::VirtualNode(node).cluster_id() == cluster; };
  if (!site.virtual_node || !is_there(*site.virtual_node)) site.virtual_node = virtual_node(is_there);
  if (!site.virtual_node)
    return kube::fail(kube::Errc::missing, "the volume was begun in " + site.where +
                                               ", of which there is no virtual node any more: delete the claim, or " +
                                               "make one");
  site.key = {twin_of(*site.virtual_node, claim.ns()), std::string(storage::name_at_provider(claim))};
  if (site.key.ns.empty())
    return kube::fail(kube::Errc::missing,
                      "namespace " + std::string(claim.ns()) + " has no twin in " + site.where + ", or not yet");
  if (auto connected = connect(site); !connected) return std::unexpected(std::move(connected.error()));
  return site;
}

asio::awaitable<kube::Result<StorageProvisioner::Site>> StorageProvisioner::site_of(kube::Object claim) const {
  const auto node = selected_virtual_node(claim);
  const std::string selected(node ? api::VirtualNode(*node).cluster_id() : std::string_view());
  const std::string begun(claim.annotation(api::annotations::backing_cluster));
  if (!claim.has_annotation(api::annotations::backing_claim) || begun == selected) co_return site_in(claim, selected);
  // Users may write either annotation. What was begun stays where it is; where nothing is there the scheduler's word
  // counts.
  auto site = site_in(claim, begun);
  if (!site || storage::had_volume(claim)) co_return site;
  auto live = co_await api_of(*site).get(kinds::claims, site->key);
  if (live ? storage::is_backing_of(*live, claim.uid()) : !is_gone(live.error(), *site, claim.ns())) co_return site;
  co_return site_in(claim, selected);
}

kube::Result<StorageProvisioner::Site> StorageProvisioner::site_of(const storage::Backing& backing) const {
  Site site{.cluster = backing.cluster,
            .where = backing.cluster.empty() ? std::string(storage::this_cluster) : provider_words(backing.cluster),
            .key = backing.key,
            .virtual_node = {},
            .reach = {},
            .provider = {}};
  if (backing.cluster.empty() && backing.key.ns != context_.settings.storage_namespace)
    return kube::fail(kube::Errc::invalid_input, "the data would be in namespace " + backing.key.ns +
                                                     ", and it is in " + context_.settings.storage_namespace +
                                                     " that liqod keeps it");
  if (backing.cluster.empty()) return site;
  site.virtual_node =
      virtual_node([&](const kube::Object& node) { return api::VirtualNode(node).cluster_id() == backing.cluster; });
  if (!site.virtual_node) return site;
  if (auto connected = connect(site); !connected) return std::unexpected(std::move(connected.error()));
  return site;
}

bool StorageProvisioner::is_gone(const kube::Failure& failure, const Site& site, std::string_view ns) const {
  if (failure.is_not_found()) return true;
  // With a twin our rights in it go, too: the provider then forbids what it would not find.
  return failure.is_forbidden() && site.virtual_node && twin_of(*site.virtual_node, ns) != site.key.ns;
}

asio::awaitable<Outcome> StorageProvisioner::reconcile(kube::WorkKey work) {
  if (work.object.ns.empty()) co_return co_await reconcile_volume(work.object);
  co_return co_await reconcile_claim(work.object);
}

asio::awaitable<Outcome> StorageProvisioner::reconcile_claim(kube::ObjectKey key) {
  const auto claim = claims_->find(key);
  // The real class must not be this one: claims would stand behind claims without an end.
  if (!claim || !is_of_class(*claim) || key.ns == context_.settings.storage_namespace) co_return Outcome::done();
  const std::string uid(claim->uid());
  const auto volume = volumes_->find({"", storage::volume_name(*claim)});
  if (claim->is_deleting() || volume) {
    if (!volume) co_return co_await abandon(*claim);
    auto released =
        co_await set_finalizer(context_.home.api(), *claims_, *claim, api::finalizers::storage_provisioning, false);
    if (!released) co_return Outcome::retry(std::move(released.error()));
    if (claim->is_deleting()) {
      waiting_since_.erase(uid);
      co_return Outcome::done();
    }
  }
  const bool is_lost = !volume && storage::had_volume(*claim);
  if (!volume && !is_lost && !storage::is_due(*claim, context_.settings.storage_class)) co_return Outcome::done();
  if (is_lost) {
    auto seen = co_await see_live_volume(*claim);
    if (!seen) co_return Outcome::retry(std::move(seen.error()));
    if (*seen) co_return Outcome::again_after(soon);
  }

  const auto recorded = volume ? storage::backing_of(*volume) : std::nullopt;
  if (volume && (!recorded || !storage::is_volume_of(*volume, *claim))) {
    context_.events.warning(*claim, kinds::claims, reasons::provisioning_failed,
                            "there is a PersistentVolume " + std::string(volume->name()) + " of somebody else");
    co_return Outcome::done();
  }
  if (!volume && !is_lost && !storage::volume_to_take(*claim).empty()) co_return co_await take_volume(*claim);
  auto site = recorded ? site_of(*recorded) : co_await site_of(*claim);
  if (!site) {
    if (!volume) context_.events.warning(*claim, kinds::claims, reasons::provisioning_failed, site.error().text());
    co_return Outcome::again_after(later);
  }
  // The peering has ended: whether the volume is there nobody can tell.
  if (recorded && !site->cluster.empty() && !site->virtual_node) co_return Outcome::again_after(rarely);

  auto live = co_await api_of(*site).get(kinds::claims, site->key);
  if (!live && !is_gone(live.error(), *site, key.ns)) co_return Outcome::retry(std::move(live.error()));
  const bool is_pending = live && !is_bound(*live) && !is_lost;
  storage::VolumeSight sight{
      .claim = *claim, .volume = volume ? &*volume : nullptr, .backing = live ? &*live : nullptr, .where = site->where};
  kube::Duration so_far{};
  if (is_pending) {
    // Nobody waits for a volume that no pod uses.
    if (volume && (co_await pods_of(*claim)).empty()) waiting_since_.erase(uid);
    so_far = waited(uid);
    sight.is_late = so_far >= patience;
    if (!volume && !site->cluster.empty())
      sight.waits_for_consumer = so_far >= silence && live->annotation(api::annotations::volume_provisioner).empty();
    if (!volume && !site->cluster.empty() && !sight.waits_for_consumer)
      sight.waits_for_consumer = co_await waits_for_consumer(*live, *site);
  }
  storage::VolumePlan plan = storage::plan_volume(sight);
  if (!plan.reason.empty()) {
    if (plan.for_pods)
      co_await tell(*claim, plan.reason, plan.message);
    else
      context_.events.warning(*claim, kinds::claims, plan.reason, plan.message);
  }
  using Next = storage::VolumePlan::Next;
  switch (plan.next) {
    case Next::create_backing:
      co_return co_await create_backing(*claim, *site);
    case Next::create_volume:
      co_return co_await create_volume(*claim, std::move(*live), *site);
    case Next::discard: {
      auto removed = co_await api_of(*site).remove(kinds::claims, site->key, {.uid = std::string(live->uid())});
      if (!removed && !removed.error().is_not_found()) co_return Outcome::retry(std::move(removed.error()));
      if (!live->has_annotation(api::annotations::selected_node))
        co_return co_await reschedule(*claim, "the node that was chosen has no room for the volume");
      co_return Outcome::again_after(soon);
    }
    case Next::wait:
      // Each look costs the provider two requests.
      co_return Outcome::again_after(std::clamp(so_far / 2, soon, later));
    case Next::settled:
      break;
  }
  if (!is_pending) waiting_since_.erase(uid);
  if (!volume) co_return Outcome::again_after(rarely);
  const bool grows = !plan.backing.empty() || (live && !is_pending && !storage::has_grown(*claim, *live));
  auto done = co_await carry_out(*claim, *volume, live ? &*live : nullptr, std::move(plan), *site);
  if (done.failure() || done.delay()) co_return done;
  co_return Outcome::again_after(is_pending || grows ? later : rarely);
}

asio::awaitable<Outcome> StorageProvisioner::create_backing(kube::Object claim, Site& site) {
  kube::Result<kube::Object> forged = kube::fail(kube::Errc::missing, "");
  if (site.cluster.empty()) {
    const auto map = config_->find({context_.settings.liqo_namespace, std::string(core::policy_config_map)});
    const core::PolicyReading reading = core::read_policy(context_.settings.slices, map ? &*map : nullptr);
    forged = storage::forge_real_claim(claim, site.key.ns, reading.policy.storage_class);
  } else {
    const api::VirtualNode offers(*site.virtual_node);
    if (offers.storage_classes().empty())
      co_return co_await reschedule(claim, site.where + " offers no storage classes: the pod has to run elsewhere");
    forged = storage::forge_remote_claim(claim, site.key.ns, offers, site.reach->forging);
  }
  if (!forged) {
    co_await tell(claim, reasons::provisioning_failed, forged.error().text());
    co_return Outcome::stop(std::move(forged.error()));
  }
  if (site.cluster.empty()) {
    const kube::ObjectKey node{"", std::string(claim.annotation(api::annotations::selected_node))};
    auto found = co_await context_.home.api().get(kube::resources::nodes, node);
    if (!found && !found.error().is_not_found()) co_return Outcome::retry(std::move(found.error()));
    // One that was virtual a moment ago, or is to be, is no place for data of this cluster.
    if (!found || found->label(api::labels::type) == api::labels::type_virtual_node) {
      co_await tell(claim, reasons::provisioning_failed, "there is no node " + node.name + " to make the volume for");
      co_return Outcome::again_after(later);
    }
    if (auto made = co_await ensure_storage_namespace(); !made) {
      if (made.error().code() != kube::Errc::invalid_input) co_return Outcome::retry(std::move(made.error()));
      co_await tell(claim, reasons::provisioning_failed, made.error().text());
      co_return Outcome::again_after(later);
    }
  }
  // Before there is something to hold it for, so that nothing is left where this process ends in between.
  auto held = co_await hold(claim, site);
  if (!held) co_return Outcome::retry(std::move(held.error()));
  if (!*held) co_return Outcome::again_after(soon);
  auto created = co_await api_of(site).create(kinds::claims, *forged);
  if (!created && !created.error().is_already_exists()) {
    if (created.error().is_permanent())
      co_await tell(claim, reasons::provisioning_failed,
                    site.where + " refuses the claim: " + core::one_line(created.error().text(), 800));
    co_return Outcome::retry(std::move(created.error()).in("making the claim behind it"));
  }
  if (created) log_.info("claim made", {{"claim", claim.key()}, {"behind", site.key}, {"where", site.where}});
  co_return Outcome::again_after(soon);
}

asio::awaitable<Outcome> StorageProvisioner::take_volume(kube::Object claim) {
  const std::string name(storage::volume_to_take(claim));
  auto volumes = co_await context_.home.api().list(
      kinds::volumes, "", {.selection = {.field_selector = "metadata.name=" + name}}, 1U << 20);
  if (!volumes) co_return Outcome::retry(std::move(volumes.error()).in("looking for the volume to take"));
  const auto refuse = [&](std::string why) {
    context_.events.warning(claim, kinds::claims, reasons::provisioning_failed, std::move(why));
    return Outcome::again_after(later);
  };
  const auto given = volumes->items.empty() ? kube::Result<kube::Object>(kube::fail(kube::Errc::missing, ""))
                                            : kube::Object::from(std::move(volumes->items.front()));
  if (!given || !storage::is_given_to(*given, claim))
    co_return refuse("there is no PersistentVolume " + core::in_quotes(name) +
                     " that is free and given to this claim, as its annotation " +
                     std::string(api::annotations::takes_volume) + " says");
  const storage::Backing recorded = *storage::recorded_backing(*given);
  auto site = site_of(recorded);
  if (!site) co_return refuse(site.error().text());
  if (!site->cluster.empty() && !site->provider) co_return refuse("there is no virtual node of " + site->where);
  auto backing = co_await api_of(*site).get(kinds::claims, site->key);
  if (!backing && !backing.error().is_not_found()) co_return Outcome::retry(std::move(backing.error()));
  if (!backing || backing->uid() != recorded.uid || backing->is_deleting())
    co_return refuse("the claim " + recorded.key.text() + " in " + site->where + ", which held the data of " + name +
                     ", is gone");
  if (!storage::is_backing_of(*backing, claim.uid())) {
    backing = co_await api_of(*site).patch(kinds::claims, site->key, kube::PatchType::merge,
                                           guarded_patch(*backing, storage::backing_notes(claim)));
    if (!backing) co_return Outcome::retry(std::move(backing.error()).in("taking the claim that holds the data"));
  }
  // Where it is, should the volume be lost.
  const json::value cluster = site->cluster.empty() ? json::value() : json::value(json::string(site->cluster));
  json::object notes{{api::annotations::backing_claim, json::string(site->key.text())},
                     {api::annotations::backing_cluster, cluster}};
  auto noted = co_await context_.home.api().patch(
      kinds::claims, claim.key(), kube::PatchType::merge,
      guarded_patch(claim, json::object{{"metadata", json::object{{"annotations", std::move(notes)}}}}));
  if (!noted) co_return Outcome::retry(std::move(noted.error()));
  claims_->observe(*noted);
  // Who gives it to the claim says what becomes of it later: until then it stays, whatever becomes of the claim.
  co_return co_await create_volume(std::move(*noted), std::move(*backing), *site, "Retain");
}

asio::awaitable<kube::Result<bool>> StorageProvisioner::hold(kube::Object claim, const Site& site) {
  kube::Api& home = context_.home.api();
  kube::Result<kube::Object> live = kube::fail(kube::Errc::missing, "");
  auto patch = core::finalizer_patch(claim, api::finalizers::storage_provisioning, true);
  if (!patch && (claim.annotation(api::annotations::backing_claim) != site.key.text() ||
                 claim.annotation(api::annotations::backing_cluster) != site.cluster))
    patch.emplace();
  if (patch) {
    json::object& notes = kube::ensure_object(kube::ensure_object(*patch, "metadata"), "annotations");
    notes[api::annotations::backing_claim] = json::string(site.key.text());
    notes[api::annotations::backing_cluster] = site.cluster.empty() ? json::value() : json::string(site.cluster);
    live = co_await home.patch(kinds::claims, claim.key(), kube::PatchType::merge,
                               guarded_patch(claim, std::move(*patch)));
  } else {
    live = co_await home.get(kinds::claims, claim.key());
  }
  if (!live && live.error().is_not_found()) {
    claims_->observe_gone(claim.key(), claim.uid());
    co_return false;
  }
  if (!live) co_return kube::fail(std::move(live.error()), "holding the claim");
  const bool is_held =
      live->uid() == claim.uid() && !live->is_deleting() && live->has_finalizer(api::finalizers::storage_provisioning);
  claims_->observe(std::move(*live));
  co_return is_held;
}

asio::awaitable<Outcome> StorageProvisioner::create_volume(kube::Object claim, kube::Object backing, Site& site,
                                                           std::string policy) {
  const auto storage_class = classes_->find({"", context_.settings.storage_class});
  if (!storage_class) co_return Outcome::again_after(later);
  std::optional<kube::Object> real;
  if (site.cluster.empty()) {
    auto found = co_await context_.home.api().get(kinds::volumes,
                                                  {"", std::string(kube::string_at(backing.spec(), {"volumeName"}))});
    if (!found) co_return Outcome::retry(std::move(found.error()));
    real = std::move(*found);
  }
  const storage::Backing recorded{.cluster = site.cluster, .key = site.key, .uid = std::string(backing.uid())};
  kube::Object volume = storage::forge_volume(claim, *storage_class, recorded, backing, real ? &*real : nullptr);
  if (!policy.empty()) volume.mutable_spec()["persistentVolumeReclaimPolicy"] = policy;
  auto created = co_await context_.home.api().create(kinds::volumes, volume);
  if (!created) {
    if (created.error().is_permanent())
      context_.events.warning(claim, kinds::claims, reasons::provisioning_failed, created.error().text());
    co_return Outcome::retry(std::move(created.error()).in("making the volume"));
  }
  log_.info("volume made", {{"claim", claim.key()}, {"volume", created->name()}, {"where", site.where}});
  context_.events.normal(claim, kinds::claims, reasons::provisioning_succeeded,
                         "the volume is in " + site.where + ", by the claim " + site.key.text());
  volumes_->observe(std::move(*created));
  auto released = co_await set_finalizer(context_.home.api(), *claims_, latest_of(*claims_, claim),
                                         api::finalizers::storage_provisioning, false);
  if (!released) co_return Outcome::retry(std::move(released.error()));
  co_return Outcome::again_after(soon);
}

asio::awaitable<Outcome> StorageProvisioner::carry_out(kube::Object claim, kube::Object volume,
                                                       const kube::Object* backing, storage::VolumePlan plan,
                                                       Site& site) {
  kube::Api& home = context_.home.api();
  if (!plan.backing.empty() && backing) {
    auto patched = co_await api_of(site).patch(kinds::claims, site.key, kube::PatchType::merge,
                                               guarded_patch(*backing, std::move(plan.backing)));
    if (!patched && !patched.error().is_permanent()) co_return Outcome::retry(std::move(patched.error()));
    if (!patched) {
      context_.events.warning(
          claim, kinds::claims, reasons::resize_failed,
          "the volume in " + site.where + " does not grow: " + core::one_line(patched.error().text(), 800));
      co_return Outcome::again_after(rarely);
    }
  }
  if (!plan.volume.empty()) {
    auto patched = co_await home.patch(kinds::volumes, volume.key(), kube::PatchType::merge,
                                       guarded_patch(volume, std::move(plan.volume)));
    if (!patched) co_return Outcome::retry(std::move(patched.error()).in("correcting the volume"));
    volumes_->observe(std::move(*patched));
  }
  if (!plan.claim_status.empty()) {
    auto patched = co_await home.patch(kinds::claims, claim.key(), kube::PatchType::merge,
                                       guarded_patch(latest_of(*claims_, claim), std::move(plan.claim_status)),
                                       {.subresource = "status"});
    if (!patched) co_return Outcome::retry(std::move(patched.error()).in("telling the size of the volume"));
    claims_->observe(std::move(*patched));
  }
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

asio::awaitable<Outcome> StorageProvisioner::abandon(kube::Object claim) {
  waiting_since_.erase(std::string(claim.uid()));
  if (!claim.has_finalizer(api::finalizers::storage_provisioning)) co_return Outcome::done();
  if (storage::had_volume(claim)) {
    // The data goes with the volume, or stays with it: a cache that does not have it yet says nothing.
    auto seen = co_await see_live_volume(claim);
    if (!seen) co_return Outcome::retry(std::move(seen.error()));
    if (*seen) co_return Outcome::again_after(soon);
  }
  // Wherever it may have been begun: users may write both annotations.
  std::set<std::string> clusters{"", std::string(claim.annotation(api::annotations::backing_cluster))};
  if (const auto selected = selected_virtual_node(claim)) clusters.emplace(api::VirtualNode(*selected).cluster_id());
  for (const std::string& cluster : clusters) {
    // Without a twin nothing is left there. Without a session it is waited for.
    if (!cluster.empty() && !virtual_node([&](const kube::Object& node) {
          return api::VirtualNode(node).cluster_id() == cluster && !twin_of(node, claim.ns()).empty();
        }))
      continue;
    auto site = site_in(claim, cluster);
    if (!site) co_return Outcome::again_after(later);
    auto live = co_await api_of(*site).get(kinds::claims, site->key);
    if (!live && !live.error().is_not_found()) co_return Outcome::retry(std::move(live.error()));
    if (live && storage::is_backing_of(*live, claim.uid())) {
      auto removed = co_await api_of(*site).remove(kinds::claims, site->key, {.uid = std::string(live->uid())});
      if (!removed && !removed.error().is_not_found()) co_return Outcome::retry(std::move(removed.error()));
    }
  }
  auto released =
      co_await set_finalizer(context_.home.api(), *claims_, claim, api::finalizers::storage_provisioning, false);
  if (!released) co_return Outcome::retry(std::move(released.error()));
  co_return Outcome::done();
}

asio::awaitable<Outcome> StorageProvisioner::reschedule(kube::Object claim, std::string message) {
  co_await tell(claim, reasons::rescheduling_required, std::move(message));
  json::object changes{
      {"metadata", json::object{{"annotations", json::object{{api::annotations::selected_node, nullptr},
                                                             {api::annotations::backing_claim, nullptr},
                                                             {api::annotations::backing_cluster, nullptr}}}}}};
  auto patched = co_await context_.home.api().patch(kinds::claims, claim.key(), kube::PatchType::merge,
                                                    guarded_patch(latest_of(*claims_, claim), std::move(changes)));
  if (!patched && !patched.error().is_not_found()) co_return Outcome::retry(std::move(patched.error()));
  if (patched) claims_->observe(std::move(*patched));
  co_return Outcome::done();
}

asio::awaitable<kube::Result<void>> StorageProvisioner::ensure_storage_namespace() {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key{"", context_.settings.storage_namespace};
  auto found = co_await home.get(kube::resources::namespaces, key);
  if (!found && !found.error().is_not_found()) co_return std::unexpected(std::move(found.error()));
  // Whoever owns the namespace owns the data in it: a twin of a consumer is its own, and so is what somebody else made.
  if (found && (found->label(api::labels::storage_provisioner) != "true" ||
                found->has_annotation(api::annotations::managed_by_namespace_map)))
    co_return kube::fail(kube::Errc::invalid_input,
                         "namespace " + key.name + ", which is to hold the data, was not made for it: remove it, or " +
                             "label it " + std::string(api::labels::storage_provisioner) +
                             "=true where it is nobody else's");
  if (found) co_return kube::Result<void>();
  kube::Object made = kube::Object::make(kube::resources::namespaces, key);
  made.set_label(api::labels::storage_provisioner, "true");
  auto created = co_await home.create(kube::resources::namespaces, made);
  // Also where somebody else was faster: whose it is the next look shows.
  if (!created) co_return std::unexpected(std::move(created.error()));
  co_return kube::Result<void>();
}

asio::awaitable<bool> StorageProvisioner::waits_for_consumer(const kube::Object& backing, Site& site) {
  auto page = co_await api_of(site).list(
      kube::resources::events, site.key.ns,
      {.selection = {.field_selector = "involvedObject.uid=" + std::string(backing.uid())}, .limit = most_events},
      1U << 20);
  if (!page) co_return false;
  co_return std::ranges::any_of(page->items, [](const json::value& event) {
    const std::string_view reason = kube::string_at(event, {"reason"});
    return reason == "WaitForFirstConsumer" || reason == "WaitForPodScheduled";
  });
}

asio::awaitable<std::vector<kube::Object>> StorageProvisioner::pods_of(const kube::Object& claim) {
  const std::string name(claim.name());
  auto page = co_await context_.home.api().list(kube::resources::pods, claim.ns(), {.limit = most_pods});
  std::vector<kube::Object> users;
  if (!page) co_return users;
  for (json::value& item : page->items) {
    auto pod = kube::Object::from(std::move(item));
    if (pod && std::ranges::any_of(kube::array_at(pod->spec(), {"volumes"}), [&](const json::value& volume) {
          return kube::string_at(volume, {"persistentVolumeClaim", "claimName"}) == name;
        }))
      users.push_back(std::move(*pod));
  }
  co_return users;
}

asio::awaitable<void> StorageProvisioner::tell(kube::Object claim, std::string_view reason, std::string message) {
  context_.events.warning(claim, kinds::claims, reason, message);
  for (kube::Object& pod : co_await pods_of(claim)) {
    // Items of a list do not say what they are.
    pod.tree()["apiVersion"] = "v1";
    pod.tree()["kind"] = "Pod";
    context_.events.warning(pod, kube::resources::pods, reason,
                            "PersistentVolumeClaim " + std::string(claim.name()) + ": " + message);
  }
}

asio::awaitable<Outcome> StorageProvisioner::reconcile_volume(kube::ObjectKey key) {
  const auto volume = volumes_->find(key);
  if (!volume || !storage::is_to_be_deleted(*volume)) co_return Outcome::done();
  const auto recorded = storage::backing_of(*volume);
  auto site = site_of(*recorded);
  const auto told = [&](const kube::Failure& failure) {
    context_.events.warning(*volume, kinds::volumes, reasons::volume_delete_failed, failure.text());
  };
  if (!site) {
    told(site.error());
    co_return Outcome::again_after(later);
  }
  // Without a virtual node the peering has ended, and the twin namespace with it.
  if (site->cluster.empty() || site->provider) {
    const std::string_view ns = kube::string_at(volume->spec(), {"claimRef", "namespace"});
    auto live = co_await api_of(*site).get(kinds::claims, site->key);
    if (!live && !is_gone(live.error(), *site, ns)) {
      told(live.error());
      co_return Outcome::retry(std::move(live.error()).in("looking at the claim that holds the data"));
    }
    // One of another UID is not what held this data.
    if (live && live->uid() == recorded->uid) {
      if (!storage::is_backing_of(*live, kube::string_at(volume->spec(), {"claimRef", "uid"}))) {
        told(kube::Failure(kube::Errc::invalid_input, "the claim " + site->key.text() + " in " + site->where +
                                                          " does not say that it holds the data of this volume: " +
                                                          "remove the volume and, where it does, the claim"));
        co_return Outcome::again_after(rarely);
      }
      auto removed = co_await api_of(*site).remove(kinds::claims, site->key, {.uid = recorded->uid});
      if (!removed && !removed.error().is_conflict() && !is_gone(removed.error(), *site, ns)) {
        told(removed.error());
        co_return Outcome::retry(std::move(removed.error()).in("removing the claim that holds the data"));
      }
    }
  }
  auto removed = co_await context_.home.api().remove(kinds::volumes, key, {.uid = std::string(volume->uid())});
  if (!removed && !removed.error().is_not_found()) co_return Outcome::retry(std::move(removed.error()));
  log_.info("volume deleted", {{"volume", key}, {"where", site->where}, {"claim", recorded->key}});
  co_return Outcome::done();
}

}  // namespace liqo::controllers
