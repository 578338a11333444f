#include "controllers/offloading/shadow_pod.hpp"

#include <boost/asio/this_coro.hpp>
#include <set>

#include "controllers/common/scopes.hpp"
#include "controllers/common/server_time.hpp"
#include "controllers/offloading/ordered_pod.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/task_group.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

using kube::Outcome;

/// The largest error of our estimate of the API server's clock.
constexpr kube::Duration clock_slack = std::chrono::seconds(5);

}  // namespace

ShadowPodController::ShadowPodController(const HomeNames& names, Context context)
    : context_(context),
      shadows_(context.home.acquire({.resource = api::kinds::shadow_pods})),
      pods_(context.home.acquire(scope_of_consumer_pods())),
      namespaces_(context.home.acquire({.resource = kube::resources::namespaces})),
      bounded_(context, [this](const kube::ObjectKey& key) { wake(key); }),
      consumers_(context),
      shadow_writer_(context, consumers_, memories_),
      pod_writer_(context, bounded_, memories_),
      maker_(context, {.consumers = consumers_, .names = names, .bounded = bounded_}, shadow_writer_, memories_),
      controller_(
          context,
          {.name = "shadowpod", .limits = {.workers = 128, .workers_per_group = 64}, .fill = [this] { enqueue_all(); }},
          [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  controller_.watch(shadows_);
  controller_.watch(pods_);
  controller_.watch(namespaces_, [this](const kube::Change& ns) { see_namespace(ns); });
}

asio::awaitable<void> ShadowPodController::run() {
  begun_ = context_.clock.now();
  shadow_writer_.drop_records();
  kube::async::TaskGroup group(co_await asio::this_coro::executor);
  group.spawn(controller_.run());
  group.spawn(shadow_writer_.run());
  co_await kube::async::finally(group.join(), group.stop());
}

asio::awaitable<Outcome> ShadowPodController::reconcile(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  auto shadow = shadows_->find(key);
  auto pod = pods_->find(key);
  if (!pod) pod_writer_.note_gone(key);
  bounded_.stop_waiting(key);
  if (!shadow) co_return co_await forget(key);
  memories_[key].observe(*shadow, pod ? &*pod : nullptr, context_.clock.now(), is_inherited(*shadow));
  OrderedPod ordered({.context = context_,
                      .pods = *pods_,
                      .consumers = consumers_,
                      .shadow_writer = shadow_writer_,
                      .pod_writer = pod_writer_,
                      .maker = maker_,
                      .memories = memories_},
                     std::move(*shadow), std::move(pod));
  co_return co_await ordered.reconcile();
}

asio::awaitable<Outcome> ShadowPodController::forget(kube::ObjectKey key) {
  std::string last;
  if (const auto known = memories_.find(key); known != memories_.end()) last = known->second.uid();
  shadow_writer_.drop_record(key);
  auto outcome = co_await release_orphan(key, std::move(last));
  if (!outcome.failure()) memories_.erase(key);
  co_return outcome;
}

asio::awaitable<Outcome> ShadowPodController::release_orphan(kube::ObjectKey key, std::string last) {
  // The garbage collector deletes the pod; here it only loses our finalizer.
  auto pod = pods_->find(key);
  if (!pod) co_return Outcome::done();
  const auto controller = pod->controller();
  const bool was_seen = controller && controller->uid == last;
  KUBE_CO_TRYV(co_await pod_writer_.release(*pod, !was_seen));
  co_return Outcome::done();
}

bool ShadowPodController::is_inherited(const kube::Object& shadow) const {
  const auto created = kube::parse_time(shadow.creation_timestamp());
  return !created || *created <= server_time(context_, begun_) + clock_slack;
}

void ShadowPodController::see_namespace(const kube::Change& ns) {
  const auto consumers = consumers_.observe(ns);
  if (!consumers) return;
  std::set<std::string> twins{ns.key.name};
  if (!consumers->empty())
    for (const std::string& twin : bounded_.waited_for())
      if (consumers->contains(consumers_.consumer_of(twin))) twins.insert(twin);
  for (const std::string& twin : twins) bounded_.wake_all(twin);
}

void ShadowPodController::wake(const kube::ObjectKey& key) {
  if (const auto known = memories_.find(key); known != memories_.end()) known->second.end_resize_pause();
  enqueue(key);
}

void ShadowPodController::enqueue_all() {
  controller_.enqueue_all(shadows_->store());
  // Pods that have lost their ShadowPod are to be released.
  controller_.enqueue_all(pods_->store());
}

void ShadowPodController::enqueue(const kube::ObjectKey& key) {
  // A twin namespace belongs to one consumer, so the namespace is the unit of fairness.
  controller_.enqueue({key.ns, key});
}

}  // namespace liqo::controllers
