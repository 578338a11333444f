#include "core/offloading/default_account.hpp"

#include <algorithm>

#include "core/offloading/service_account_token.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {

bool misses_token_of_default(const kube::Object& local_pod, const ForgingContext& ctx) {
  if (ctx.api_server_mode != ApiServerMode::needed || service_account_of(local_pod) != "default") return false;
  const std::string_view asked = local_pod.annotation(api::annotations::api_server_support);
  if (asked == "home" || asked == "disabled" || asked == "remote") return false;
  return std::ranges::any_of(collect_token_requests(local_pod), [&](const TokenRequest& request) {
    return request.audience.empty() || (ctx.home_audiences && ctx.home_audiences->contains(request.audience));
  });
}

bool binds_default_account(const kube::Object& binding) {
  return std::ranges::any_of(kube::array_at(binding.tree(), {"subjects"}), [&](const kube::json::value& subject) {
    const std::string_view ns = kube::string_at(subject, {"namespace"});
    return kube::string_at(subject, {"kind"}) == "ServiceAccount" && kube::string_at(subject, {"name"}) == "default" &&
           (ns.empty() || ns == binding.ns());
  });
}

std::string describe_missing_token(const kube::Object& binding, const ClusterPair& clusters) {
  return "service account default has rights in namespace " + std::string(binding.ns()) + " (RoleBinding " +
         std::string(binding.name()) + "), and pods that run as it in cluster " + clusters.remote +
         " get no token for the API server of cluster " + clusters.local +
         ": let those that need one run as a service account of their own, or annotate them with "
         "liqo.io/api-server-support=home";
}

}  // namespace liqo::core
