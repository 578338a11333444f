#include "controllers/offloading/pod_warnings.hpp"

#include <algorithm>

#include "core/offloading/pod_plan.hpp"
#include "core/offloading/pod_status.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// The pause after each request: the provider's API server reads Events from etcd.
constexpr kube::Duration question_pause = 200ms;
/// The pause after a provider has refused its Events.
constexpr kube::Duration no_right_pause = 10min;
/// Bounds of one answer. Kubernetes aggregates the Events of a pod long before there are so many.
constexpr std::int64_t max_events = 250;
constexpr std::size_t max_bytes = 1U << 20;

}  // namespace

PodWarnings::PodWarnings(const core::ForgingContext& forging, kube::Api& provider, Context context, Reader reader)
    : forging_(forging),
      provider_(provider),
      context_(context),
      reader_(std::move(reader)),
      questions_(context, {.name = "pod_events", .limits = {.workers = 1, .workers_per_group = 1}},
                 [this](kube::WorkKey key) { return ask(std::move(key)); }),
      log_(kube::Log("pod").with("cluster", forging.clusters.remote).with("node", forging.node_name)) {}

void PodWarnings::see(const kube::Object& local, const kube::Object& remote) {
  const kube::TimePoint now = context_.clock.now();
  core::WarningQuestions& questions = memory_of(local.key(), local.uid()).questions;
  questions.see(remote, now);
  const auto due = questions.due(remote);
  if (due && !local.is_deleting())
    questions_.enqueue_after({forging_.node_name, local.key()}, std::max<kube::Duration>(*due - now, 0ms));
}

const std::string* PodWarnings::words(const kube::Object& local) {
  return memory_of(local.key(), local.uid()).questions.words();
}

asio::awaitable<Outcome> PodWarnings::ask(kube::WorkKey work) {
  const kube::ObjectKey key = work.object;
  const auto pair = reader_.find(key);
  if (!pair) co_return Outcome::done();
  const auto& [local, remote] = *pair;
  const std::string remote_namespace(remote.ns()), uid(local.uid());
  core::WarningQuestions& questions = memory_of(key, uid).questions;
  const kube::TimePoint now = context_.clock.now();
  auto due = questions.due(remote);
  if (!due) co_return Outcome::done();
  // Nobody at the provider warns of gates.
  std::string gates = core::gate_words(remote);
  if (const auto refused = no_right_until_.find(remote_namespace); gates.empty() && refused != no_right_until_.end())
    due = std::max(*due, refused->second);
  if (*due > now) co_return Outcome::again_after(*due - now);

  questions.asked(now);
  if (!gates.empty()) {
    if (questions.answered(remote.uid(), std::move(gates))) reader_.changed(key);
    co_return Outcome::again_after(core::starting_time);
  }
  const std::string selector = "involvedObject.uid=" + std::string(remote.uid()) + ",type=Warning";
  auto page = co_await provider_.list(kube::resources::events, remote_namespace,
                                      {.selection = {.field_selector = selector}, .limit = max_events}, max_bytes);
  if (page) {
    no_right_until_.erase(remote_namespace);
    const auto known = memory_.find(key);
    if (known != memory_.end() && known->second.uid == uid &&
        known->second.questions.answered(remote.uid(), core::newest_warning(page->items, remote)))
      reader_.changed(key);
  } else if (page.error().is_forbidden()) {
    note_no_right(remote_namespace, page.error());
  } else {
    log_.debug("the Events of a remote pod were not read", {{"pod", key}, {"error", page.error()}});
  }
  co_await context_.clock.sleep(question_pause);
  co_return Outcome::again_after(core::starting_time);
}

void PodWarnings::note_no_right(const std::string& remote_namespace, const kube::Failure& refusal) {
  const kube::TimePoint now = context_.clock.now();
  // A namespace without a request since then is no twin any more, or has no waiting pod.
  std::erase_if(no_right_until_, [&](const auto& known) { return known.second + no_right_pause < now; });
  if (no_right_until_.insert_or_assign(remote_namespace, now + no_right_pause).second)
    log_.info(
        "the provider does not let this cluster read the Events of a twin: why pods do not start there is not "
        "reported here",
        {{"twin", remote_namespace}, {"error", refusal}});
}

void PodWarnings::report(const kube::Object& local, const std::string& message) {
  if (message.empty() || !memory_of(local.key(), local.uid()).questions.may_report(message)) return;
  // The previous leader has sent that Event.
  if (core::reported_warning(local.status()) == message) return;
  context_.events.warning(local, kube::resources::pods, api::reasons::remote_not_ready, message);
}

}  // namespace liqo::controllers
