#include "controllers/offloading/trust_copies.hpp"

#include <utility>
#include <vector>

#include "controllers/common/under_way.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/find_live.hpp"
#include "kube/k8s/request.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// The pause before it is looked again whether something is known, or another pod has written.
constexpr kube::Duration unknown_pause = 1s;

}  // namespace

TrustCopies::TrustCopies(OffloadingNode& node, PodTwins& twins)
    : node_(node), twins_(twins), home_(node.context, [this] { enqueue_users(); }) {
  node_.forging.reads_trust_bundles = &home_.is_readable();
}

void TrustCopies::enqueue_users(std::string_view ns) {
  for (const auto& [key, user] : users_)
    if (ns.empty() || key.ns == ns) node_.enqueue(key);
}

TrustCopies::Watched& TrustCopies::watch(const std::string& local, const std::string& remote) {
  Watched& twin = watched_[local];
  if (twin.copies && twin.remote == remote) return twin;
  twin.copies.release();
  twin.remote = remote;
  twin.unused_since.clear();
  twin.copies = node_.provider.caches.acquire(
      {.resource = kube::resources::config_maps,
       .ns = remote,
       .selection = {.label_selector = kube::label_is(api::labels::trust_of_home, node_.forging.clusters.local)},
       .metadata_only = true});
  twin.copies.subscribe([this, local](const kube::Change&) { enqueue_users(local); },
                        [this, local] { enqueue_users(local); });
  return twin;
}

TrustCopies::Watched* TrustCopies::find(const std::string& local, std::string_view remote) {
  const auto twin = watched_.find(local);
  return twin != watched_.end() && twin->second.copies && twin->second.remote == remote ? &twin->second : nullptr;
}

bool TrustCopies::is_waiting(const kube::ObjectKey& local) const {
  const auto user = users_.find(local);
  return user != users_.end() && user->second.is_waiting;
}

