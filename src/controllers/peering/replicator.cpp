#include "controllers/peering/replicator.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "controllers/common/foreign_cluster_of.hpp"
#include "core/common/digest.hpp"
#include "core/common/names.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/peering/foreign_cluster.hpp"
#include "kube/async/finally.hpp"
#include "kube/base/text.hpp"
#include "kube/runtime/finalizer.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// The pause between two looks whether a deleted Secret is still needed.
constexpr kube::Duration closing_pause = 300ms;
/// The time between the removal of a Secret and the release of its objects: a Secret that is recreated within it is in
/// time.
constexpr kube::Duration orphan_patience = 10s;
constexpr std::size_t max_named = 3;
/// How long the note about a silent provider stands without a session that could know better.
constexpr kube::Duration unheard_patience = 1min;

bool is_control_plane(const kube::Object& secret) {
  return secret.label(api::labels::identity_type) == api::control_plane_identity;
}

std::string_view cluster_of(const kube::Object& object) { return object.label(api::labels::remote_cluster_id); }

void index_by_provider(const kube::Object& secret, std::vector<std::string>& clusters) {
  if (is_control_plane(secret)) clusters.emplace_back(cluster_of(secret));
}

/// What objects without a session need to know from a ForeignCluster.
auto loss_of(const kube::Object& foreign_cluster) {
  const api::ForeignCluster view(foreign_cluster);
  return std::pair(std::string(view.cluster_id()), view.is_permanently_unreachable());
}

bool is_of_identity(const kube::Object& secret) {
  const auto owner = secret.controller();
  return owner && owner->kind == api::kinds::identities.kind;
}

std::string_view remote_namespace_of(const kube::Object& secret) {
  return secret.annotation(api::annotations::remote_tenant_namespace);
}

std::string credentials_of(const kube::Object& secret) {
  return core::sha256_hex(kube::json::serialize(kube::object_at(secret.tree(), {"data"})));
}

}  // namespace

Replicator::Replicator(ConnectProvider connect, TenantNamespaces& tenants, ProviderBudgets& budgets, Context context)
    : connect_(connect),
      context_(context),
      tenants_(tenants),
      budgets_(budgets),
      // Changes there are seen when a twin is looked at again.
      data_(
          context, [](const core::storage::RemoteData&) {}, [] {}),
      home_{.connect = std::move(connect), .data = data_, .tenants = tenants},
      namespaces_(context.home.acquire(
          {.resource = kube::resources::namespaces, .selection = core::marked_tenant_namespaces()})),
      foreign_clusters_(acquire_foreign_clusters(context.home)),
      sessions_(context, {.name = "replication-session"},
                [this](kube::WorkKey key) { return reconcile_peer(std::move(key)); }),
      orphan_controller_(context, {.name = "replication-orphan"},
                         [this](kube::WorkKey key) { return reconcile_orphan(std::move(key)); }),
      log_("replication") {
  for (const kube::Resource& kind : core::replicated_kinds()) {
    locals_.push_back(context_.home.acquire({.resource = kind}));
    sessions_.watch(
        locals_.back(), [this, &kind](const kube::ObjectKey& key) { see_object(kind, key); },
        [this] { enqueue_everything(); });
  }
  sessions_.watch(
      namespaces_,
      [this](const kube::ObjectKey& key) {
        read_namespaces();
        // The label of the namespace decides whose credentials count there; a corrected label makes refused credentials
        // valid.
        enqueue_namespace(key.name);
      },
      [this] { read_namespaces(); });
  tenants_.subscribe([this](const kube::ObjectKey& key) {
    if (key.name.empty()) read_namespaces();
  });
  sessions_.watch(
      foreign_clusters_, [this](const kube::Change& change) { see_foreign_cluster(change); },
      [this] { enqueue_everything(); });
  sessions_.reads(data_);
}

Replicator::~Replicator() = default;

asio::awaitable<void> Replicator::run() {
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  read_namespaces();
  enqueue_everything();
  group.spawn(sessions_.run());
  group.spawn(orphan_controller_.run());
  co_await kube::async::finally(group.join(), stop_sessions(group));
}

asio::awaitable<void> Replicator::stop_sessions(kube::async::TaskGroup& workers) {
  co_await workers.stop();
  while (!peers_.empty()) {
    const PeerKey key = peers_.begin()->first;
    co_await stop_session(key);
    peers_.erase(key);
  }
}

