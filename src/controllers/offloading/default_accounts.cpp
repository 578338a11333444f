#include "controllers/offloading/default_accounts.hpp"

#include <optional>
#include <utility>

#include "core/offloading/default_account.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {

asio::awaitable<void> DefaultAccounts::see(const kube::Object& local, const core::ForgingContext& forging) {
  const std::string ns(local.ns());
  if (reported_.contains(ns) || !core::misses_token_of_default(local, forging)) co_return;
  const kube::TimePoint now = context_.clock.now();
  std::erase_if(looked_at_, [&](const auto& looked) { return now - looked.second >= look_interval; });
  if (!looked_at_.try_emplace(ns, now).second) co_return;
  std::optional<std::string> words;
  (void)co_await kube::list_all(context_.home.api(), {api::kinds::role_bindings, ns}, {.resource_version = "0"},
                                [&](const kube::Object& binding) {
                                  if (core::binds_default_account(binding))
                                    words = core::describe_missing_token(binding, forging.clusters);
                                  return !words;
                                });
  if (words && reported_.insert(ns).second)
    context_.events.warning(local, kube::resources::pods, api::reasons::no_token_of_home, std::move(*words));
}

}  // namespace liqo::controllers
