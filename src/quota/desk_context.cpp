#include "quota/desk_context.hpp"

#include <utility>
#include <vector>

#include "core/namespaces/belonging.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "quota/quota_users.hpp"

namespace liqo::quota {

DeskContext::DeskContext(LedgerContext context, kube::Api& to_replica, LedgerSettings times,
                         std::function<void()> stored_changed)
    : LedgerContext(std::move(context)),
      replica_api(to_replica),
      settings(times),
      stored(*this, to_replica, times.counting, std::move(stored_changed)),
      quotas(home.acquire({.resource = api::kinds::quotas})),
      namespaces(
          home.acquire({.resource = kube::resources::namespaces, .selection = core::marked_tenant_namespaces()})),
      records(home.acquire({.resource = kube::resources::config_maps,
                            .ns = liqo_namespace,
                            .selection = {.label_selector = kube::label_is(api::labels::ledger)}})),
      counters(metrics),
      proofs(settings.reservation_life()) {
  index_quotas_by_user(*quotas);
}

bool DeskContext::has_synced() const {
  return stored.has_synced() && quotas->has_synced() && namespaces->has_synced() && records->has_synced();
}

std::expected<kube::ObjectKey, std::string> DeskContext::find_quota(const std::string& user,
                                                                    std::string_view origin) const {
  std::vector<kube::ObjectKey> found;
  for (kube::ObjectKey& key : quotas->store().keys(quotas_by_user, user)) {
    const auto tenant = namespaces->find({"", key.ns});
    if (tenant && tenant->label(api::labels::remote_cluster_id) == origin) found.push_back(std::move(key));
  }
  if (found.empty())
    return std::unexpected("there is no quota for user \"" + user + "\" of cluster " + std::string(origin) +
                           ": its ResourceSlice is not accepted (any more)");
  if (found.size() > 1)
    return std::unexpected("quotas " + found[0].text() + " and " + found[1].text() + " are both for user " + user +
                           "; the provider's administrator has to delete one");
  return std::move(found[0]);
}

}  // namespace liqo::quota