bool Replicator::is_busy() const {
  return sessions_.is_busy() || orphan_controller_.is_busy() || std::ranges::any_of(peers_, [](const auto& peer) {
           return peer.second.session && peer.second.session->is_busy();
         });
}

bool Replicator::knows_secrets() const {
  return namespaces_->has_synced() && unread_.empty() &&
         std::ranges::all_of(secrets_, [](const auto& entry) { return entry.second->has_synced(); });
}

bool Replicator::knows_secrets_of(const std::string& ns) const {
  if (unread_.contains(ns)) return false;
  const auto found = secrets_.find(ns);
  return found == secrets_.end() ? namespaces_->has_synced() : found->second->has_synced();
}

std::optional<std::string> Replicator::server(std::string_view cluster) {
  const auto ns = servers_.namespace_of(cluster);
  if (!ns) return std::nullopt;
  const PeerKey key{*ns, std::string(cluster)};
  const auto secrets = secrets_.find(*ns);
  if (secrets == secrets_.end() || secrets->second->store().count(secrets_by_provider, cluster) == 0)
    return std::nullopt;
  return servers_.server(key, secrets->second->store(), [&] { return secrets_of(key).front(); });
}

std::optional<bool> Replicator::answers(std::string_view cluster) const {
  std::optional<bool> best;
  for (const auto& [key, peer] : peers_) {
    if (key.name != cluster) continue;
    const std::optional<bool> now = peer.session   ? peer.session->answers()
                                    : peer.trouble ? std::optional(false)
                                                   : std::nullopt;
    if (now) best = best.value_or(false) || *now;
  }
  return best;
}

std::string Replicator::trouble(std::string_view cluster) const {
  for (const auto& [key, peer] : peers_)
    if (key.name == cluster && !peer.session && peer.trouble) return *peer.trouble;
  return {};
}

std::chrono::seconds Replicator::clock_ahead(std::string_view cluster) const {
  std::chrono::seconds ahead{0};
  for (const auto& [key, peer] : peers_)
    if (key.name == cluster && peer.session && ahead == std::chrono::seconds(0)) ahead = peer.session->clock_ahead();
  return ahead;
}

std::optional<std::string> Replicator::withdrawal(std::string_view cluster) const {
  std::optional<std::string> words;
  bool is_known = true;
  for (const auto& [key, peer] : peers_) {
    if (key.name != cluster || !peer.session) continue;
    const auto withdrawn = peer.session->is_withdrawn();
    // A Secret that an older peering has left does not replace the one that works.
    if (withdrawn == false) return std::string();
    if (withdrawn == true) words = core::describe_withdrawal(cluster, peer.session->peer().remote_namespace);
    is_known = is_known && withdrawn;
  }
  return is_known ? words : std::nullopt;
}

std::optional<core::SilenceNote> Replicator::silence(std::string_view cluster) const {
  std::optional<core::SilenceNote> note;
  for (const auto& [key, peer] : peers_)
    if (key.name == cluster && peer.session && peer.session->silence() && (!note || note->words.empty()))
      note = peer.session->silence();
  if (note) return note;
  const kube::TimePoint now = context_.clock.now();
  for (const auto& [key, peer] : peers_)
    if (key.name == cluster && !peer.session && peer.unheard_since && now - *peer.unheard_since >= unheard_patience)
      note.emplace();
  return note;
}

void Replicator::see_unheard(const PeerKey& key) {
  Peer& peer = peers_[key];
  const kube::TimePoint now = context_.clock.now();
  if (!peer.unheard_since) peer.unheard_since = now;
  const kube::Duration waited = now - *peer.unheard_since;
  if (waited >= unheard_patience) return notify(key.name);
  sessions_.enqueue_after({key.name, key}, unheard_patience - waited);
}

bool Replicator::is_lost(std::string_view cluster) const {
  return controllers::is_lost(foreign_clusters_->store(), cluster);
}

