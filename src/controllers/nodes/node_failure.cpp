#include "controllers/nodes/node_failure.hpp"

#include "controllers/common/keep_fields.hpp"
#include "controllers/common/scopes.hpp"
#include "core/nodes/node_failure.hpp"
#include "kube/k8s/condition.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {

using kube::Outcome;

namespace {

/// Only the fields of a node that show its state are needed here.
void prune_node(kube::json::object& tree) {
  tree.erase("spec");
  keep_fields_of(tree, "status", {"conditions"});
}

}  // namespace

NodeFailureController::NodeFailureController(Context context)
    : context_(context),
      nodes_(context.home.acquire({.resource = kube::resources::nodes, .prune = prune_node})),
      pods_(context.home.acquire(scope_of_consumer_pods())),
      controller_(context, {.name = "node_failure", .fill = [this] { enqueue_all(); }},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  const auto all = [this] { enqueue_all(); };
  // Nodes report every few seconds, and many pods may end at a time: only a change of a Node's state counts.
  controller_.watch(
      nodes_,
      [this](const kube::Change& node) {
        if (node.changes([](const kube::Object& object) { return kube::has_condition(object, "Ready"); }))
          enqueue_all();
      },
      all);
  controller_.follow(pods_, [this](const kube::Change& pod) { pod_changed(pod); });
}

void NodeFailureController::enqueue_all() {
  for (const kube::ObjectKey& key : ending_) controller_.enqueue({key.ns, key});
}

void NodeFailureController::pod_changed(const kube::Change& pod) {
  if (!pod.now || !pod.now->is_deleting()) {
    ending_.erase(pod.key);
    return;
  }
  ending_.insert(pod.key);
  controller_.enqueue({pod.key.ns, pod.key});
}

asio::awaitable<Outcome> NodeFailureController::reconcile(kube::WorkKey work) {
  const auto pod = pods_->find(work.object);
  if (!pod) co_return Outcome::done();
  const auto node = nodes_->find({"", std::string(kube::string_at(pod->spec(), {"nodeName"}))});
  const auto due = core::force_delete_in(*pod, node ? &*node : nullptr, context_.clock.wall());
  if (!due) co_return Outcome::done();
  if (*due > kube::Duration::zero()) co_return Outcome::again_after(*due);
  KUBE_CO_TRY(removed,
              co_await kube::remove_object(context_.home.api(), kube::resources::pods, work.object,
                                           {.options = {.uid = std::string(pod->uid()), .grace_period_seconds = 0},
                                            .phase = "removing a pod whose node does not answer"}));
  if (removed)
    context_.events.warning(*pod, kube::resources::pods, api::reasons::node_failed,
                            "Node " + std::string(node->name()) +
                                " does not answer and the grace time of the pod is over: it is deleted by force, so "
                                "that it can run elsewhere");
  co_return Outcome::done();
}

}  // namespace liqo::controllers
