// Removes the Node of a virtual node: drains it, and removes the pods that are left on it.
#include "controllers/common/guarded_write.hpp"
#include "controllers/common/older_namesake.hpp"
#include "controllers/common/scopes.hpp"
#include "controllers/common/some_at_a_time.hpp"
#include "controllers/nodes/virtual_node.hpp"
#include "core/offloading/final_status.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_scheduling.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/finalizers.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using api::VirtualNode;
using kube::Outcome;

/// The pause between two looks at a node that is being drained, each of which lists its pods: in general, and while
/// only a few ending pods are left.
constexpr kube::Duration drain_pause = 2s, ending_pause = 400ms;
constexpr std::size_t few_pods = 50;
/// The number of pods of one Node that are evicted concurrently.
constexpr std::size_t max_evictions = 16;
constexpr std::string_view node_not_wanted = "NodeNotWanted";
/// The reason of the Event on a pod that keeps its Node from being removed.
constexpr std::string_view eviction_refused = "EvictionRefused";

/// Removes a pod of which no kubelet will report any more. If others have finalizers on it, it gets its final phase
/// first.
asio::awaitable<kube::Result<void>> remove_unreported(Context context, kube::Object pod, std::string phase) {
  kube::Api& home = context.home.api();
  const kube::ObjectKey key = pod.key();
  if (core::needs_final_phase(pod)) {
    auto patch =
        core::status_patch(pod, core::forge_final_status(pod, core::may_have_run(pod, {}), context.clock.wall()));
    if (patch) {
      (*patch)["metadata"].as_object()["resourceVersion"] = pod.resource_version();
      const kube::Patch body{kube::PatchType::strategic_merge, kube::json::serialize(*patch)};
      auto patched = co_await home.patch(kube::resources::pods, key, body, {.subresource = "status"});
      // The pod was changed: it is looked at again.
      if (!patched && (patched.error().is_not_found() || patched.error().is_conflict())) co_return kube::Result<void>();
      if (!patched) co_return kube::fail(std::move(patched.error()), phase);
    }
  }
  KUBE_CO_TRYV(co_await kube::remove_object(
      home, kube::resources::pods, key,
      {.options = {.uid = std::string(pod.uid()), .grace_period_seconds = 0}, .phase = std::move(phase)}));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> evict(Context context, kube::Object pod) {
  kube::json::object eviction{
      {"apiVersion", api::kinds::evictions.api_version()},
      {"kind", api::kinds::evictions.kind},
      {"metadata", kube::json::object{{"name", pod.name()}, {"namespace", pod.ns()}}},
      {"deleteOptions", kube::json::object{{"preconditions", kube::json::object{{"uid", pod.uid()}}}}}};
  KUBE_CO_TRYV(co_await context.home.api().post(kube::resources::pods, pod.key(), "eviction", std::move(eviction)),
               "evicting a pod");
  co_return kube::Result<void>();
}

/// Whether the failure needs nothing but another look at the Node: a PodDisruptionBudget does not allow the eviction
/// yet (429), the pod is gone (404), or it was replaced by another one (409).
bool may_pass(const kube::Failure& failure) {
  return failure.http_code() == 429 || failure.http_code() == 404 || failure.http_code() == 409;
}

void report_stays(const Context& context, const kube::Object& pod, const kube::Object& node,
                  const kube::Failure& failure) {
  context.events.warning(pod, kube::resources::pods, eviction_refused,
                         "the API server refuses to end the pod, for which the removal of node " +
                             std::string(node.name()) + " waits; correct what it names, or delete the pod: " +
                             kube::one_line(core::refusal_words(failure), core::max_refusal));
}

/// The pods that a Node's removal ends, and the results.
struct Eviction {
  const Context& context;
  const kube::Object& node;
  bool force;  ///< see VirtualNodeController::drain()
  std::vector<kube::Object> pods;
  bool all_end = true;
  /// The failure of the first pod: the others must not wait until a person mends it.
  std::optional<kube::Failure> failure;
};

asio::awaitable<void> evict_one(Eviction& eviction, kube::Object pod) {
  // The end of a pod at a lost provider will never be reported, so neither a PodDisruptionBudget nor a grace period is
  // waited for.
  auto ended = eviction.force
                   ? co_await remove_unreported(eviction.context, pod, "removing a pod of a provider that is gone")
                   : co_await evict(eviction.context, pod);
  if (ended) co_return;
  eviction.all_end = false;
  if (may_pass(ended.error())) co_return;
  const int code = ended.error().http_code();
  // All other pods would get the same answer.
  if (code == 0 || code > 500)
    eviction.pods.clear();
  else
    report_stays(eviction.context, pod, eviction.node, ended.error());
  if (!eviction.failure) eviction.failure = std::move(ended.error()).in("pod " + pod.key().text());
}

}  // namespace

