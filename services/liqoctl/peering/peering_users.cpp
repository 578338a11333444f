#include "peering/peering_users.hpp"

#include "liqo/api/kinds.hpp"
#include "model/selectors.hpp"

namespace liqoctl {

namespace kinds = liqo::api::kinds;

asio::awaitable<Result<std::vector<model::PeeringUser>>> list_peering_users(Cluster& cluster) {
  KUBE_CO_TRY(bindings, co_await cluster.list(kinds::role_bindings, "", std::string(model::peering_user_label)));
  auto tenants = co_await cluster.list(kinds::tenants, "");
  if (!tenants && !tenants.error().is_not_found()) co_return std::unexpected(std::move(tenants.error()));
  co_return model::peering_users(bindings, tenants ? *tenants : std::vector<Object>());
}

}  // namespace liqoctl
