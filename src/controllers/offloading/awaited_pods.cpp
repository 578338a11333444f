#include "controllers/offloading/awaited_pods.hpp"

#include <utility>

#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using End = core::OpenOrders::End;

/// Reason of the condition of a pod whose order the API server of the provider cannot carry out at present.
constexpr std::string_view order_not_taken = "OrderNotTaken";
/// How often the messages of such a server may change the pod at home: they may contain a time, or a port.
constexpr kube::Duration words_pause = 1min;
/// How often one pod of a node is tried when the server can take none.
constexpr kube::Duration try_pause = 5s;

}  // namespace

AwaitedPods::AwaitedPods(OffloadingNode& node, PodTwins& twins, PodStatusWriter& statuses)
    : node_(node),
      twins_(twins),
      statuses_(statuses),
      orders_(node.budget.orders, node.context.clock, [this] { wake(); }) {}

void AwaitedPods::clear() {
  waiting_.clear();
  not_taken_.clear();
  orders_.clear();
}

void AwaitedPods::set_silence(core::SilenceNote silence) {
  // Pods do not show whether the Node is closed.
  silence.closes = false;
  const bool is_same =
      silence_.proven == silence.proven && core::without_count(silence_.words) == core::without_count(silence.words);
  silence_ = std::move(silence);
  // Thousands of pods may wait, and each further one would change the number that all of them show.
  if (is_same) return;
  ++silence_changes_;
  wake();
}

void AwaitedPods::wake() {
  for (const kube::ObjectKey& key : waiting_) node_.enqueue(key);
}

void AwaitedPods::stop_trying(const kube::ObjectKey& key) {
  const auto found = not_taken_.find(key);
  if (found == not_taken_.end()) return;
  const bool is_first = found == not_taken_.begin();
  not_taken_.erase(found);
  // The next one is tried in its place.
  if (is_first && !not_taken_.empty()) node_.enqueue(*not_taken_.begin());
}

void AwaitedPods::stop(const kube::ObjectKey& key, End how) {
  stop_trying(key);
  if (waiting_.erase(key) == 0) return;
  orders_.close(key.text(), how);
}

void AwaitedPods::note_taking(const kube::Object& local, const kube::Failure* failure) {
  // A broken connection does not show what the server can do.
  if (failure && !failure->status()) return;
  const bool cannot = failure && !failure->is_permanent() && !failure->is_already_exists(),
             could_not = !not_taken_.empty();
  node_.memory.of(local).not_taken_because =
      cannot ? kube::one_line(core::refusal_words(*failure), core::max_refusal) : "";
  if (cannot)
    not_taken_.insert(local.key());
  else
    stop_trying(local.key());
  // The server can take orders again, also those of slices and of other nodes.
  if (!cannot && could_not) node_.budget.orders->wake(node_.context.clock.now());
}