asio::awaitable<Outcome> VirtualNodeController::remove_orphan(kube::ObjectKey node_key) {
  const auto node = nodes_->find(node_key);
  // Only the Node's own events enqueue this key, and the VirtualNodes may be read later.
  if (!virtual_nodes_->has_synced()) co_return Outcome::again_after(100ms);
  if (!node || !node->has_annotation(api::annotations::applied_node) ||
      !virtual_nodes_->store().keys(by_node_name, node_key.name).empty())
    co_return Outcome::done();
  // A consistent read: another replica may have made the Node, and the cache may lag behind.
  const kube::ListOptions options{.selection = {.field_selector = kube::name_is(node_key.name)}, .limit = 1};
  KUBE_CO_TRY(page, co_await context_.home.api().list(api::kinds::virtual_nodes, "", options),
              "looking for the VirtualNode of a Node");
  if (!page.items.empty()) co_return Outcome::done();
  KUBE_CO_TRY(removed, co_await kube::remove_object(context_.home.api(), kube::resources::nodes, node_key,
                                                    {.options = {.uid = std::string(node->uid())},
                                                     .phase = "deleting a Node without VirtualNode"}));
  if (!removed) co_return Outcome::done();
  log_.warn("Node deleted that came into being when its VirtualNode was gone", {{"node", node_key}});
  co_return Outcome::done();
}

asio::awaitable<Outcome> VirtualNodeController::tear_down(kube::Object virtual_node) {
  const kube::ObjectKey key = virtual_node.key();
  const kube::ObjectKey node_key{"", key.name};
  if (!virtual_node.has_finalizer(api::finalizers::virtual_node)) co_return Outcome::done();
  auto node = nodes_->find(node_key);
  if (!node) {
    // A Node whose create got no answer may exist all the same, and nothing looks for it later.
    auto live = co_await context_.home.api().get(kube::resources::nodes, node_key);
    if (!live && !live.error().is_not_found())
      co_return Outcome::retry(std::move(live.error()).in("looking for the Node"));
    if (live) node = std::move(*live);
  }
  if (node && core::why_foreign(*node).empty()) {
    KUBE_CO_TRYV(co_await set_condition(key, {.type = "Node", .status = "Draining", .reason = "VirtualNodeDeleted"}));
    std::string since(kube::string_at(virtual_node.tree(), {"metadata", "deletionTimestamp"}));
    KUBE_CO_TRY(left, co_await remove_node(virtual_node, *node, std::move(since)));
    if (left > kube::Duration::zero()) co_return Outcome::again_after(left);
  }
  leases_.forget(key.name);
  KUBE_CO_TRYV(co_await remove_finalizer(context_.home.api(), *virtual_nodes_,
                                         latest_of(*virtual_nodes_, std::move(virtual_node)),
                                         api::finalizers::virtual_node));
  co_return Outcome::done();
}

