#include "installation/given_values.hpp"

#include "core/slices/policy.hpp"
#include "installation/chart.hpp"
#include "liqo/api/kinds.hpp"
#include "model/install/given_values.hpp"
#include "model/install/install.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;

/// The values that the objects of an installation show, for one that has no record of its values.
asio::awaitable<Result<json::object>> read_shown_values(Cluster& cluster) {
  KUBE_CO_TRY(defaults, model::default_values(chart_files()));
  KUBE_CO_TRY(deployment, co_await cluster.find(kinds::deployments, {cluster.liqo_namespace(), "liqod"}));
  KUBE_CO_TRY(policy, co_await cluster.find(kube::resources::config_maps,
                                            {cluster.liqo_namespace(), std::string(liqo::core::policy_config_map)}));
  co_return model::shown_values(deployment ? &*deployment : nullptr, policy ? &*policy : nullptr, defaults);
}

}  // namespace

asio::awaitable<Result<GivenValues>> read_given_values(Cluster& cluster) {
  KUBE_CO_TRY(secret, co_await cluster.find(kube::resources::secrets,
                                            {cluster.liqo_namespace(), std::string(model::given_values_secret)}));
  KUBE_CO_TRY(values, secret ? model::read_given_values(*secret) : co_await read_shown_values(cluster));
  co_return GivenValues{.values = std::move(values), .is_recorded = secret.has_value()};
}

}  // namespace liqoctl
