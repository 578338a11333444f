#include "controllers/offloading/twin_consumers.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "controllers/common/configurations_of.hpp"
#include "controllers/common/known.hpp"
#include "controllers/common/tenant_namespace_of.hpp"
#include "core/addresses/network_configuration.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/tenant_index.hpp"
#include "core/offloading/provider_pod.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {

TwinConsumers::TwinConsumers(Context context)
    : namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      configurations_(context.home.acquire({.resource = api::kinds::configurations})) {
  namespaces_->add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
}

std::optional<std::set<std::string>> TwinConsumers::observe(const kube::Change& change) {
  const auto decides = [](const kube::Object& ns) {
    return std::tuple(core::is_tenant_namespace(ns), ns.label(api::labels::remote_cluster_id),
                      ns.annotation(api::annotations::pod_policy));
  };
  if (!change.changes(decides)) return std::nullopt;
  policies_.erase(change.key.name);
  std::set<std::string> consumers;
  for (const kube::Object* ns : {change.previous(), change.now})
    if (ns && core::is_tenant_namespace(*ns)) consumers.emplace(ns->label(api::labels::remote_cluster_id));
  if (!consumers.empty()) policies_.clear();
  return consumers;
}

std::string TwinConsumers::consumer_of(std::string_view twin) const {
  const auto ns = namespaces_->find({{}, std::string(twin)});
  return std::string(ns ? ns->label(api::labels::remote_cluster_id) : "");
}

const core::PodPolicy& TwinConsumers::policy_of(const std::string& twin) {
  const auto [at, is_new] = policies_.try_emplace(twin);
  if (!is_new) return at->second;
  const std::string consumer = consumer_of(twin);
  if (consumer.empty()) return at->second;
  if (const auto tenant = namespaces_->find({{}, tenant_namespace_of(namespaces_->store(), consumer)}))
    at->second = core::read_pod_policy(tenant->annotation(api::annotations::pod_policy)).value_or(core::PodPolicy());
  return at->second;
}

bool TwinConsumers::knows_addresses() const { return is_known_or_forbidden(*configurations_); }

kube::Result<core::IpMapping> TwinConsumers::api_server_mapping(const kube::Object& shadow) const {
  const std::vector<std::string> addresses = core::home_api_server_addresses(shadow);
  const std::string consumer = consumer_of(shadow.ns());
  const auto configurations =
      configurations_of(configurations_->store(), tenant_namespace_of(namespaces_->store(), consumer), consumer);
  auto mapping = core::read_network_mapping(configurations);
  // An address that its administrator declared, such as a public one, needs no network between the clusters.
  const bool needs_network = std::ranges::any_of(
      addresses, [&](const std::string& address) { return core::is_in_range_of_peer(configurations, address); });
  if (!mapping && !needs_network) return core::IpMapping();
  return mapping;
}

}  // namespace liqo::controllers
