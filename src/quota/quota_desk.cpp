#include "quota/quota_desk.hpp"

#include <algorithm>
#include <utility>

#include "liqo/api/labels.hpp"
#include "quota/batch_decision.hpp"
#include "telemetry/families.hpp"

namespace liqo::quota {
namespace {

using namespace std::chrono_literals;

using core::QuotaRefusal;
using core::QuotaVerdict;

/// The time between two looks at reservations whose ShadowPod was not seen stored ...
constexpr kube::Duration expiry_interval = 5s;
/// ... and the time after a look that was cut short.
constexpr kube::Duration next_expiry_round = 1s;
/// More admissions than this in one write would make the record grow in leaps.
constexpr std::size_t max_batch = 500;
/// A longer queue is refused, because callers would give up before their turn.
constexpr std::size_t max_waiting = 5'000;
/// While the cache of ShadowPods lags behind, the record keeps reservations that are stored already, and each batch
/// writes them again. This bounds the bytes written in a second.
constexpr double max_record_bytes_per_second = 2.0 * 1024 * 1024;

kube::Duration pause_for(std::size_t bytes) {
  return std::chrono::duration_cast<kube::Duration>(
      std::chrono::duration<double>(static_cast<double>(bytes) / max_record_bytes_per_second));
}

}  // namespace

QuotaDesk::QuotaDesk(DeskContext& context, kube::ObjectKey quota)
    : context_(context), record_(context, std::move(quota)), wake_(context.executor) {}

asio::awaitable<void> QuotaDesk::serve() {
  // Reservations expire by the time at which this replica first saw them, so those of a dead replica have to be read
  // first.
  static_cast<void>(co_await record_.read());
  kube::TimePoint next_write = context_.clock.now();
  kube::TimePoint expiry = next_write + expiry_interval;
  while (true) {
    if (queue_.empty() && settling_.empty()) co_await wake_.wait_until(context_.clock, {expiry});
    wake_.reset();
    // Reservations expire even while the queue is never empty: a Quota that looks full makes its callers ask again and
    // again.
    if (context_.clock.now() >= expiry) {
      const bool complete = co_await expire();
      expiry = context_.clock.now() + (complete ? expiry_interval : next_expiry_round);
      if (is_over()) break;
    }
    if (!settling_.empty()) co_await answer_settling();
    if (queue_.empty()) continue;
    if (next_write > context_.clock.now()) co_await context_.clock.sleep_until(next_write);
    next_write = context_.clock.now() + std::max(context_.settings.gather, pause_for(known().bytes()));
    take_batch();
    if (!batch_.empty()) {
      BatchDecision decision(context_, record_, large_, batch_);
      co_await decision.run();
    }
    batch_.clear();
  }
  record_.show_unproven(0);
}

bool QuotaDesk::is_over() const {
  return queue_.empty() && settling_.empty() && !context_.quotas->store().contains(record_.quota()) &&
         !context_.records->store().contains(context_.record_of(record_.quota()));
}

void QuotaDesk::take_batch() {
  while (!queue_.empty() && batch_.size() < max_batch) {
    if (!queue_.front()->verdict) batch_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
}

std::expected<std::shared_ptr<DeskQuestion>, QuotaVerdict> QuotaDesk::question_of(const kube::Object& shadow_pod,
                                                                                  const kube::Object* before,
                                                                                  core::Claimant claimant) const {
  const auto refuse = [](std::string problem) {
    return std::unexpected(QuotaVerdict::refused(std::move(problem), QuotaRefusal::unreadable));
  };
  if (before && before->version_number() == 0)
    return refuse("the ShadowPod has no version from which it could be changed");
  auto needs = context_.stored.needs_of(shadow_pod);
  if (!needs) return refuse("the pod's amounts cannot be read: " + needs.error().text());
  if (queue_.size() >= max_waiting)
    return std::unexpected(
        QuotaVerdict::unavailable("quota " + record_.quota().text() + ": too many pods are waiting for it; ask again"));
  const core::Counting counting = context_.settings.counting;
  auto asked = std::make_shared<DeskQuestion>(context_.executor);
  asked->user = shadow_pod.label(api::labels::creator_user);
  core::Reservation& reservation = asked->reservation;
  reservation = {.pod = shadow_pod.key(), .demand = core::pod_demand(*needs, counting), .unproven = !claimant.proven};
  core::drop_zeros(reservation.demand);
  reservation.from = before ? before->version_number() : 0;
  // The ledger did not count a stored ShadowPod whose amounts it could not parse: all of the new amounts count as
  // growth.
  if (before)
    if (const auto had = context_.stored.needs_of(*before))
      reservation.demand = core::beyond(reservation.demand, core::pod_demand(*had, counting));
  asked->key = before ? core::growth_key(shadow_pod.uid(), context_.random.next()) : std::string(shadow_pod.uid());
  if (!core::is_recordable(asked->key, reservation))
    return refuse("the pod names too many resources, or by too long names");
  asked->bytes = core::reservation_bytes(asked->key, reservation);
  asked->claimant = std::move(claimant);
  asked->needs = std::move(*needs);
  return asked;
}

asio::awaitable<QuotaVerdict> QuotaDesk::ask(std::shared_ptr<DeskQuestion> asked) {
  // A caller that is gone, or whose time is over, must not get a reservation.
  struct Leaving {
    DeskQuestion& asked;
    explicit Leaving(DeskQuestion& who) : asked(who) {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() {
      if (!asked.verdict) asked.verdict = QuotaVerdict::unavailable("nobody waits any more");
    }
  };
  const Leaving leaving(*asked);
  const std::string quota = "quota " + record_.quota().text();
  queue_.push_back(asked);
  wake_.set();
  const bool in_time = co_await asked->answered.wait_for(context_.clock, context_.settings.patience);
  // This desk may be gone by now.
  if (!in_time) asked->answer(QuotaVerdict::unavailable(quota + " could not be decided upon in time; ask again"));
  co_return *asked->verdict;
}

void QuotaDesk::settle(std::shared_ptr<SettleWaiter> waiting) {
  settling_.push_back(std::move(waiting));
  wake_.set();
}

void QuotaDesk::close(const QuotaVerdict& stopping) {
  answer_all(std::exchange(batch_, {}), stopping);
  for (const auto& asked : std::exchange(queue_, {})) asked->answer(stopping);
  for (const auto& waiting : std::exchange(settling_, {})) waiting->answered.set();
}

void QuotaDesk::count_refusal(QuotaRefusal reason) {
  const auto [counter, is_new] = refusals_.try_emplace(reason);
  if (is_new) {
    const auto tenant = context_.namespaces->find({"", record_.quota().ns});
    counter->second = context_.metrics.counter(
        families::quota_refusals,
        {{"cluster_id", std::string(tenant ? tenant->label(api::labels::remote_cluster_id) : "")},
         {"reason", std::string(word_for(reason))}});
  }
  counter->second.add();
}

}  // namespace liqo::quota