void Replicator::read_namespaces() {
  if (!namespaces_->has_synced()) return;
  std::erase_if(secrets_, [this](const auto& entry) {
    const auto ns = namespaces_->find({"", entry.first});
    const bool gone = !ns || !core::is_tenant_namespace(*ns);
    if (gone) servers_.forget(entry.first);
    if (gone) enqueue_namespace(entry.first);
    return gone;
  });
  unread_.clear();
  for (const kube::Object& tenant : namespaces_->objects()) {
    const std::string ns(tenant.name());
    if (!core::is_tenant_namespace(tenant) || secrets_.contains(ns)) continue;
    // TenantNamespaces notifies us once the Secrets of a namespace may be read. Those of a namespace that is being
    // deleted were readable before, or never will be.
    if (!tenant.is_deleting() && !tenants_.secrets(ns)) {
      unread_.insert(ns);
      continue;
    }
    kube::InformerHandle& secrets = secrets_[ns];
    secrets = context_.home.acquire(
        {.resource = kube::resources::secrets,
         .ns = ns,
         .selection = {.label_selector = kube::label_is(api::labels::identity_type, api::control_plane_identity)}});
    secrets->add_index(std::string(secrets_by_provider), index_by_provider);
    secrets.subscribe([this](const kube::Change& secret) { see_secret(secret); },
                      [this, ns] { enqueue_namespace(ns); });
    for (const kube::Object& secret : secrets->objects()) servers_.see(ns, secrets->store(), cluster_of(secret));
    enqueue_namespace(ns);
  }
}

void Replicator::enqueue_peer(const PeerKey& key) { sessions_.enqueue({key.name, key}); }

void Replicator::see_secret(const kube::Change& secret) {
  const std::string& ns = secret.key.ns;
  const auto found = secrets_.find(ns);
  if (found == secrets_.end()) return;
  for (const kube::Object* object : {secret.now, secret.previous()})
    if (object) servers_.see(ns, found->second->store(), cluster_of(*object));
  if (secret.now) {
    const std::string cluster(cluster_of(*secret.now));
    enqueue_peer({ns, cluster});
    notify(cluster);
  }
  // The Secret may have been for another cluster before.
  for (const auto& [key, peer] : peers_)
    if (key.ns == ns) enqueue_peer(key);
}

void Replicator::enqueue_namespace(const std::string& ns) {
  for (const auto& [key, peer] : peers_)
    if (key.ns == ns) enqueue_peer(key);
  if (const auto found = secrets_.find(ns); found != secrets_.end() && found->second)
    for (const kube::Object& secret : found->second->objects()) {
      enqueue_peer({ns, std::string(cluster_of(secret))});
      notify(std::string(cluster_of(secret)));
    }
  for (std::size_t i = 0; i < locals_.size(); ++i)
    for (const kube::ObjectKey& key : locals_[i]->store().keys_in(ns)) see_object(core::replicated_kinds()[i], key);
}

void Replicator::enqueue_everything() {
  for (const auto& [ns, secrets] : secrets_) enqueue_namespace(ns);
}

void Replicator::see_object(const kube::Resource& kind, const kube::ObjectKey& key) {
  orphan_controller_.enqueue({std::string(kind.plural), key});
}

void Replicator::see_foreign_cluster(const kube::Change& change) {
  if (!change.changes(loss_of)) return;
  // A ForeignCluster that people made may have any name.
  std::set<std::string, std::less<>> clusters;
  for (const kube::Object* object : {change.now, change.previous()})
    if (object) clusters.emplace(api::ForeignCluster(*object).cluster_id());
  for (const auto& [key, peer] : peers_) {
    if (!clusters.contains(key.name)) continue;
    if (peer.session) peer.session->set_peer_lost(is_lost(key.name));
    enqueue_peer(key);
  }
  for (std::size_t i = 0; i < locals_.size(); ++i)
    for (const kube::ObjectKey& local : locals_[i]->store().keys()) see_object(core::replicated_kinds()[i], local);
}

std::vector<kube::Object> Replicator::secrets_of(const PeerKey& key) const {
  std::vector<kube::Object> found;
  const auto secrets = secrets_.find(key.ns);
  if (secrets == secrets_.end()) return found;
  for (kube::Object& secret : secrets->second->objects(secrets_by_provider, key.name))
    found.push_back(std::move(secret));
  // A Secret that stays counts before one that is being deleted, one made of an Identity before one made by hand, then
  // the oldest.
  std::ranges::sort(found, [](const kube::Object& a, const kube::Object& b) {
    return std::tuple(a.is_deleting(), !is_of_identity(a), a.creation_timestamp(), a.name()) <
           std::tuple(b.is_deleting(), !is_of_identity(b), b.creation_timestamp(), b.name());
  });
  return found;
}