asio::awaitable<Outcome> VirtualNodeController::withdraw_node(kube::Object virtual_node, kube::Object node) {
  const kube::ObjectKey key = virtual_node.key();
  KUBE_CO_TRYV(co_await set_condition(key, {.type = "Node", .status = "Draining", .reason = node_not_wanted}));
  const auto latest = virtual_nodes_->find(key);
  if (!latest) co_return Outcome::done();
  KUBE_CO_TRY(left, co_await remove_node(*latest, std::move(node), std::string(core::draining_since(*latest))));
  if (left > kube::Duration::zero()) co_return Outcome::again_after(left);
  leases_.forget(key.name);
  co_return Outcome::again_after(0ms);
}

asio::awaitable<kube::Result<kube::Duration>> VirtualNodeController::remove_node(kube::Object virtual_node,
                                                                                 kube::Object node, std::string since) {
  KUBE_CO_TRY(drained, co_await drain(node, since, notices_.is_lost(VirtualNode(virtual_node).cluster_id())));
  if (drained.look_again > kube::Duration::zero()) {
    // The Node shows people who wait for its pods whether the provider answers. A Node that was deleted is not made
    // again.
    if (nodes_->store().contains(node.key()))
      KUBE_CO_TRYV(co_await writer_.write(virtual_node, health_of(virtual_node)));
    co_return drained.look_again;
  }
  auto removed =
      co_await context_.home.api().remove(kube::resources::nodes, node.key(), {.uid = std::string(node.uid())});
  // Another Node of that name (409) may have the pods that were found: everything is looked at again.
  if (!removed && !removed.error().is_not_found())
    co_return kube::fail(std::move(removed.error()), "deleting the Node");
  nodes_->observe_gone(node.key(), node.uid());
  writer_.forget(std::string(node.name()));
  log_.info("Node deleted", {{"node", node.key()}});
  // No kubelet ends them, and Kubernetes' own garbage collector would take a minute.
  for (kube::Object& pod : drained.leftovers)
    static_cast<void>(co_await remove_unreported(context_, std::move(pod), "removing a pod of a Node that is gone"));
  co_return kube::Duration::zero();
}

asio::awaitable<kube::Result<VirtualNodeController::Drained>> VirtualNodeController::drain(const kube::Object& node,
                                                                                           std::string_view since,
                                                                                           bool force) {
  kube::Api& home = context_.home.api();
  if (!kube::bool_at(node.tree(), {"spec", "unschedulable"})) {
    const kube::json::object patch{{"spec", kube::json::object{{"unschedulable", true}}}};
    // The pods of a Node that is gone end all the same.
    KUBE_CO_TRYV(co_await kube::merge_patch(home, *nodes_, node.key(),
                                            {.body = kube::json::serialize(patch), .phase = "cordoning the Node"}));
  }
  // A consistent read: the Node goes only when no pod is on it, and a cache could lag behind a late binding.
  const kube::ListOptions options{.selection = scope_of_pods_on(std::string(node.name())).selection};
  std::vector<kube::Object> pods;
  KUBE_CO_TRYV(co_await kube::list_all(home, {.resource = kube::resources::pods, .ns = {}}, options,
                                       [&pods](kube::Object pod) {
                                         pods.push_back(std::move(pod));
                                         return true;
                                       }),
               "listing the pods of the Node");
  Drained drained;
  std::size_t left = 0;
  Eviction eviction{.context = context_, .node = node, .force = force, .pods = {}, .failure = {}};
  for (kube::Object& pod : pods) {
    // The owner of its finalizer may hold it for long, and needs nothing of the Node.
    if (core::is_only_held(pod)) continue;
    if (core::goes_with_node(pod, since)) {
      drained.leftovers.push_back(std::move(pod));
      continue;
    }
    ++left;
    if (!pod.is_deleting() || force) eviction.pods.push_back(std::move(pod));
  }
  // A Node with many pods must not cost a round trip for each of them.
  co_await some_at_a_time(eviction.pods, max_evictions,
                          [&eviction](kube::Object pod) { return evict_one(eviction, std::move(pod)); });
  if (eviction.failure) co_return std::unexpected(std::move(*eviction.failure));
  if (left > 0) drained.look_again = eviction.all_end && left <= few_pods ? ending_pause : drain_pause;
  co_return drained;
}

}  // namespace liqo::controllers
