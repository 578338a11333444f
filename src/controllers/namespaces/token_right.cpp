#include "controllers/namespaces/token_right.hpp"

#include <utility>

#include "controllers/common/ensure_binding.hpp"
#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/peering/forge.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TokenRight::keep(kube::Object offloading,
                                                                              std::string user) {
  const std::string ns(offloading.ns());
  if (!context_.settings.offloading.makes_tokens()) {
    KUBE_CO_TRYV(co_await remove(ns));
    co_return std::nullopt;
  }
  const kube::TimePoint now = context_.clock.now();
  const auto refused = refused_.find(ns);
  if (refused != refused_.end() && now - refused->second < refused_pause)
    co_return std::optional<kube::Duration>(refused->second + refused_pause - now);
  kube::Object binding = core::forge_own_binding(ns, user, core::own_token_role);
  binding.add_owner_reference(core::owner_of(offloading, false));
  auto bound = co_await ensure_binding(context_.home.api(), *bindings_, std::move(binding));
  if (bound) {
    refused_.erase(ns);
    co_return std::nullopt;
  }
  if (!bound.error().is_forbidden()) co_return kube::fail(std::move(bound.error()), "getting the right to make tokens");
  if (refused_.insert_or_assign(ns, now).second)
    context_.events.warning(
        offloading, api::kinds::namespace_offloadings, api::reasons::failed_tokens,
        "pods of this namespace that run elsewhere get no tokens, because liqod may not bind ClusterRole " +
            std::string(core::own_token_role) +
            ": upgrade the installation with its chart, or set apiServer.support and apiServer.audienceTokens to "
            "never");
  co_return std::optional<kube::Duration>(refused_pause);
}

asio::awaitable<kube::Result<void>> TokenRight::remove(std::string ns) {
  const kube::ObjectKey key{std::move(ns), std::string(core::own_token_role)};
  const auto binding = bindings_->find(key);
  if (!binding || binding->is_deleting()) co_return kube::Result<void>();
  const std::string uid(binding->uid());
  KUBE_CO_TRYV(
      co_await kube::remove_object(context_.home.api(), api::kinds::role_bindings, key,
                                   {.options = {.uid = uid}, .phase = "giving back the right to make tokens"}));
  bindings_->observe_gone(key, uid);
  co_return kube::Result<void>();
}

}  // namespace liqo::controllers
