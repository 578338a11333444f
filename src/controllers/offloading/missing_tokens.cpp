#include "controllers/offloading/missing_tokens.hpp"

#include "core/offloading/service_account_token.hpp"
#include "kube/client/list_all.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {

MissingTokens::MissingTokens(Context context)
    : context_(context), offloadings_(context.home.acquire({.resource = api::kinds::namespace_offloadings})) {}

asio::awaitable<void> MissingTokens::see(const kube::Object& local, const core::ForgingContext& forging) {
  using core::MissingToken;
  const MissingToken why = core::why_token_missing(local, forging);
  const std::string ns(local.ns());
  if (why == MissingToken::none || reported_.contains({ns, why})) co_return;
  core::MissedRights missed{.account = {ns, core::service_account_of(local)}, .binding = {}};
  missed.by_template = context_.settings.offloading.api_server_mode != core::ApiServerMode::never;
  const kube::TimePoint now = context_.clock.now();
  std::erase_if(looked_at_, [&](const auto& looked) { return now - looked.second >= look_interval; });
  if (!looked_at_.try_emplace(missed.account, now).second) co_return;
  missed.binding = co_await find_binding(missed.account);
  if (missed.binding.empty() || !reported_.emplace(ns, why).second) co_return;
  std::string words = core::describe_missing_token(why, missed, forging.clusters);
  const auto offloading = why == MissingToken::of_default
                              ? std::nullopt
                              : offloadings_->find({ns, std::string(api::namespace_offloading_name)});
  if (offloading)
    context_.events.warning(*offloading, api::kinds::namespace_offloadings, api::reasons::no_token_of_home,
                            std::move(words));
  else
    context_.events.warning(local, kube::resources::pods, api::reasons::no_token_of_home, std::move(words));
}

asio::awaitable<std::string> MissingTokens::find_binding(kube::ObjectKey account) {
  core::BoundAccounts here;
  (void)co_await kube::list_all(context_.home.api(), {api::kinds::role_bindings, account.ns}, {.resource_version = "0"},
                                [&](const kube::Object& binding) {
                                  core::add_bound_accounts(binding, here);
                                  return core::binding_of(here, account).empty();
                                });
  if (std::string name = core::binding_of(here, account); !name.empty()) co_return "RoleBinding " + std::move(name);
  if (const kube::TimePoint now = context_.clock.now(); !everywhere_at_ || now - *everywhere_at_ >= look_interval) {
    core::BoundAccounts all;
    const auto listed = co_await kube::list_all(context_.home.api(), {api::kinds::cluster_role_bindings, ""},
                                                {.resource_version = "0"}, [&](const kube::Object& binding) {
                                                  core::add_bound_accounts(binding, all);
                                                  return true;
                                                });
    if (!listed) co_return std::string();
    everywhere_ = std::move(all);
    everywhere_at_ = now;
  }
  std::string name = core::binding_of(everywhere_, account);
  co_return name.empty() ? std::string() : "ClusterRoleBinding " + std::move(name);
}

}  // namespace liqo::controllers
