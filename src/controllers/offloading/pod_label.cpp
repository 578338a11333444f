#include "controllers/offloading/pod_label.hpp"

#include <algorithm>

#include "controllers/common/scopes.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;
namespace labels = api::labels;

}  // namespace

PodLabelController::PodLabelController(Context context)
    : context_(context),
      nodes_(context.home.acquire(scope_of_virtual_nodes())),
      controller_(context, {.name = "pod_status"}, [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(nodes_, [this](const kube::ObjectKey& key) { node_changed(key.name); });
}

void PodLabelController::node_changed(const std::string& name) {
  const auto node = nodes_->find({"", name});
  if (!node) {
    watched_.erase(name);
    return;
  }
  const bool ready = kube::has_condition(*node, "Ready");
  auto found = watched_.find(name);
  if (found == watched_.end()) {
    found = watched_.try_emplace(name).first;
    found->second.ready = ready;
    found->second.pods = context_.home.acquire(scope_of_pods_on(name));
    found->second.pods.subscribe([this, name](const kube::ObjectKey& key) { controller_.enqueue({name, key}); });
    enqueue_pods(name);
  } else if (found->second.ready != ready) {
    found->second.ready = ready;
    enqueue_pods(name);
  }
}

void PodLabelController::enqueue_pods(const std::string& node) {
  for (const kube::ObjectKey& key : watched_.at(node).pods->store().keys()) controller_.enqueue({node, key});
}

asio::awaitable<Outcome> PodLabelController::reconcile(kube::WorkKey work) {
  const auto node = watched_.find(work.group);
  if (node == watched_.end()) co_return Outcome::done();
  const auto pod = node->second.pods->find(work.object);
  if (!pod || pod->label(labels::local_pod) != "true") co_return Outcome::done();
  const bool wanted = !node->second.ready;
  const bool is_right =
      wanted ? pod->label(labels::remote_unavailable) == "true" : !pod->has_label(labels::remote_unavailable);
  if (is_right) co_return Outcome::done();
  kube::json::object changes;
  changes[labels::remote_unavailable] = wanted ? kube::json::value("true") : kube::json::value(nullptr);
  // The UID as precondition: a successor of the same name is another pod.
  const kube::json::object patch{{"metadata", kube::json::object{{"uid", pod->uid()}, {"labels", std::move(changes)}}}};
  auto patched = co_await context_.home.api().patch(kube::resources::pods, work.object,
                                                    {kube::PatchType::merge, kube::json::serialize(patch)});
  if (!patched && !patched.error().is_not_found())
    co_return Outcome::retry(std::move(patched.error()).in("marking the pod"));
  // The node may be gone since the request was sent.
  if (const auto watched = watched_.find(work.group); patched && watched != watched_.end())
    watched->second.pods->observe(std::move(*patched));
  co_return Outcome::done();
}

}  // namespace liqo::controllers
