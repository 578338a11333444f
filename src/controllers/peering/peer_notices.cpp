#include "controllers/peering/peer_notices.hpp"

#include <set>
#include <utility>

#include "controllers/common/foreign_cluster_of.hpp"
#include "core/peering/foreign_cluster.hpp"
#include "liqo/api/foreign_cluster.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {

PeerNotices::PeerNotices(const Context& context, std::function<void(const std::string& cluster)> changed)
    : changed_(std::move(changed)), foreign_clusters_(acquire_foreign_clusters(context.home)) {
  foreign_clusters_.subscribe([this](const kube::ObjectKey& key) { see(key); });
}

const PeerNotices::Notice* PeerNotices::find(const std::string& cluster) const {
  const auto found = notices_.find(cluster);
  return found == notices_.end() ? nullptr : &found->second;
}

bool PeerNotices::is_lost(std::string_view cluster) const {
  return controllers::is_lost(foreign_clusters_->store(), cluster);
}

void PeerNotices::see(const kube::ObjectKey& foreign) {
  std::set<std::string> concerned;
  if (const auto before = clusters_.extract(foreign.name)) concerned.insert(before.mapped());
  if (const auto object = foreign_clusters_->find(foreign)) {
    const std::string cluster(api::ForeignCluster(*object).cluster_id());
    clusters_.emplace(foreign.name, cluster);
    concerned.insert(cluster);
  }
  for (const std::string& cluster : concerned) take(cluster);
}

void PeerNotices::take(const std::string& cluster) {
  const auto oldest = foreign_cluster_of(foreign_clusters_->store(), cluster);
  Notice now;
  if (oldest)
    now = {.withdrawal = core::withdrawal_note(*oldest),
           .silence = core::silence_note(*oldest),
           .network = core::network_state(&*oldest)};
  const Notice* before = find(cluster);
  if ((before ? *before : Notice()) == now) return;
  if (now == Notice()) {
    notices_.erase(cluster);
  } else {
    notices_.insert_or_assign(cluster, std::move(now));
  }
  changed_(cluster);
}

}  // namespace liqo::controllers
