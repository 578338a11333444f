#include "controllers/process/state_metrics.hpp"

#include "controllers/common/scopes.hpp"
#include "core/peering/renewal.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/telemetry/families.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/virtual_node.hpp"
#include "telemetry/families.hpp"

namespace liqo::controllers {
namespace {

using Values = std::map<kube::Labels, double>;

/// Callers of the port may scrape as often as they like.
constexpr kube::Duration pause = std::chrono::seconds(1);

}  // namespace

StateMetrics::StateMetrics(const VirtualNodeController& nodes, Context context)
    : controller_(nodes),
      context_(std::move(context)),
      virtual_nodes_(context_.home.acquire({.resource = api::kinds::virtual_nodes})),
      nodes_(context_.home.acquire(scope_of_virtual_nodes())),
      foreign_clusters_(context_.home.acquire({.resource = api::kinds::foreign_clusters})),
      identities_(context_.home.acquire({.resource = api::kinds::identities})),
      offered_(virtual_nodes_,
               [](const kube::Object& object) {
                 const api::VirtualNode view(object);
                 return Offered{.cluster = std::string(view.cluster_id()), .has_node = view.create_node()};
               }),
      machines_(nodes_,
                [](const kube::Object& node) {
                  return Machine{.cluster = std::string(node.label(api::labels::remote_cluster_id)),
                                 .is_ready = kube::has_condition(node, "Ready")};
                }),
      reached_(foreign_clusters_,
               [](const kube::Object& object) {
                 const api::ForeignCluster peer(object);
                 return Reached{.cluster = std::string(peer.cluster_id()),
                                .status = std::string(peer.condition("APIServerStatus"))};
               }),
      slices_(context_.home, context_.metrics),
      leads_(context_.metrics.gauge(kube::families::is_leader, {{"name", "liqod"}})),
      ready_(context_.metrics, families::virtual_node_ready),
      pods_(context_.metrics, families::offloaded_pods),
      without_room_(context_.metrics, families::pods_without_room),
      reachable_(context_.metrics, families::peer_reachable),
      begins_(context_.metrics, families::identity_start),
      expires_(context_.metrics, families::identity_expiry),
      reading_(context_.metrics.on_scrape([this] { refresh(); })) {
  identities_.follow([this](const kube::Change& identity) { read_identity(identity); });
}

void StateMetrics::read_identity(const kube::Change& identity) {
  expiries_.erase(identity.key);
  if (!identity.now) return;
  const api::Identity view(*identity.now);
  const auto params = api::read_auth_params(view.auth_params());
  const auto certificate = params ? core::read_certificate(params->certificate_pem) : std::unexpected(params.error());
  if (!certificate) return;  // the reconciler of Identities reports it
  const auto seconds = [](kube::WallTime time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
  };
  expiries_[identity.key] = {.cluster = std::string(view.cluster_id()),
                             .start = seconds(certificate->not_before),
                             .end = seconds(certificate->not_after)};
}

void StateMetrics::show_nodes(bool leads) {
  Values ready, pods, without_room;
  for (const auto& [key, offered] : offered_.all()) {
    if (!leads) break;
    const kube::Labels labels{{"cluster_id", offered.cluster}, {"node_name", key.name}};
    if (offered.has_node) {
      const Machine* node = machines_.find({"", key.name});
      // The Node may belong to an older VirtualNode of the name.
      ready[labels] = node && node->cluster == offered.cluster && node->is_ready ? 1 : 0;
    }
    if (const ProviderSession* session = controller_.sessions().find(key)) {
      pods[labels] = double(session->pods().local_pods().store().size());
      without_room[labels] = double(session->pods().pods_without_room());
    }
  }
  ready_.show(ready);
  pods_.show(pods);
  without_room_.show(without_room);
}

void StateMetrics::show_peers(bool leads) {
  Values reachable, begins, expires;
  for (const auto& [key, peer] : reached_.all()) {
    // None: this cluster does not use the other's API server.
    if (!leads || peer.status.empty() || peer.status == "None") continue;
    reachable[{{"cluster_id", peer.cluster}}] = peer.status == "Established" ? 1 : 0;
  }
  if (leads)
    for (const auto& [key, expiry] : expiries_) {
      const kube::Labels labels{{"cluster_id", expiry.cluster}, {"identity", key.name}};
      begins[labels] = expiry.start;
      expires[labels] = expiry.end;
    }
  reachable_.show(reachable);
  begins_.show(begins);
  expires_.show(expires);
}

void StateMetrics::refresh() {
  const kube::TimePoint now = context_.clock.now();
  if (now < next_) return;
  next_ = now + pause;
  const bool leads = context_.leadership.is_leader();
  leads_.set(leads ? 1 : 0);
  show_nodes(leads);
  slices_.show(leads);
  show_peers(leads);
}

}  // namespace liqo::controllers
