#include "controllers/offloading/offloading_node.hpp"

#include <utility>

#include "controllers/common/scopes.hpp"
#include "controllers/common/server_time.hpp"
#include "core/common/meta.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::controllers {
namespace {

/// The largest error of our estimate of the clock of the API server at home.
constexpr kube::Duration clock_slack = std::chrono::minutes(1);

}  // namespace

OffloadingNode::OffloadingNode(core::ForgingContext clusters, PodProvider there, ProviderBudget& limits,
                               Context environment, kube::Controller::Reconcile reconcile)
    : forging(std::move(clusters)),
      provider(there),
      budget(limits),
      context(environment),
      begun(context.clock.now()),
      local_pods(context.home.acquire(scope_of_pods_on(forging.node_name))),
      controller(context,
                 {.name = "pod",
                  .limits = {.workers = context.settings.offloading.pod_workers,
                             .workers_per_group = context.settings.offloading.pod_workers}},
                 std::move(reconcile)) {}

bool OffloadingNode::is_made_for(const kube::Object& there, std::string_view uid) const {
  return core::is_reflected(there, forging.clusters) && there.annotation(api::annotations::local_pod_uid) == uid;
}

bool OffloadingNode::is_ours_alone(const kube::Object& local) const {
  const auto created = kube::parse_time(local.creation_timestamp());
  return created && *created > server_time(context, begun) + clock_slack;
}

bool OffloadingNode::see_placed(RememberedPod& pod, const kube::Object& remote) const {
  if (!is_made_for(remote, pod.uid)) return false;
  const bool has_node = !kube::string_at(remote.spec(), {"nodeName"}).empty();
  pod.plan.remote_placed = has_node || pod.plan.remote_placed.value_or(false);
  return true;
}

}  // namespace liqo::controllers