void TrustCopies::tell(const kube::Object& local, std::string words) {
  const auto user = users_.find(local.key());
  if (user == users_.end() || user->second.told == words) return;
  user->second.told = words;
  if (!words.empty()) node_.warn(local, api::reasons::no_trust_bundle, std::move(words));
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TrustCopies::prepare(const kube::Object& local,
                                                                                  std::string remote_namespace) {
  if (!core::wants_home_trust(local, node_.forging)) co_return std::nullopt;
  const auto is_read = home_.look();
  if (!is_read) co_return std::optional<kube::Duration>(unknown_pause);
  if (!*is_read) {
    User& user = users_[local.key()];
    if (user.uid != local.uid()) user = {.uid = std::string(local.uid())};
    tell(local, "the pod gets the trust bundles of cluster " + node_.cluster() + ", not those of cluster " +
                    node_.forging.clusters.local + ": " + home_.why_not());
    co_return std::nullopt;
  }
  core::TrustSources sources = core::trust_sources(local);
  auto wait = co_await bring(local, std::move(remote_namespace), std::move(sources));
  // Without a twin the pod is refused, and that is told.
  if (!wait && wait.error().is_not_found()) co_return std::nullopt;
  // A refusal keeps no pod from being sent.
  if (wait && *wait > unknown_pause) co_return std::nullopt;
  co_return wait;
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TrustCopies::keep(const kube::Object& local,
                                                                               const kube::Object& shadow) {
  core::TrustSources sources = core::trust_sources(local);
  if (!core::mounts_trust_copy(shadow, sources)) co_return std::nullopt;
  const auto is_read = home_.look();
  // The pod goes on with what it has.
  if (!is_read) co_return std::optional<kube::Duration>(unknown_pause);
  if (!*is_read) co_return std::optional<kube::Duration>(HomeTrust::refused_pause);
  std::string remote_namespace(shadow.ns());
  co_return co_await bring(local, std::move(remote_namespace), std::move(sources));
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TrustCopies::bring(const kube::Object& local,
                                                                                std::string remote_namespace,
                                                                                core::TrustSources sources) {
  const kube::ObjectKey key{std::move(remote_namespace), core::trust_copy_name(sources)};
  User& user = users_[local.key()];
  if (user.uid != local.uid()) user = {.uid = std::string(local.uid())};
  user.copy = key.name;
  Watched& twin = watch(std::string(local.ns()), key.ns);
  if (!twin.copies->has_synced()) {
    const auto& trouble = twin.copies->trouble();
    if (!trouble || !trouble->is_forbidden()) co_return std::optional<kube::Duration>(unknown_pause);
    // The pod waits there, and its completion enqueues the pod.
    user.is_waiting = true;
    tell(local, "cluster " + node_.cluster() +
                    " does not let this cluster watch ConfigMaps, by which trust bundles reach "
                    "this pod: " +
                    kube::one_line(core::refusal_words(*trouble), core::max_refusal));
    co_return std::optional<kube::Duration>(refused_pause);
  }
  // The one that writes enqueues all the others.
  if (writing_.contains(key)) co_return std::optional<kube::Duration>(unknown_pause);
  auto known = twin.copies->find(key);
  const bool is_looked_at = known && !known->is_deleting() && user.version == known->resource_version();
  if (is_looked_at && user.changes == home_.changes()) co_return std::nullopt;
  const core::TrustTexts texts = home_.texts(sources);
  const bool is_too_large = texts.bytes() > core::max_trust_bytes;
  user.is_waiting = is_too_large || !texts.missing.empty();
  std::string words = core::describe_trust(texts, node_.forging.clusters);
  kube::Object wanted = core::forge_trust_copy(key, texts, node_.forging.clusters);
  const auto refused = refused_.find(key);
  const bool is_refused =
      refused != refused_.end() && refused->second.digest == wanted.annotation(api::annotations::trust_digest);
  if (is_refused && words.empty()) words = refused->second.words;
  tell(local, std::move(words));
  if (is_too_large) co_return std::nullopt;
  // Its end enqueues the pod.
  if (known && known->is_deleting()) co_return std::nullopt;
  if (known && core::is_up_to_date(*known, wanted)) {
    user.changes = home_.changes();
    user.version = known->resource_version();
    co_return std::nullopt;
  }
  if (is_refused)
    if (const kube::Duration left = refused->second.at + refused_pause - node_.context.clock.now(); left > 0s)
      co_return std::optional<kube::Duration>(left);
  const UnderWay<kube::ObjectKey> writing(writing_, key);
  KUBE_CO_TRYV(co_await write(local, std::move(wanted), std::move(known)));
  co_return std::nullopt;
}

asio::awaitable<kube::Result<void>> TrustCopies::write(const kube::Object& local, kube::Object wanted,
                                                       std::optional<kube::Object> known) {
  const kube::ObjectKey key = wanted.key();
  const std::string digest(wanted.annotation(api::annotations::trust_digest));
  const bool is_new = !known;
  auto written = co_await send(std::move(wanted), std::move(known));
  std::string refusal;
  if (!written && is_new && written.error().is_already_exists()) {
    // It is ours, from before a restart or by another virtual node, or has another owner.
    KUBE_CO_TRY(live, co_await kube::find_live(node_.provider.api, kube::resources::config_maps, key),
                "looking for the ConfigMap with trust bundles");
    if (!live) co_return kube::fail(std::move(written.error()), "bringing the trust bundles");
    if (core::is_trust_copy(*live, node_.forging.clusters))
      written = std::move(*live);
    else
      refusal = "it is not ours";
  }
  if (written) {
    refused_.erase(key);
    if (Watched* twin = find(std::string(local.ns()), key.ns)) twin->copies->observe(std::move(*written));
    co_return kube::Result<void>();
  }
  if (refusal.empty()) {
    std::string words = core::refusal_words(written.error());
    // What goes with its twin may be asked for again in the next one, and what has just been removed is made again.
    if (!written.error().is_permanent() || written.error().is_not_found() || words.contains("being terminated"))
      co_return kube::fail(std::move(written.error()), "bringing the trust bundles");
    refusal = std::move(words);
  }
  std::string words = "cluster " + node_.cluster() + " refuses ConfigMap " + key.text() +
                      " with the trust bundles of this pod: " + kube::one_line(refusal, core::max_refusal);
  refused_.insert_or_assign(key, Refused{.digest = digest, .words = words, .at = node_.context.clock.now()});
  tell(local, std::move(words));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<kube::Object>> TrustCopies::send(kube::Object wanted, std::optional<kube::Object> known) {
  // Neither write touches an object that has taken the name since.
  if (!known)
    co_return co_await node_.provider.api.create(kube::resources::config_maps, wanted,
                                                 {.field_manager = api::reflection_manager});
  wanted.mutable_metadata()["uid"] = known->uid();
  wanted.mutable_metadata()["resourceVersion"] = known->resource_version();
  // An apply would leave bundles that are gone.
  co_return co_await node_.provider.api.replace(kube::resources::config_maps, wanted,
                                                {.field_manager = api::reflection_manager});
}

void TrustCopies::leave(const kube::ObjectKey& local) {
  const auto user = users_.find(local);
  if (user == users_.end()) return;
  // If others mount it as well, the next look at the twin forgets this.
  if (const auto twin = watched_.find(local.ns); twin != watched_.end() && !user->second.copy.empty())
    twin->second.unused_since.try_emplace(user->second.copy, node_.context.clock.now());
  users_.erase(user);
  node_.enqueue_after({local.ns, {}}, unused_for);
}

void TrustCopies::see_mapping() {
  std::erase_if(watched_, [this](const auto& watched) {
    const PodTwin* twin = twins_.find(watched.first);
    return !twin || twin->remote != watched.second.remote;
  });
}

std::set<std::string> TrustCopies::used_names(const std::string& local) {
  std::set<std::string> used;
  for (const auto& [key, user] : users_)
    if (key.ns == local) used.insert(user.copy);
  if (const PodTwin* twin = twins_.find(local); twin && twin->watch->shadows)
    for (const kube::Object& shadow : twin->watch->shadows->objects())
      for (std::string& name : core::projected_config_maps(shadow)) used.insert(std::move(name));
  return used;
}

asio::awaitable<kube::Result<void>> TrustCopies::sweep(std::string local_namespace) {
  const auto watched = watched_.find(local_namespace);
  if (watched == watched_.end()) co_return kube::Result<void>();
  const PodTwin* twin = twins_.find(local_namespace);
  if (!twin || twin->remote != watched->second.remote) {
    // What is left goes with the twin.
    watched_.erase(watched);
    co_return kube::Result<void>();
  }
  Watched& here = watched->second;
  if (!here.copies->has_synced() || !(twin->watch->is_resting || twin->has_synced())) {
    node_.enqueue_after({local_namespace, {}}, unused_for);
    co_return kube::Result<void>();
  }
  const std::set<std::string> used = used_names(local_namespace);
  const kube::TimePoint now = node_.context.clock.now();
  std::vector<kube::Object> unused;
  bool is_waiting = false;
  for (const kube::Object& copy : here.copies->objects()) {
    const std::string name(copy.name());
    if (!core::is_trust_copy(copy, node_.forging.clusters)) continue;
    if (used.contains(name) || copy.is_deleting()) {
      here.unused_since.erase(name);
    } else if (now - here.unused_since.try_emplace(name, now).first->second >= unused_for) {
      unused.push_back(copy);
    } else {
      is_waiting = true;
    }
  }
  if (is_waiting) node_.enqueue_after({local_namespace, {}}, unused_for);
  for (const kube::Object& copy : unused) {
    KUBE_CO_TRYV(co_await remove(local_namespace, copy));
  }
  rest(local_namespace);
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> TrustCopies::remove(const std::string& local, const kube::Object& copy) {
  auto removed = co_await kube::remove_object(
      node_.provider.api, kube::resources::config_maps, copy.key(),
      {.options = {.uid = std::string(copy.uid())}, .phase = "removing a ConfigMap with trust bundles"});
  if (!removed && !removed.error().is_permanent()) co_return std::unexpected(std::move(removed.error()));
  Watched* twin = find(local, copy.ns());
  if (twin && removed) {
    twin->unused_since.erase(std::string(copy.name()));
    twin->copies->observe_gone(copy.key(), copy.uid());
  } else if (twin) {
    // It is harmless, and goes with the twin at the latest.
    twin->unused_since[std::string(copy.name())] = node_.context.clock.now() + refused_pause - unused_for;
    node_.enqueue_after({local, {}}, refused_pause);
  }
  refused_.erase(copy.key());
  co_return kube::Result<void>();
}

void TrustCopies::rest(const std::string& local) {
  const auto watched = watched_.find(local);
  if (watched == watched_.end() || watched->second.copies->store().size() > 0) return;
  for (const auto& [key, user] : users_)
    if (key.ns == local) return;
  watched_.erase(watched);
}

}  // namespace liqo::controllers