std::vector<std::string> Replicator::held_by(const PeerKey& key, bool only_wanted) const {
  std::vector<std::string> held;
  for (std::size_t i = 0; i < locals_.size(); ++i)
    for (const kube::Object& object : locals_[i]->objects_in(key.ns)) {
      if (!object.has_finalizer(api::finalizers::replicated_object)) continue;
      const std::string_view destination = object.label(api::labels::replication_destination);
      if (destination != key.name && !destination.empty()) continue;
      if (only_wanted && object.is_deleting()) continue;
      held.push_back(std::string(core::replicated_kinds()[i].kind) + " " + std::string(object.name()));
    }
  return held;
}

asio::awaitable<void> Replicator::stop_session(PeerKey key) {
  const auto found = peers_.find(key);
  if (found == peers_.end() || !found->second.session) co_return;
  const auto session = found->second.take_out();
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await session->stop();
}

asio::awaitable<void> Replicator::end_lost_session(PeerKey key) {
  peers_[key].lose({.cluster = key.name, .purpose = "replication"}, context_, log_.with("namespace", key.ns));
  co_await stop_session(key);
}

asio::awaitable<void> Replicator::end_overfull_session(PeerKey key, kube::Object secret) {
  Peer& peer = peers_[key];
  peer.trouble = peer.session->overflow();
  peer.not_before = context_.clock.now() + overflow_pause;
  log_.warn("replication has stopped", {{"cluster", key.name}, {"namespace", key.ns}, {"error", *peer.trouble}});
  context_.events.warning(secret, kube::resources::secrets, api::reasons::provider_unusable, *peer.trouble);
  co_await stop_session(key);
  notify(key.name);
}

asio::awaitable<kube::Result<void>> Replicator::set_finalizer(const kube::Object& secret, bool wanted) {
  // The cache of the Secrets may be released while the API server answers, so nothing may refer to it meanwhile.
  const auto patch = kube::finalizer_patch(secret, api::finalizers::replication_credentials, wanted);
  if (!patch) co_return kube::Result<void>();
  auto patched = co_await context_.home.api().patch(kube::resources::secrets, secret.key(),
                                                    {kube::PatchType::merge, kube::json::serialize(*patch)});
  if (!patched && patched.error().is_not_found()) co_return kube::Result<void>();
  if (!patched) co_return kube::fail(std::move(patched.error()), "setting the finalizer of the Secret");
  const auto informer = secrets_.find(std::string(secret.ns()));
  if (informer != secrets_.end() && (wanted || !patched->is_deleting())) informer->second->observe(std::move(*patched));
  co_return kube::Result<void>();
}

kube::Result<core::ReplicationPeer> Replicator::check(const PeerKey& key, const kube::Object& secret) const {
  const auto refuse = [](std::string text) { return kube::fail(kube::Errc::invalid_input, std::move(text)); };
  if (!core::is_dns_label(key.name))
    return refuse("its label " + std::string(api::labels::remote_cluster_id) + " is not a cluster ID: \"" + key.name +
                  "\"");
  if (key.name == context_.settings.cluster_id) return refuse("it is for this very cluster");
  const auto ns = namespaces_->find({"", key.ns});
  if (ns && !cluster_of(*ns).empty() && cluster_of(*ns) != key.name)
    return refuse("it is for cluster " + key.name + ", and its namespace belongs to cluster " +
                  std::string(cluster_of(*ns)));
  const std::string remote(remote_namespace_of(secret));
  if (!core::is_dns_label(remote))
    return refuse("its annotation " + std::string(api::annotations::remote_tenant_namespace) +
                  " must name our tenant namespace in " + key.name + ", and is \"" + remote + "\"");
  return core::ReplicationPeer{
      .local = context_.settings.cluster_id, .remote = key.name, .local_namespace = key.ns, .remote_namespace = remote};
}

