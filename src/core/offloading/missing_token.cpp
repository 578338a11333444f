#include "core/offloading/missing_token.hpp"

#include <algorithm>

#include "core/offloading/service_account_token.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace {

bool mounts_token_for_home(const kube::Object& local_pod, const ForgingContext& ctx) {
  return std::ranges::any_of(collect_token_requests(local_pod), [&](const TokenRequest& request) {
    return request.audience.empty() || (ctx.home_audiences && ctx.home_audiences->contains(request.audience));
  });
}

}  // namespace

MissingToken why_token_missing(const kube::Object& local_pod, const ForgingContext& ctx) {
  if (ctx.api_server_mode == ApiServerMode::always) return MissingToken::none;
  const std::string_view asked = local_pod.annotation(api::annotations::api_server_support);
  if (asked == "disabled" || asked == "remote" || !mounts_token_for_home(local_pod, ctx)) return MissingToken::none;
  if (ctx.api_server_mode == ApiServerMode::never) return MissingToken::switched_off;
  if (service_account_of(local_pod) == "default" && asked != "home") return MissingToken::of_default;
  const bool is_known = !ctx.api_server_host.empty() || !ctx.api_server_ips.empty();
  return is_known ? MissingToken::none : MissingToken::no_address;
}

void add_bound_accounts(const kube::Object& binding, BoundAccounts& bound) {
  for (const kube::json::value& subject : kube::array_at(binding.tree(), {"subjects"})) {
    if (kube::string_at(subject, {"kind"}) != "ServiceAccount") continue;
    const std::string_view name = kube::string_at(subject, {"name"}), said = kube::string_at(subject, {"namespace"});
    const std::string_view ns = said.empty() ? binding.ns() : said;
    if (!ns.empty() && !name.empty())
      bound.try_emplace(kube::ObjectKey{std::string(ns), std::string(name)}, binding.name());
  }
}

std::string binding_of(const BoundAccounts& bound, const kube::ObjectKey& account) {
  const auto found = bound.find(account);
  return found == bound.end() ? std::string() : found->second;
}

std::string describe_missing_token(MissingToken why, const MissedRights& missed, const ClusterPair& clusters) {
  const auto& [account, binding, by_template] = missed;
  const std::string begin = "service account " + account.name + " has rights in namespace " + account.ns + " (" +
                            binding + "), and its pods in cluster " + clusters.remote +
                            " get no token for the API server of cluster " + clusters.local + ": ";
  switch (why) {
    case MissingToken::none:
      return {};
    case MissingToken::of_default:
      return begin +
             "let those that need one run as a service account of their own, or annotate them with "
             "liqo.io/api-server-support=home";
    case MissingToken::switched_off:
      return begin +
             (by_template ? "let the VkOptionsTemplate of the virtual node give tokens"
                          : "set apiServer.support=needed") +
             ", and make those again that need one";
    case MissingToken::no_address:
      return begin + "set apiServer.hostForPods to an address that they reach, and make those again that need one";
  }
  return {};
}

}  // namespace liqo::core
