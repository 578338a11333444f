#include "controllers/peering/foreign_cluster.hpp"

#include <algorithm>

#include "controllers/common/is_older.hpp"
#include "controllers/common/known.hpp"
#include "controllers/common/scopes.hpp"
#include "core/common/names.hpp"
#include "core/peering/replication.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// Index of the objects of peers, by their cluster.
constexpr std::string_view by_peer = "peer";

/// The pause before another look while caches are incomplete: there may be no event when they become complete.
constexpr kube::Duration incomplete_pause = 5s;

}  // namespace

ForeignClusterController::ForeignClusterController(Context context, Replicator& replicator)
    : context_(context),
      replicator_(replicator),
      foreign_clusters_{.objects = context.home.acquire({.resource = api::kinds::foreign_clusters}), .in_spec = true},
      tenants_{.objects = context.home.acquire({.resource = api::kinds::tenants}), .in_spec = true},
      identities_{.objects = context.home.acquire({.resource = api::kinds::identities}), .in_spec = true},
      virtual_nodes_{.objects = context.home.acquire({.resource = api::kinds::virtual_nodes}),
                     .in_spec = true,
                     .part = core::part_of_virtual_node},
      nodes_{.objects = context.home.acquire(scope_of_virtual_nodes()), .part = core::part_of_node},
      configurations_{.objects = context.home.acquire({.resource = api::kinds::configurations}), .required = false},
      controller_(context, {.name = "foreigncluster"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }),
      log_("foreigncluster") {
  for (Source* source : {&foreign_clusters_, &tenants_, &identities_, &virtual_nodes_, &nodes_, &configurations_})
    watch(*source);
  replicator_.on_change([this](const std::string& cluster) { enqueue(cluster); });
}

std::string ForeignClusterController::cluster_of(bool in_spec, const kube::Object& object) {
  std::string cluster;
  if (in_spec) cluster = kube::string_at(object.spec(), {"clusterID"});
  return cluster.empty() ? std::string(object.label(api::labels::remote_cluster_id)) : cluster;
}

void ForeignClusterController::watch(Source& source) {
  source.objects->add_index(std::string(by_peer),
                            [in_spec = source.in_spec](const kube::Object& object, std::vector<std::string>& out) {
                              if (std::string cluster = cluster_of(in_spec, object); !cluster.empty())
                                out.push_back(std::move(cluster));
                            });
  const auto changed = [this, &source](const kube::Change& change) {
    const auto counts = [&source](const kube::Object& object) {
      return std::pair(cluster_of(source.in_spec, object), source.part(object));
    };
    if (source.part && !change.changes(counts)) return;
    for (const kube::Object* object : {change.now, change.previous()})
      if (object) enqueue(cluster_of(source.in_spec, *object));
  };
  const auto synced = [this] { enqueue_all(); };
  if (source.required)
    controller_.watch(source.objects, changed, synced);
  else
    source.objects.subscribe(changed, synced);
}

void ForeignClusterController::enqueue(const std::string& cluster) {
  if (core::is_dns_label(cluster) && cluster != context_.settings.cluster_id)
    controller_.enqueue({.group = cluster, .object = {"", cluster}});
}

void ForeignClusterController::enqueue_all() {
  for (const Source* source : {&foreign_clusters_, &tenants_, &identities_, &virtual_nodes_, &configurations_})
    for (const kube::Object& object : source->objects->objects()) enqueue(cluster_of(source->in_spec, object));
}

std::vector<kube::Object> ForeignClusterController::objects_of(const Source& source, std::string_view cluster) const {
  std::vector<kube::Object> found;
  for (kube::Object& object : source.objects->objects(by_peer, cluster)) found.push_back(std::move(object));
  std::ranges::sort(found, is_older);
  return found;
}

asio::awaitable<Outcome> ForeignClusterController::create(std::string cluster) {
  KUBE_CO_TRY(created,
              co_await context_.home.api().create(api::kinds::foreign_clusters, core::forge_foreign_cluster(cluster)),
              "creating the ForeignCluster");
  log_.info("ForeignCluster created", {{"cluster", cluster}});
  foreign_clusters_.objects->observe(std::move(created));
  co_return Outcome::done();
}

core::PeerState ForeignClusterController::look_at(const std::string& cluster) const {
  // The completion of the caches enqueues every peer.
  auto tenants = objects_of(tenants_, cluster);
  auto identities = objects_of(identities_, cluster);
  std::erase_if(identities, [](const kube::Object& identity) { return !api::Identity(identity).is_control_plane(); });
  const auto oldest = [](std::vector<kube::Object>& of) {
    return of.empty() ? std::nullopt : std::optional(std::move(of.front()));
  };
  core::PeerState peer{.tenant = oldest(tenants),
                       .identity = oldest(identities),
                       .configurations = objects_of(configurations_, cluster),
                       .virtual_nodes = objects_of(virtual_nodes_, cluster),
                       .nodes = objects_of(nodes_, cluster),
                       .api_server_answers = replicator_.answers(cluster),
                       .trouble = replicator_.trouble(cluster),
                       .clock_ahead = replicator_.clock_ahead(cluster),
                       .withdrawal = "",
                       .silence = {}};
  if (auto server = replicator_.server(cluster)) {
    peer.has_credentials = true;
    peer.server = std::move(*server);
  }
  return peer;
}