kube::Result<void> Replicator::open(const PeerKey& key, const kube::Object& secret) {
  KUBE_TRY(peer, check(key, secret));
  KUBE_TRY(link, connect_(peer.remote, secret));
  Peer& entry = peers_[key];
  entry.trouble.reset();
  entry.refused_since.reset();
  // A session needs some time to find out; if it ends before, the note stands for a minute again.
  entry.unheard_since.reset();
  entry.digest = remote_namespace_of(secret);
  entry.credentials = credentials_of(secret);
  entry.session =
      std::make_shared<ReplicationSession>(std::move(peer), std::move(link), home_, budgets_.of(key.name), context_);
  entry.session->on_health_change([this, key] { notify(key.name); });
  entry.session->on_end([this, key] { enqueue_peer(key); });
  entry.restarts.begin(context_.clock.now());
  entry.session->set_peer_lost(is_lost(key.name));
  entry.session->start();
  log_.info("replication started",
            {{"cluster", key.name}, {"namespace", key.ns}, {"remote", entry.session->peer().remote_namespace}});
  return {};
}

bool Replicator::goes_on_with(Peer& peer, const kube::Object& secret) {
  if (peer.digest != remote_namespace_of(secret)) return false;
  std::string credentials = credentials_of(secret);
  if (peer.credentials == credentials) return true;
  // Work that waits because of refused credentials begins sooner in a new session.
  const bool is_well = peer.session->answers().value_or(false) && !peer.session->is_withdrawn().value_or(false);
  if (!is_well || !peer.session->renew(secret)) return false;
  peer.credentials = std::move(credentials);
  log_.info("replication goes on with other credentials", {{"secret", secret.key()}});
  return true;
}

asio::awaitable<kube::Result<void>> Replicator::release_others(PeerKey key, std::vector<kube::Object> secrets) {
  for (std::size_t i = 1; i < secrets.size(); ++i) {
    if (secrets[i].is_deleting()) {
      KUBE_CO_TRYV(co_await set_finalizer(secrets[i], false));
    } else {
      context_.events.warning(secrets[i], kube::resources::secrets, api::reasons::credentials_unusable,
                              "Secret " + std::string(secrets[i].name()) + " is not used, because Secret " +
                                  std::string(secrets.front().name()) + " of this namespace is for " + key.name +
                                  " too; delete one of them");
    }
  }
  co_return kube::Result<void>();
}

asio::awaitable<Outcome> Replicator::reconcile_peer(kube::WorkKey work) {
  const PeerKey key = work.object;
  if (!knows_secrets_of(key.ns)) co_return Outcome::done();  // their completion enqueues it
  const auto secrets = secrets_of(key);
  if (secrets.empty()) {
    // A session that has its credentials can end the replicas without the Secret.
    if (const auto found = peers_.find(key); found != peers_.end()) {
      const auto& session = found->second.session;
      if (session && session->loss().empty() && !held_by(key, false).empty())
        co_return Outcome::again_after(closing_pause);
      co_await stop_session(key);
      peers_.erase(key);
      log_.info("replication ended", {{"cluster", key.name}, {"namespace", key.ns}});
    }
    notify(key.name);
    co_return Outcome::done();
  }
  const kube::Object& secret = secrets.front();
  KUBE_CO_TRYV(co_await release_others(key, secrets));
  if (!secret.is_deleting() && !secret.has_finalizer(api::finalizers::replication_credentials) &&
      !tenants_.is_ending(key.ns)) {
    // The rights come first: without them the finalizer could not be removed.
    KUBE_CO_TRYV(co_await tenants_.hold_rights(key.ns));
    KUBE_CO_TRYV(co_await set_finalizer(secret, true));
  }
  if (peers_[key].session && !peers_[key].session->loss().empty()) co_await end_lost_session(key);
  if (peers_[key].session && !peers_[key].session->overflow().empty()) co_await end_overfull_session(key, secret);
  // No object and no Secret is released during this pause, because it is not known what is left at the provider. If
  // that is gone for good, it will never be known.
  if (const kube::TimePoint at = peers_[key].not_before;
      !peers_[key].session && context_.clock.now() < at && !(secret.is_deleting() && is_lost(key.name))) {
    if (!secret.is_deleting()) see_unheard(key);
    co_return Outcome::again_after(at - context_.clock.now());
  }
  if (peers_[key].session && !goes_on_with(peers_[key], secret)) {
    log_.info("replication starts anew: it leads elsewhere", {{"cluster", key.name}, {"namespace", key.ns}});
    co_await stop_session(key);
  }
  // With a Secret that is being deleted a session is opened only if there are replicas to end.
  if (!peers_[key].session && (!secret.is_deleting() || !held_by(key, false).empty())) {
    auto opened = open(key, secret);
    Peer& peer = peers_[key];
    if (!opened && peer.trouble != opened.error().text()) {
      peer.trouble = opened.error().text();
      log_.warn("no replication", {{"secret", secret.key()}, {"error", opened.error()}});
      context_.events.warning(secret, kube::resources::secrets, api::reasons::credentials_unusable,
                              "nothing is replicated to " + key.name + " with this Secret: " + *peer.trouble);
    }
    notify(key.name);
  }
  if (secret.is_deleting()) co_return co_await close(key, secret);
  if (!peers_[key].session) see_unheard(key);
  co_return Outcome::done();
}

