#include "installation/daemon.hpp"

#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/kinds.hpp"
#include "model/check/check.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;

/// The tag of an image reference: "" if it has none, or only a digest.
std::string image_tag(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t colon = image.rfind(':');
  if (colon == std::string_view::npos || image.find('/', colon) != std::string_view::npos) return {};
  return std::string(image.substr(colon + 1));
}

/// The reason why the daemon does not run, as far as its Deployment and pods show it.
asio::awaitable<std::string> trouble_of_daemon(Cluster& cluster, const Object& deployment) {
  if (const json::object* failure = kube::find_condition(deployment.status(), "ReplicaFailure"))
    co_return kube::printable(kube::string_at(*failure, {"message"}));
  auto pods = co_await cluster.list(kube::resources::pods, cluster.liqo_namespace(), "app.kubernetes.io/name=liqod");
  if (pods)
    for (const Object& pod : *pods)
      if (const std::string trouble = model::trouble_of(pod); !trouble.empty())
        co_return "pod " + std::string(pod.name()) + ": " + kube::printable(trouble);
  co_return std::to_string(kube::int_at(deployment.tree(), {"status", "availableReplicas"})) + " of " +
      std::to_string(kube::int_at(deployment.tree(), {"spec", "replicas"})) + " replicas answer";
}

bool is_rolled_out(const Object& deployment) {
  const auto of_status = [&deployment](std::string_view key) {
    return kube::int_at(deployment.tree(), {"status", key});
  };
  const std::int64_t wanted = kube::int_at(deployment.tree(), {"spec", "replicas"});
  return of_status("observedGeneration") >= kube::int_at(deployment.tree(), {"metadata", "generation"}) &&
         of_status("updatedReplicas") == wanted && of_status("availableReplicas") == wanted &&
         of_status("replicas") == wanted;
}

}  // namespace

asio::awaitable<Result<std::string>> read_liqod_image(Cluster& cluster) {
  KUBE_CO_TRY(found, co_await cluster.list(kinds::deployments, cluster.liqo_namespace()));
  for (const Object& deployment : found)
    for (const auto& container : kube::array_at(deployment.spec(), {"template", "spec", "containers"}))
      if (const auto name = kube::string_at(container, {"name"}); name == "liqod" || name == "controller-manager")
        co_return std::string(kube::string_at(container, {"image"}));
  co_return std::string();
}

asio::awaitable<Result<std::string>> read_liqod_version(Cluster& cluster) {
  KUBE_CO_TRY(image, co_await read_liqod_image(cluster));
  co_return image_tag(image);
}

asio::awaitable<Result<WaitState>> look_at_daemon(Cluster& cluster) {
  KUBE_CO_TRY(found, co_await cluster.find(kinds::deployments, {cluster.liqo_namespace(), "liqod"}));
  if (!found) co_return WaitState{.seen = "there is no Deployment liqod"};
  if (is_rolled_out(*found)) co_return WaitState{.done = true};
  co_return WaitState{.seen = co_await trouble_of_daemon(cluster, *found)};
}

asio::awaitable<Result<void>> wait_for_daemon(Session& session, Cluster& cluster) {
  const std::function<asio::awaitable<Result<WaitState>>()> look = [&cluster] { return look_at_daemon(cluster); };
  co_return co_await wait_for(cluster, {.what = "liqod to run", .deadline = session.deadline(), .needs_liqod = false},
                              look);
}

}  // namespace liqoctl
