#include "peering/unauthenticate.hpp"

#include <algorithm>

#include "liqo/api/kinds.hpp"
#include "model/selectors.hpp"
#include "peering/removal.hpp"

namespace liqoctl {

namespace kinds = liqo::api::kinds;
using kube::Errc;

asio::awaitable<Result<void>> unauthenticate(Session& session, Session::Pair pair) {
  KUBE_CO_TRY(home, co_await pair.consumer->tenant_namespace(pair.provider_id), pair.consumer->scope());
  KUBE_CO_TRY(away, co_await pair.provider->tenant_namespace(pair.consumer_id), pair.provider->scope());
  if (home.exists) {
    KUBE_CO_TRY(slices, co_await pair.consumer->list(kinds::resource_slices, "", model::towards(pair.provider_id)),
                pair.consumer->scope());
    // Slices that are being deleted need these credentials to end, so the credentials stay until then.
    const auto left = std::ranges::count_if(slices, [](const Object& slice) { return !slice.is_deleting(); });
    if (left > 0 && !session.flags().dry_run)
      co_return kube::fail(Errc::invalid_input, "there are still " + std::to_string(left) + " ResourceSlices towards " +
                                                    pair.provider_id + " in cluster " + pair.consumer_id +
                                                    ": delete them first, or use liqoctl unpeer");
    KUBE_CO_TRYV(co_await forget_identity(session, *pair.consumer, pair.provider_id, home.name));
  }
  if (away.exists) {
    KUBE_CO_TRYV(co_await forget_tenant(session, *pair.provider, pair.consumer_id, away.name));
    co_await sweep_secrets(*pair.provider, pair.consumer_id, away.name, true);
  }
  if (home.exists) co_await sweep_secrets(*pair.consumer, pair.provider_id, home.name, false);
  co_return Result<void>();
}

}  // namespace liqoctl
