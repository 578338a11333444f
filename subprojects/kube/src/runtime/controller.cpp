#include "kube/runtime/controller.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "asked_pause.hpp"
#include "cancel_when_lost.hpp"
#include "kube/async/finally.hpp"
#include "kube/async/timeout.hpp"
#include "kube/runtime/informer_set.hpp"
#include "kube/runtime/leadership.hpp"
#include "kube/telemetry/families.hpp"

namespace kube {
namespace {

/// The pauses between two looks at caches that are not complete yet: they grow from the first to the longest, since a
/// server may be away for hours.
constexpr Duration first_look = std::chrono::milliseconds(20), max_look = std::chrono::milliseconds(500);
/// A key that is due in this time or later is due at a full second, so that one turn of the loop serves many keys and
/// their requests share a write.
constexpr Duration lazy_from = std::chrono::seconds(10);
/// So many keys begin in one turn of the loop. A reconcile that has nothing to do ends in the same turn, and thousands
/// of them would hold up all others.
constexpr int max_begun_in_a_turn = 8;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

TimePoint due_after(TimePoint now, Duration delay) {
  const TimePoint due = now + delay;
  return delay < lazy_from ? due : TimePoint(std::chrono::ceil<std::chrono::seconds>(due.time_since_epoch()));
}

}  // namespace

Controller::Controller(const Environment& environment, ControllerSettings settings, Reconcile reconcile)
    : executor_(environment.executor),
      leader_(environment.leader),
      clock_(environment.clock),
      random_(environment.random),
      settings_(std::move(settings)),
      reconcile_(std::move(reconcile)),
      schedule_(settings_.limits),
      wake_(environment.executor),
      log_(Log("controller").with("controller", settings_.name)) {
  Metrics& metrics = environment.metrics;
  const Labels queue{{"name", settings_.name}, {"controller", settings_.name}};
  const Labels name{{"controller", settings_.name}};
  const auto result = [&](const char* which) {
    Labels labels = name;
    labels["result"] = which;
    return metrics.counter(families::reconciles, labels);
  };
  adds_ = metrics.counter(families::queue_adds, queue);
  retries_ = metrics.counter(families::queue_retries, queue);
  depth_ = metrics.gauge(families::queue_depth, queue);
  queue_time_ = metrics.histogram(families::queue_time, queue, time_bounds());
  work_time_ = metrics.histogram(families::work_time, queue, time_bounds());
  reconcile_time_ = metrics.histogram(families::reconcile_time, name, time_bounds());
  active_ = metrics.gauge(families::active_workers, name);
  max_workers_ = metrics.gauge(families::max_workers, name);
  max_workers_.set(settings_.limits.workers);
  longest_ = metrics.sample(families::longest_work, queue,
                            [this] { return begun_.empty() ? 0.0 : seconds(clock_.now() - *begun_.begin()); });
  successes_ = result("success");
  requeues_ = result("requeue_after");
  errors_ = result("error");
  failures_ = metrics.counter(families::reconcile_errors, name);
  terminal_ = metrics.counter(families::terminal_errors, name);
  timeouts_ = metrics.counter(families::reconcile_timeouts, name);
  panics_ = metrics.counter(families::reconcile_panics, name);
}

Controller::~Controller() { show(0, 0); }

void Controller::show(std::size_t depth, std::size_t running) {
  depth_.add(double(depth) - double(std::exchange(shown_depth_, depth)));
  active_.add(double(running) - double(std::exchange(shown_running_, running)));
}

void Controller::watch(InformerHandle& objects) {
  if (!reconciled_) reconciled_ = &objects->store();
  watch(objects, [](const ObjectKey& key) { return key; });
}

void Controller::follow(InformerHandle& objects, const std::function<void(const Change&)>& changed) {
  add_source(objects);
  objects.follow(changed);
}

void Controller::subscribe(InformerHandle& objects, std::function<void(const Change&)> changed,
                           std::function<void()> synced) {
  add_source(objects);
  if (!synced)
    synced = [this] {
      if (reconciled_) enqueue_all(*reconciled_);
    };
  objects.subscribe(std::move(changed), std::move(synced));
}

void Controller::make_due(std::optional<ObjectKey> key) {
  if (key) enqueue({key->ns, std::move(*key)});
}

void Controller::make_due(std::vector<ObjectKey> keys) {
  for (ObjectKey& key : keys) enqueue({key.ns, std::move(key)});
}

void Controller::add_source(const InformerHandle& objects) {
  sources_.emplace_back([informer = &*objects] { return informer->has_synced(); });
}

bool Controller::has_synced() const {
  return std::ranges::all_of(sources_, [](const std::function<bool()>& has_synced) { return has_synced(); }) &&
         (!settings_.also_ready || settings_.also_ready());
}

void Controller::enqueue(WorkKey key) {
  if (settings_.fill && !running_) return;
  adds_.add();
  schedule_.add(key, clock_.now());
  // What nobody works on is not due: a replica that does not lead keeps the keys of all objects.
  if (running_) show(schedule_.depth(), schedule_.running());
  wake_.set();
}

void Controller::enqueue_all(const Store& store, std::string_view ns) {
  if (settings_.fill && !running_) return;
  for (const ObjectKey& key : store.keys_in(ns)) enqueue({key.ns, key});
}

void Controller::enqueue_after(WorkKey key, Duration delay) {
  if (settings_.fill && !running_) return;
  schedule_.add_at(key, clock_.deadline_in(delay).at);
  wake_.set();
}

void Controller::set_workers(int workers, int workers_per_group) {
  schedule_.set_workers(workers, workers_per_group);
  max_workers_.set(workers);
  wake_.set();
}

asio::awaitable<void> Controller::run() {
  async::TaskGroup workers(executor_, async::TaskGroup::OnFailure::keep_others);
  // What every replica runs goes on, whoever leads.
  Leadership* const reign = leader_ && leader_->is_leader() ? leader_ : nullptr;
  co_await async::finally(work(workers), wind_down(workers, reign));
}

asio::awaitable<void> Controller::work(async::TaskGroup& workers) {
  running_ = true;
  if (settings_.fill) settings_.fill();
  for (Duration pause = first_look; !has_synced(); pause = std::min(2 * pause, max_look)) co_await clock_.sleep(pause);
  while (true) {
    for (int begun = 1; auto key = schedule_.pop(clock_.now()); ++begun) {
      queue_time_.observe(seconds(clock_.now() - schedule_.due_since(*key)));
      workers.spawn(process(std::move(*key)));
      if (begun % max_begun_in_a_turn == 0) co_await asio::post(executor_, asio::use_awaitable);
    }
    show(schedule_.depth(), schedule_.running());
    const auto due = schedule_.next_due();
    co_await wake_.wait_until(clock_, due ? Deadline{*due} : Deadline::never());
    wake_.reset();
  }
}

asio::awaitable<void> Controller::wind_down(async::TaskGroup& workers, Leadership* reign) {
  running_ = false;
  async::TaskGroup guard(executor_);
  if (reign) guard.spawn(cancel_when_lost(*reign, workers));
  co_await async::finally(async::with_timeout(clock_, workers.join(), settings_.grace),
                          async::stop_in_turn(guard, workers));
  show(0, 0);
}

asio::awaitable<void> Controller::process(WorkKey key) {
  const TimePoint start = clock_.now();
  const auto begun = begun_.insert(start);
  std::optional<Outcome> outcome;
  std::exception_ptr thrown;
  try {
    outcome = co_await async::with_timeout(clock_, reconcile_(key), settings_.guard);
  } catch (...) {
    thrown = std::current_exception();
  }
  begun_.erase(begun);
  work_time_.observe(seconds(clock_.now() - start));
  reconcile_time_.observe(seconds(clock_.now() - start));
  if (thrown && async::is_cancellation(thrown)) {
    // The work for the key is half done. The next run of this controller (another term of leadership) does the rest,
    // because no event would bring the key back.
    schedule_.done_until(key, clock_.now(), clock_.now());
    std::rethrow_exception(thrown);
  }
  if (thrown) {
    panics_.add();
    conclude(key, Outcome::retry(Failure(Errc::protocol, "the reconciler threw: " + async::describe(thrown))));
  } else if (!outcome) {
    timeouts_.add();
    conclude(key, Outcome::retry(Failure(Errc::timeout, "the reconcile took too long and was cancelled")));
  } else {
    conclude(key, std::move(*outcome));
  }
  wake_.set();
}

void Controller::conclude(const WorkKey& key, Outcome outcome) {
  const TimePoint now = clock_.now();
  if (!outcome.failure()) {
    if (outcome.delay()) {
      requeues_.add();
      schedule_.done_until(key, now, due_after(now, *outcome.delay()));
    } else {
      successes_.add();
      schedule_.done(key, now);
    }
    return;
  }
  errors_.add();
  failures_.add();
  const Failure& failure = *outcome.failure();
  const auto fields = {Field("group", key.group), Field("object", key.object), Field("error", failure)};
  if (outcome.is_terminal()) {
    terminal_.add();
    schedule_.done(key, now);
    log_.warn("gave up until the object changes", fields);
    return;
  }
  retries_.add();
  schedule_.failed(key, now, random_, asked_pause(failure));
  // A conflict is how optimistic locking works, not trouble. Many objects fail for one reason, and each again and
  // again.
  const auto held_back = failure.is_conflict() ? std::nullopt : logged_.note(failure.text(), now);
  if (!held_back) {
    log_.debug("reconcile retried", fields);
  } else if (*held_back == 0) {
    log_.warn("reconcile failed", fields);
  } else {
    log_.warn("reconcile failed",
              {{"group", key.group}, {"object", key.object}, {"error", failure}, {"others_since", *held_back}});
  }
}

}  // namespace kube