asio::awaitable<Outcome> ForeignClusterController::remove(kube::Object foreign_cluster) {
  // Incomplete caches do not show that an object does not exist.
  if (!replicator_.knows_secrets() || !configurations_.objects->is_known())
    co_return Outcome::again_after(incomplete_pause);
  KUBE_CO_TRYV(
      co_await kube::remove_object(context_.home.api(), api::kinds::foreign_clusters, foreign_cluster.key(),
                                   {.options = {.uid = std::string(foreign_cluster.uid()),
                                                .resource_version = std::string(foreign_cluster.resource_version())},
                                    .phase = "deleting the ForeignCluster"}));
  log_.info("ForeignCluster deleted: nothing of the peer is left",
            {{"cluster", cluster_of(foreign_clusters_.in_spec, foreign_cluster)}});
  co_return Outcome::done();
}

asio::awaitable<Outcome> ForeignClusterController::reconcile(kube::WorkKey work) {
  const std::string cluster = work.object.name;
  // While it is not known whether there is a network module, its conditions would be dropped.
  if (!is_known_or_forbidden(*configurations_.objects)) co_return Outcome::again_after(500ms);
  core::PeerState peer = look_at(cluster);
  const auto found = objects_of(foreign_clusters_, cluster);
  const bool wanted = core::has_anything(peer);
  if (found.empty()) {
    if (!wanted) co_return Outcome::done();
    co_return co_await create(cluster);
  }
  const kube::Object& object = found.front();
  if (object.is_deleting() && !object.has_finalizer(api::finalizers::api_server_checker)) co_return Outcome::done();
  if (!wanted && core::is_made_by_us(object)) co_return co_await remove(object);
  // The Go version has a finalizer while it probes; our probes end by themselves.
  if (object.has_finalizer(api::finalizers::api_server_checker)) {
    KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *foreign_clusters_.objects, object,
                                           api::finalizers::api_server_checker),
                 "releasing the ForeignCluster");
    co_return Outcome::again_after(0ms);
  }
  // A note stands until a session knows better: a process that has just started does not.
  if (auto withdrawal = replicator_.withdrawal(cluster)) {
    peer.withdrawal = std::move(*withdrawal);
  } else if (peer.has_credentials || !replicator_.knows_secrets()) {
    peer.withdrawal = core::withdrawal_note(object);
  }
  if (auto silence = replicator_.silence(cluster)) {
    peer.silence = std::move(*silence);
  } else if (peer.has_credentials || !replicator_.knows_secrets()) {
    peer.silence = core::silence_note(object);
  }
  co_return co_await report(object, std::move(peer));
}

asio::awaitable<Outcome> ForeignClusterController::report(kube::Object foreign_cluster, core::PeerState peer) {
  kube::json::object status = core::forge_foreign_cluster_status(foreign_cluster, peer, context_.clock.wall());
  if (status == foreign_cluster.status()) co_return Outcome::done();
  kube::Object next = foreign_cluster;
  next.mutable_status() = std::move(status);
  const std::string unchecked = core::newly_unchecked(foreign_cluster, next);
  const bool newly_withdrawn = !peer.withdrawal.empty() && core::withdrawal_note(foreign_cluster).empty();
  const std::string silence = core::without_count(peer.silence.words);
  const bool newly_silent =
      !silence.empty() && core::without_count(core::silence_note(foreign_cluster).words) != silence;
  auto written = co_await context_.home.api().replace(api::kinds::foreign_clusters, next, {.subresource = "status"});
  if (!written && written.error().is_not_found()) co_return Outcome::done();
  if (!written) co_return Outcome::retry(std::move(written.error()).in("updating the ForeignCluster's status"));
  if (!unchecked.empty()) {
    log_.warn("addresses of pods are not checked",
              {{"cluster", cluster_of(foreign_clusters_.in_spec, foreign_cluster)}, {"reason", unchecked}});
    context_.events.warning(*written, api::kinds::foreign_clusters, api::reasons::pod_addresses_unchecked, unchecked);
  }
  if (newly_withdrawn)
    context_.events.warning(*written, api::kinds::foreign_clusters, api::reasons::rights_withdrawn, peer.withdrawal);
  if (newly_silent)
    context_.events.warning(*written, api::kinds::foreign_clusters, core::provider_silent, peer.silence.words);
  foreign_clusters_.objects->observe(std::move(*written));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
