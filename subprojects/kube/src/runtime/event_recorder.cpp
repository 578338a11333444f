#include "kube/runtime/event_recorder.hpp"

#include <utility>

#include "kube/base/hex.hpp"
#include "kube/base/printable.hpp"
#include "kube/telemetry/families.hpp"

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_queue = 256, max_series = 1024, max_message = 1000;
/// A name has 253 characters at most, and 17 of them distinguish Events of one object.
constexpr std::size_t max_stem = 230;
constexpr Duration fold_time = 5min;

/// What the name of an Event begins with: as much of the object's as leaves room, up to where a name may end.
std::string stem_of(std::string_view name) {
  name = name.substr(0, max_stem);
  while (name.ends_with('-') || name.ends_with('.')) name.remove_suffix(1);
  return std::string(name);
}

}  // namespace

EventRecorder::EventRecorder(const asio::any_io_executor& executor, Api& api, Metrics& metrics, Source source)
    : api_(api), source_(std::move(source)), wake_(executor), log_(Log("events").with("cluster", api.cluster())) {
  const auto counter = [&](const char* outcome) {
    return metrics.counter(families::kube_events, {{"outcome", outcome}});
  };
  written_ = counter("written");
  folded_ = counter("folded");
  dropped_ = counter("dropped");
}

void EventRecorder::normal(const Object& object, const Resource& resource, std::string_view reason,
                           std::string message) {
  note({object, resource, "Normal", reason, std::move(message)}, queue_, max_queue);
}

void EventRecorder::warning(const Object& object, const Resource& resource, std::string_view reason,
                            std::string message) {
  note({object, resource, "Warning", reason, std::move(message)}, queue_, max_queue);
}

void EventRecorder::routine(const Object& object, const Resource& resource, std::string_view reason,
                            std::string message) {
  note({object, resource, "Normal", reason, std::move(message)}, routine_, max_routine);
}

void EventRecorder::forget_routine(std::string_view uid) {
  std::erase_if(routine_, [&](const std::string& id) {
    const bool is_of_it = id.starts_with(uid) && id.substr(uid.size()).starts_with('/');
    if (is_of_it) {
      series_.erase(id);
      dropped_.add();
    }
    return is_of_it;
  });
}

void EventRecorder::note(Note note, std::deque<std::string>& queue, std::size_t max_waiting) {
  note.message.resize(cut_text(note.message, max_message).size());
  const auto& [object, resource, type, reason, message] = note;
  const std::string id = std::string(object.uid()).append("/").append(reason).append("/").append(message);
  const TimePoint now = api_.clock().now();
  if (const auto known = series_.find(id); known != series_.end()) {
    Series& series = known->second;
    ++series.count;
    folded_.add();
    if (!series.queued && now - series.last_write >= fold_time && queue.size() < max_waiting) {
      series.queued = true;
      series.body = forge(note, series);
      queue.push_back(id);
      wake_.set();
    }
    return;
  }
  if (queue.size() >= max_waiting) {
    dropped_.add();
    return;
  }
  if (series_.size() >= max_series) prune();

  const std::string ns = object.ns().empty() ? "default" : std::string(object.ns());
  Series series;
  series.event = {ns, stem_of(object.name()) + "." + hex(api_.random().next(), 16)};
  series.count = 1;
  series.queued = true;
  series.last_write = now;
  series.first = api_.clock().wall();
  series.body = forge(note, series);
  series_.emplace(id, std::move(series));
  queue.push_back(id);
  wake_.set();
}

json::object EventRecorder::forge(const Note& note, const Series& series) const {
  const auto& [object, resource, type, reason, message] = note;
  Object event = Object::make(resources::events, series.event);
  event.tree()["involvedObject"] = json::object{{"apiVersion", resource.api_version()},
                                                {"kind", resource.kind},
                                                {"namespace", object.ns()},
                                                {"name", object.name()},
                                                {"uid", object.uid()}};
  event.tree()["reason"] = reason;
  event.tree()["message"] = message;
  event.tree()["type"] = type;
  const std::string component = source_ ? source_(resource, reason) : "";
  event.tree()["source"] = json::object{{"component", component}};
  event.tree()["reportingComponent"] = component;
  event.tree()["firstTimestamp"] = format_time(series.first);
  return std::move(event.tree());
}

void EventRecorder::prune() {
  const TimePoint now = api_.clock().now();
  std::erase_if(series_,
                [&](const auto& entry) { return !entry.second.queued && now - entry.second.last_write >= fold_time; });
  // Still full: forget what is written, whatever its age. A repeat then becomes an Event of its own.
  if (series_.size() >= max_series) std::erase_if(series_, [](const auto& entry) { return !entry.second.queued; });
}

asio::awaitable<void> EventRecorder::run() {
  async::Clock& clock = api_.clock();
  while (true) {
    const bool is_routine = queue_.empty() && !routine_.empty();
    if (queue_.empty() && (!is_routine || clock.now() < next_routine_)) {
      co_await wake_.wait_until(clock, is_routine ? Deadline{next_routine_} : Deadline::never());
      wake_.reset();
      continue;
    }
    std::deque<std::string>& queue = is_routine ? routine_ : queue_;
    const std::string id = std::move(queue.front());
    queue.pop_front();
    if (is_routine) next_routine_ = clock.now() + routine_pause;
    co_await write(id);
  }
}

asio::awaitable<void> EventRecorder::write(const std::string& id) {
  const auto found = series_.find(id);
  if (found == series_.end()) co_return;
  Series& series = found->second;
  series.queued = false;
  series.last_write = api_.clock().now();
  const bool is_repeat = std::exchange(series.is_written, true);
  Object event(std::exchange(series.body, {}));
  const json::object told{{"count", series.count}, {"lastTimestamp", format_time(api_.clock().wall())}};
  for (const auto& [field, value] : told) event.tree()[field] = value;
  // Nothing of the series is looked at after an await: it may have been forgotten.
  auto done = is_repeat ? co_await api_.patch(resources::events, event.key(), {PatchType::merge, json::serialize(told)})
                        : co_await api_.create(resources::events, event);
  // API servers keep an Event for an hour, and a series may live longer.
  if (is_repeat && !done && done.error().is_not_found()) done = co_await api_.create(resources::events, event);
  if (done) {
    written_.add();
    co_return;
  }
  // Nothing can be written into a namespace that ends or is gone, and nobody would read it there.
  const bool is_ending = done.error().is_not_found() || done.error().text().contains("is being terminated");
  if (is_ending) {
    log_.debug("an Event was not written", {{"error", done.error()}});
  } else {
    log_.warn("an Event was not written", {{"error", done.error()}});
  }
  dropped_.add();
  series_.erase(id);
}

}  // namespace kube
