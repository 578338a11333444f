// The pods that wait for a provider to act, and what they say meanwhile.
#include <algorithm>

#include "controllers/offloading/pod.hpp"
#include "kube/base/printable.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using End = core::OpenOrders::End;

/// Reason of the condition of a pod whose order the API server of the provider cannot carry out at present.
constexpr std::string_view order_not_taken = "OrderNotTaken";
/// How often the words of such a server may change at home: they may name a time, or a port.
constexpr kube::Duration words_pause = 1min;

}  // namespace

void PodController::set_silence(core::SilenceNote silence) {
  // Whether the Node is closed is nothing that pods say.
  silence.closes = false;
  if (silence_ == silence) return;
  silence_ = std::move(silence);
  wake_waiting();
}

void PodController::wake_waiting() {
  for (const kube::ObjectKey& key : waiting_) enqueue(key);
}

void PodController::stop_waiting(const kube::ObjectKey& key, End how) {
  if (waiting_.erase(key) == 0) return;
  orders_.close(key.text(), how);
}

asio::awaitable<kube::Result<void>> PodController::see_waiting(kube::ObjectKey key) {
  const Twin* twin = find_twin(key.ns);
  const kube::ObjectKey remote_key{twin ? twin->remote : "", key.name};
  if (twin && !twin->withdrawn && twin->contains(&TwinWatch::pods, remote_key)) {
    stop_waiting(key, End::acted);
    co_return kube::Result<void>();
  }
  const auto local = twin && !twin->withdrawn ? local_pods_->find(key) : std::nullopt;
  if (!local || local->is_deleting() || api::is_final_phase(api::phase_of(*local))) {
    stop_waiting(key, End::withdrawn);
    co_return kube::Result<void>();
  }
  Memory& memory = memory_of(key, local->uid());
  const auto shadow = twin->find(&TwinWatch::shadows, remote_key);
  if (shadow) memory.not_taken_because.clear();
  const bool is_sent = shadow || !memory.not_taken_because.empty();
  if (!is_sent ||
      (shadow && (shadow->has_annotation(api::annotations::refused) || api::ShadowPod(*shadow).is_finished()))) {
    stop_waiting(key, memory.refusals > 0 || shadow ? End::acted : End::withdrawn);
    co_return kube::Result<void>();
  }
  waiting_.insert(key);
  orders_.open(key.text());
  co_return co_await tell_waiting(*local);
}

asio::awaitable<kube::Result<void>> PodController::tell_waiting(kube::Object local) {
  const kube::ObjectKey key = local.key();
  Memory& memory = memory_of(key, local.uid());
  const kube::TimePoint now = context_.clock.now();
  const core::Moment* since = orders_.since(key.text());
  const std::string& server = memory.not_taken_because;
  std::string words;
  std::string_view reason = core::provider_silent;
  if (silence_.proven || (server.empty() && !silence_.words.empty())) {
    words = silence_.words;
  } else if (const kube::Duration waited = since ? now - since->at : 0s;
             !server.empty() && waited < core::order_patience) {
    controller_.enqueue_after({forging_.node_name, key}, core::order_patience - waited);
  } else if (!server.empty()) {
    words = "cluster " + forging_.clusters.remote +
            " cannot take the pod at present: " + kube::one_line(server, core::max_refusal);
    reason = order_not_taken;
  }
  const kube::json::object* shown = kube::find_condition(local.status(), api::offloaded_condition);
  const std::string told(shown ? kube::string_at(*shown, {"message"}) : std::string_view()),
      told_reason(shown ? kube::string_at(*shown, {"reason"}) : std::string_view());
  const bool is_ours = told_reason == core::provider_silent || told_reason == order_not_taken;
  if (words.empty() && !is_ours) co_return kube::Result<void>();
  if (words == told && reason == told_reason) co_return kube::Result<void>();
  // A server whose words change all the time is not followed all the time.
  if (reason == order_not_taken && reason == told_reason && now < memory.words_again_at) co_return kube::Result<void>();
  memory.words_again_at = now + words_pause;
  core::WantedStatus wanted;
  if (words.empty()) {
    wanted.status = local.status();
    kube::json::array others;
    for (const kube::json::value& condition : kube::array_at(local.status(), {"conditions"}))
      if (kube::string_at(condition, {"type"}) != api::offloaded_condition) others.push_back(condition);
    wanted.status["conditions"] = std::move(others);
  } else {
    wanted = core::forge_refusal(local, reason, words, context_.clock.wall());
  }
  auto written = co_await write_status(local, std::move(wanted));
  // What has changed meanwhile brings the pod back here.
  if (!written && written.error().is_conflict()) co_return kube::Result<void>();
  if (written && !words.empty() && reason != told_reason)
    context_.events.warning(local, kube::resources::pods, reason, words);
  co_return written;
}

}  // namespace liqo::controllers