asio::awaitable<Outcome> Replicator::close(PeerKey key, kube::Object secret) {
  // Another finalizer holds the Secret: the session goes on until the Secret is gone.
  if (!secret.has_finalizer(api::finalizers::replication_credentials)) co_return Outcome::done();
  const bool lost = is_lost(key.name);
  const std::shared_ptr<ReplicationSession> session = peers_[key].session;
  if (auto held = held_by(key, true); session && !held.empty() && !lost) {
    context_.events.warning(secret, kube::resources::secrets, api::reasons::credentials_in_use,
                            "Secret " + std::string(secret.name()) + " is kept until nothing is replicated to " +
                                key.name + " any more; delete first: " + kube::join_some(held, max_named));
    co_return Outcome::again_after(closing_pause);
  }
  // Objects that are being deleted need the credentials, unless these are useless.
  if (session && !lost && !held_by(key, false).empty()) co_return Outcome::again_after(closing_pause);
  if (session && !lost) {
    auto left = co_await session->has_replicas();
    const auto found = peers_.find(key);
    if (found == peers_.end()) co_return Outcome::again_after(0ms);
    if (!left && !is_refused_access(left.error())) co_return Outcome::retry(std::move(left.error()));
    auto& since = found->second.refused_since;
    const kube::TimePoint now = context_.clock.now();
    if (left) {
      since.reset();
      if (*left) co_return Outcome::again_after(closing_pause);
    } else {
      if (!since) since = now;
      if (session->is_withdrawn() != true && now - *since < refusal_patience)
        co_return Outcome::again_after(closing_pause);
    }
  }
  KUBE_CO_TRYV(co_await set_finalizer(secret, false));
  // The event of its removal enqueues the key.
  co_return Outcome::done();
}

asio::awaitable<Outcome> Replicator::reconcile_orphan(kube::WorkKey work) {
  const auto kinds = core::replicated_kinds();
  const auto kind = std::ranges::find(kinds, work.group, &kube::Resource::plural);
  const auto& informer = locals_[static_cast<std::size_t>(kind - kinds.begin())];
  const auto object = informer->find(work.object);
  const auto forget = [&] {
    orphans_.erase(work);
    return Outcome::done();
  };
  if (!object || !object->has_finalizer(api::finalizers::replicated_object)) co_return forget();
  const std::string cluster(object->label(api::labels::replication_destination));
  const core::ReplicationPeer peer{.local = context_.settings.cluster_id, .remote = cluster};
  if (!object->is_deleting() && core::is_for_peer(*object, peer)) co_return forget();
  // The session of the object's namespace releases the object.
  for (const auto& [key, entry] : peers_)
    if (key.ns == work.object.ns && entry.session && (cluster.empty() || key.name == cluster)) co_return forget();
  if (!has_synced() || !knows_secrets_of(work.object.ns)) co_return Outcome::again_after(orphan_patience);
  if (!is_lost(cluster)) {
    // Credentials that cannot be used now may be corrected.
    if (!cluster.empty() && !secrets_of({work.object.ns, cluster}).empty())
      co_return Outcome::again_after(orphan_patience);
    const kube::TimePoint since = orphans_.try_emplace(work, context_.clock.now()).first->second;
    const kube::Duration waited = context_.clock.now() - since;
    if (waited < orphan_patience) co_return Outcome::again_after(orphan_patience - waited);
  }
  log_.warn("the object is let go without its replica: there are no credentials for its provider",
            {{"kind", kind->kind}, {"object", work.object}, {"cluster", cluster}});
  KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *informer, *object, api::finalizers::replicated_object));
  orphans_.erase(work);
  co_return Outcome::done();
}

}  // namespace liqo::controllers
