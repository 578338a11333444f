#include "installation/installed.hpp"

#include "liqo/api/kinds.hpp"
#include "model/check/check.hpp"

namespace liqoctl {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
using kube::Errc;

asio::awaitable<Result<Installed>> look_for_installation(Cluster& cluster) {
  Installed there;
  auto bound = co_await cluster.find(kinds::cluster_role_bindings, {"", "liqo-liqod"});
  if (!bound) co_return std::unexpected(std::move(bound.error()));
  if (*bound) {
    for (const json::value& subject : kube::array_at((*bound)->tree(), {"subjects"}))
      there.ns = kube::string_at(subject, {"namespace"});
    there.helm_release = (*bound)->annotation("meta.helm.sh/release-name");
  }
  // Helm installs what its hook needs before the rest of the chart, and removes it with the hook.
  auto hook = co_await cluster.find(kinds::cluster_role_bindings, {"", "liqo-kinds"});
  if (!hook) co_return std::unexpected(std::move(hook.error()));
  there.helm_installs = there.ns.empty() && hook->has_value();
  auto go = co_await cluster.list(kinds::deployments, "",
                                  "app.kubernetes.io/part-of=liqo,app.kubernetes.io/component=controller-manager");
  if (!go) co_return std::unexpected(std::move(go.error()));
  if (!go->empty()) there.go_liqo = go->front().key().ns;
  auto kubelets = co_await find_virtual_kubelets(cluster);
  if (!kubelets) co_return std::unexpected(std::move(kubelets.error()));
  there.virtual_kubelets = std::move(*kubelets);
  co_return there;
}

asio::awaitable<Result<std::vector<kube::ObjectKey>>> find_virtual_kubelets(Cluster& cluster) {
  auto found = co_await cluster.list(kinds::deployments, "", std::string(model::virtual_kubelets));
  if (!found) co_return std::unexpected(std::move(found.error()));
  std::vector<kube::ObjectKey> keys;
  for (const Object& deployment : *found) keys.push_back(deployment.key());
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
