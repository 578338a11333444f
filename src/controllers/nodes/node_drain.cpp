#include "controllers/nodes/node_drain.hpp"

#include <optional>
#include <utility>

#include "controllers/common/scopes.hpp"
#include "controllers/common/some_at_a_time.hpp"
#include "core/offloading/final_status.hpp"
#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_scheduling.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/base/printable.hpp"
#include "kube/client/list_all.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/remove_object.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// The pause between two looks at a node that is being drained, each of which lists its pods: in general, and while
/// only a few ending pods are left.
constexpr kube::Duration drain_pause = 2s, ending_pause = 400ms;
constexpr std::size_t few_pods = 50;
/// The number of pods of one Node that are evicted concurrently.
constexpr std::size_t max_evictions = 16;
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
  bool force;  ///< see NodeDrain::drain()
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

NodeDrain::NodeDrain(const kube::InformerHandle& nodes, Context context)
    : nodes_(nodes), context_(std::move(context)) {}

asio::awaitable<void> NodeDrain::remove_leftovers(std::vector<kube::Object> pods) {
  // No kubelet ends them, and Kubernetes' own garbage collector would take a minute.
  for (kube::Object& pod : pods)
    static_cast<void>(co_await remove_unreported(context_, std::move(pod), "removing a pod of a Node that is gone"));
}

asio::awaitable<kube::Result<NodeDrain::Drained>> NodeDrain::drain(const kube::Object& node, std::string_view since,
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
