#include "controllers/offloading/twin_pod_maker.hpp"

#include <string>
#include <utility>

#include "controllers/common/scopes.hpp"
#include "core/namespaces/twin_pod_bounds.hpp"
#include "core/offloading/home_searches.hpp"
#include "core/offloading/left_out.hpp"
#include "core/offloading/lost_fields.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/pod_status.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// The bounds of a twin follow the pods that need them within moments: only a longer wait is reported.
constexpr kube::Duration share_patience = 3s, counting_patience = 30s;
/// A server that cannot take a Pod may be able to in moments. If it lasts, a webhook does not answer.
constexpr kube::Duration taking_patience = 15s;

}  // namespace

TwinPodMaker::TwinPodMaker(Context context, Twins twins, ShadowPodWriter& writer, OrderMemories& memories)
    : context_(context),
      consumers_(twins.consumers),
      names_(twins.names),
      bounded_(twins.bounded),
      writer_(writer),
      memories_(memories),
      topology_(context),
      pods_(context.home.acquire(scope_of_consumer_pods())) {}

asio::awaitable<TwinPodMaker::Made> TwinPodMaker::make(const kube::Object& shadow, kube::Object& pod) {
  if (names_.is_coming()) co_return Made{.outcome = Outcome::again_after(cache_pause)};
  add_names(pod);
  if (auto end = co_await bound(shadow, pod)) co_return Made{.outcome = std::move(*end)};
  if (!topology_.note(pod)) co_return Made{.outcome = Outcome::again_after(cache_pause)};
  const kube::ObjectKey key = shadow.key();
  const kube::TimePoint sent_at = context_.clock.now();
  auto created = co_await context_.home.api().create(kube::resources::pods, pod);
  core::OrderMemory& memory = memories_[key];
  if (!created && core::may_be_carried_out(created.error()))
    memory.doubt_create(sent_at, created.error().code() == kube::Errc::timeout);
  if (created) {
    const kube::TimePoint now = context_.clock.now();
    memory.note_created(now);
    writer_.note_created(now);
    bounded_.stop_waiting(key);
    auto lost = core::lost_fields(pod.spec(), created->spec());
    if (lost.empty()) {
      pods_->observe(std::move(*created));
      co_return Made{.outcome = Outcome::done()};
    }
    pods_->observe(*created);
    auto noted = co_await note_lost_fields(std::move(*created), std::move(lost));
    co_return Made{.outcome = std::move(noted)};
  }
  if (!created.error().is_already_exists()) {
    auto refused = co_await take_refusal(shadow, std::move(created.error()).in("creating the pod"));
    co_return Made{.outcome = std::move(refused)};
  }
  // The pod is ours and not in the cache yet, or has another owner: its labels and owner show which.
  auto live = co_await context_.home.api().get(kube::resources::pods, key);
  if (!live)
    co_return Made{.outcome = Outcome::retry(std::move(live.error()).in("looking whose pod of that name it is"))};
  if (live->label(api::labels::managed_by) != api::labels::managed_by_shadow_pod)
    co_return Made{.outcome = Outcome::done(), .foreign = std::move(*live)};
  pods_->observe(std::move(*live));
  co_return Made{.outcome = Outcome::again_after(0ms)};
}

void TwinPodMaker::add_names(kube::Object& pod) {
  const std::string consumer = names_.consumer_in(std::string(pod.ns()));
  if (consumer.empty()) return;
  const std::string left_out = core::add_home_searches(pod.mutable_spec(), pod.ns(), consumer);
  if (left_out.empty()) return;
  std::vector<std::string> things = core::read_left_out(pod.annotation(api::annotations::left_out));
  // A list that is full loses its end.
  things.insert(things.begin(), left_out);
  pod.set_annotation(api::annotations::left_out, core::forge_left_out(things));
}

asio::awaitable<std::optional<Outcome>> TwinPodMaker::bound(const kube::Object& shadow, kube::Object& pod) {
  const kube::ObjectKey key = shadow.key();
  const bool is_bounded = bounded_.is_bounded(key.ns);
  if (!is_bounded && consumers_.policy_of(key.ns).cluster_roles.empty()) co_return std::nullopt;
  if (!bounded_.knows_defaults()) co_return Outcome::again_after(cache_pause);
  if (!is_bounded || !bounded_.is_counted(key.ns)) co_return co_await await_bounds(shadow);
  bounded_.name_requests(key.ns, pod);
  // Room that becomes free while the create is being refused has to wake the ShadowPod, too.
  bounded_.await_room(key);
  co_return std::nullopt;
}

asio::awaitable<Outcome> TwinPodMaker::await_bounds(const kube::Object& shadow) {
  const kube::ObjectKey key = shadow.key();
  bounded_.await_room(key);
  const kube::Duration waited = memories_[key].await_bounds(context_.clock.now());
  if (waited < counting_patience) co_return Outcome::again_after(counting_patience - waited);
  KUBE_CO_TRYV(co_await writer_.report(shadow, "nobody counts the pods of its namespace (ResourceQuota " +
                                                   std::string(core::twin_pods_quota_name) +
                                                   "), which the provider's liqod and kube-controller-manager do"));
  co_return Outcome::again_after(counting_patience);
}

asio::awaitable<Outcome> TwinPodMaker::note_lost_fields(kube::Object pod, std::vector<std::string> lost) {
  std::vector<std::string> things = core::read_left_out(pod.annotation(api::annotations::left_out));
  for (const std::string& path : lost) things.push_back(core::left_out_field(path));
  const std::string note = core::forge_left_out(things);
  // The note may be full already, of fields that the policy leaves out.
  if (note == pod.annotation(api::annotations::left_out)) co_return Outcome::done();
  kube::json::object annotations{{api::annotations::left_out, note}};
  kube::json::object body{
      {"metadata", kube::json::object{{"uid", pod.uid()}, {"annotations", std::move(annotations)}}}};
  KUBE_CO_TRYV(co_await kube::merge_patch(
      context_.home.api(), *pods_, pod.key(),
      {.body = kube::json::serialize(body), .phase = "noting what the API server did not store of the pod"}));
  co_return Outcome::done();
}

asio::awaitable<Outcome> TwinPodMaker::take_refusal(const kube::Object& shadow, kube::Failure failure) {
  const kube::ObjectKey key = shadow.key();
  if (BoundedTwins::lacks_room(failure)) {
    core::OrderMemory& memory = memories_[key];
    const kube::TimePoint now = context_.clock.now();
    if (memory.await_bounds(now) < share_patience) co_return Outcome::again_after(share_patience);
    if (!memory.may_report_no_room(now)) co_return Outcome::retry(std::move(failure));
  }
  if (failure.is_permanent()) {
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_create_pod, failure.text());
    KUBE_CO_TRYV(co_await writer_.report(shadow, core::refusal_words(failure)));
  } else if (failure.status() && memories_[key].await_taking(context_.clock.now()) >= taking_patience &&
             !shadow.has_annotation(api::annotations::refused)) {
    // Once: such words may name a port or a time, and many pods may wait.
    KUBE_CO_TRYV(co_await writer_.report(shadow, core::refusal_words(failure)));
  }
  co_return Outcome::retry(std::move(failure));
}

}  // namespace liqo::controllers
