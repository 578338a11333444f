#include "installation/installed.hpp"

#include "liqo/api/kinds.hpp"
#include "model/check/check.hpp"

namespace liqoctl {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using kube::Errc;

asio::awaitable<Result<Installed>> look_for_installation(Cluster& cluster) {
  Installed there;
  KUBE_CO_TRY(bound, co_await cluster.find(kinds::cluster_role_bindings, {"", "liqo-liqod"}));
  if (bound) {
    for (const json::value& subject : kube::array_at(bound->tree(), {"subjects"}))
      there.ns = kube::string_at(subject, {"namespace"});
    there.helm_release = bound->annotation("meta.helm.sh/release-name");
  }
  // Helm installs the objects that its hook needs before the rest of the chart, and removes them with the hook.
  KUBE_CO_TRY(hook, co_await cluster.find(kinds::cluster_role_bindings, {"", "liqo-kinds"}));
  there.helm_installs = there.ns.empty() && hook.has_value();
  KUBE_CO_TRY(go,
              co_await cluster.list(kinds::deployments, "",
                                    "app.kubernetes.io/part-of=liqo,app.kubernetes.io/component=controller-manager"));
  if (!go.empty()) there.go_liqo = go.front().key().ns;
  KUBE_CO_TRY(kubelets, co_await find_virtual_kubelets(cluster));
  there.virtual_kubelets = std::move(kubelets);
  co_return there;
}

asio::awaitable<Result<std::vector<kube::ObjectKey>>> find_virtual_kubelets(Cluster& cluster) {
  KUBE_CO_TRY(found, co_await cluster.list(kinds::deployments, "", std::string(model::virtual_kubelets)));
  std::vector<kube::ObjectKey> keys;
  keys.reserve(found.size());
  for (const Object& deployment : found) keys.push_back(deployment.key());
  co_return keys;
}

Result<void> check_installers(const Installed& there, const std::string& ns, std::string_view command) {
  if (!there.go_liqo.empty())
    return kube::fail(Errc::invalid_input, "the Go version of Liqo is installed in namespace " + there.go_liqo +
                                               ": uninstall that first, by its own liqoctl");
  if (const auto finding = model::judge_virtual_kubelets(there.virtual_kubelets); finding && command != "uninstall")
    return kube::fail(Errc::invalid_input, finding->about + " " + finding->text);
  if (there.helm_installs && command != "uninstall")
    return kube::fail(Errc::invalid_input,
                      "Helm installs Liqo here just now: wait until it is done, and see helm list "
                      "--all-namespaces --all. Where that has none, it was ended: kubectl delete clusterrolebinding "
                      "liqo-kinds");
  if (!there.helm_release.empty())
    return kube::fail(Errc::invalid_input, "Helm has installed Liqo here: helm " + std::string(command) + " " +
                                               there.helm_release + " -n " + there.ns);
  if (!there.ns.empty() && there.ns != ns)
    return kube::fail(Errc::invalid_input, "Liqo is installed in namespace " + there.ns + " of this cluster, not in " +
                                               ns + ": give -n " + there.ns);
  return {};
}

}  // namespace liqoctl