asio::awaitable<kube::Result<void>> AwaitedPods::see(kube::ObjectKey key) {
  const PodTwin* twin = twins_.find(key.ns);
  if (twin && twin->withdrawn) twin = nullptr;
  const kube::ObjectKey remote_key{twin ? twin->remote : "", key.name};
  const bool has_remote = twin && twin->contains(&TwinWatch::pods, remote_key);
  if (has_remote && !waiting_.contains(key)) {
    stop(key, End::withdrawn);
    co_return kube::Result<void>();
  }
  const auto local = twin ? node_.local_pods->find(key) : std::nullopt;
  if (has_remote && local) {
    const auto remote = twin->find(&TwinWatch::pods, remote_key);
    stop(key, remote && node_.is_made_for(*remote, local->uid()) ? End::acted : End::withdrawn);
    co_return kube::Result<void>();
  }
  if (!local || local->is_deleting() || api::is_final_phase(api::phase_of(*local))) {
    stop(key, End::withdrawn);
    co_return kube::Result<void>();
  }
  RememberedPod& memory = node_.memory.of(key, local->uid());
  const auto shadow = twin->find(&TwinWatch::shadows, remote_key);
  if (shadow) {
    memory.not_taken_because.clear();
    stop_trying(key);
  }
  // An object of another owner has the name, which the pod's status says.
  const bool is_foreign = shadow && !node_.is_made_for(*shadow, local->uid());
  const bool is_sent = !is_foreign && (shadow || !memory.not_taken_because.empty());
  const bool is_answered =
      shadow && (shadow->has_annotation(api::annotations::refused) || api::ShadowPod(*shadow).is_finished());
  if (!is_sent || is_answered) {
    const core::Moment* since = orders_.since(key.text());
    const auto& refused_at = memory.refused.refused_at();
    const bool was_refused = since && refused_at && *refused_at >= since->at;
    stop(key, !is_foreign && (shadow || was_refused) ? End::acted : End::withdrawn);
    co_return kube::Result<void>();
  }
  waiting_.insert(key);
  orders_.open(key.text());
  // The others wait for longer and longer; a success of this one wakes them.
  if (!not_taken_.empty() && *not_taken_.begin() == key) node_.enqueue_after(key, try_pause);
  co_return co_await report(*local);
}

asio::awaitable<kube::Result<void>> AwaitedPods::report(kube::Object local) {
  const kube::ObjectKey key = local.key();
  RememberedPod& memory = node_.memory.of(key, local.uid());
  const kube::TimePoint now = node_.context.clock.now();
  const core::Moment* since = orders_.since(key.text());
  const std::string& server = memory.not_taken_because;
  std::string words;
  std::string_view reason = core::provider_silent;
  if (silence_.proven || (server.empty() && !silence_.words.empty())) {
    words = core::without_count(silence_.words);
  } else if (const kube::Duration waited = since ? now - since->at : 0s;
             !server.empty() && waited < core::order_patience) {
    node_.enqueue_after(key, core::order_patience - waited);
  } else if (!server.empty()) {
    words = "cluster " + node_.cluster() + " cannot take the pod at present: " + server;
    reason = order_not_taken;
  }
  const kube::json::object* shown = kube::find_condition(local.status(), api::offloaded_condition);
  const std::string reported(shown ? kube::string_at(*shown, {"message"}) : std::string_view()),
      reported_reason(shown ? kube::string_at(*shown, {"reason"}) : std::string_view());
  const bool is_ours = reported_reason == core::provider_silent || reported_reason == order_not_taken;
  if (words.empty() && !is_ours) co_return kube::Result<void>();
  if (words == reported && reason == reported_reason) co_return kube::Result<void>();
  // The messages for one pod may change all the time, and are not followed all the time. Notes about the whole provider
  // change seldom.
  if (now < memory.words_again_at && memory.reported_at_change == silence_changes_) {
    node_.enqueue_after(key, memory.words_again_at - now);
    co_return kube::Result<void>();
  }
  // An Event describes one moment, and says how many orders waited then.
  const std::string event = words.empty() || reason == order_not_taken ? words : silence_.words;
  memory.words_again_at = now + words_pause;
  memory.reported_at_change = silence_changes_;
  core::WantedStatus wanted;
  if (words.empty()) {
    wanted.status = local.status();
    kube::json::array others;
    for (const kube::json::value& condition : kube::array_at(local.status(), {"conditions"}))
      if (kube::string_at(condition, {"type"}) != api::offloaded_condition) others.push_back(condition);
    wanted.status["conditions"] = std::move(others);
  } else {
    wanted = core::forge_refusal(local, reason, words, node_.context.clock.wall());
  }
  auto written = co_await statuses_.write(local, std::move(wanted));
  // A change meanwhile enqueues the pod.
  if (!written && written.error().is_conflict()) co_return kube::Result<void>();
  if (written && !event.empty() && reason != reported_reason) node_.warn(local, reason, event);
  co_return written;
}

}  // namespace liqo::controllers
