// Events on objects, for people: folded, bounded, and never in the way of the work.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>

#include "kube/async/event.hpp"
#include "kube/client/api.hpp"
#include "kube/telemetry/log.hpp"

namespace kube {

/// Writes core/v1 Events. A repeat (same object UID, reason and message) within the fold time costs no write of its
/// own: it is added to the count, which is written at most once per fold time. Both queues are bounded; what does not
/// fit is dropped and counted. Events are best effort: a failed write is logged, not retried. One thread.
class EventRecorder {
 public:
  /// Who is the source of an event, such as "kubelet", by the kind of its object and its reason. Not set: "".
  using Source = std::function<std::string(const Resource& resource, std::string_view reason)>;
  EventRecorder(const asio::any_io_executor& executor, Api& api, Metrics& metrics, Source source);
  /// With one source for all.
  EventRecorder(const asio::any_io_executor& executor, Api& api, Metrics& metrics, std::string component)
      : EventRecorder(executor, api, metrics,
                      [component = std::move(component)](const Resource&, std::string_view) { return component; }) {}

  /// Notes an Event of that type about `object`, which needs name and UID. The message is cut to 1,000 bytes.
  void normal(const Object& object, const Resource& resource, std::string_view reason, std::string message);
  void warning(const Object& object, const Resource& resource, std::string_view reason, std::string message);
  /// Notes an Event about something that goes well all the time and that nobody waits for. It is written after all
  /// others, one in each `routine_pause`. At most `max_routine` wait and the rest is dropped, so that each is written
  /// within the product of both or not at all.
  void routine(const Object& object, const Resource& resource, std::string_view reason, std::string message);
  /// Drops the waiting Events of routine() about the object with that UID: the object goes, and its namespace may go
  /// with it.
  void forget_routine(std::string_view uid);
  static constexpr Duration routine_pause = std::chrono::seconds(1);
  static constexpr std::size_t max_routine = 50;
  /// Writes what was noted, until cancelled.
  asio::awaitable<void> run();

 private:
  struct Series {
    ObjectKey event;
    WallTime first{};
    std::int64_t count = 0;
    TimePoint last_write{};
    bool queued = false, is_written = false;
    json::object body;  ///< the Event as it is made, while it waits
  };
  struct Note {
    const Object& object;
    const Resource& resource;
    const char* type;
    std::string_view reason;
    std::string message;
  };
  /// Queues it behind what waits in `queue`, unless `max_waiting` wait there.
  void note(Note note, std::deque<std::string>& queue, std::size_t max_waiting);
  json::object forge(const Note& note, const Series& series) const;
  asio::awaitable<void> write(const std::string& id);
  void prune();

  Api& api_;
  Source source_;
  async::Event wake_;
  std::unordered_map<std::string, Series> series_;
  std::deque<std::string> queue_, routine_;
  TimePoint next_routine_{};  ///< not before then the next of `routine_` is written
  Log log_;
  Counter written_, folded_, dropped_;
};

}  // namespace kube
