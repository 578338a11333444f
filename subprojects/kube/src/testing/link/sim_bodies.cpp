#include "sim_bodies.hpp"

#include <algorithm>

namespace kube::testing {

asio::awaitable<Result<std::string>> SimBody::read() {
  if (pieces_.empty()) {
    if (breaks_) co_return kube::fail(Errc::closed, "the connection broke in the middle of the answer");
    co_return std::string();
  }
  std::string piece = std::move(pieces_.front());
  pieces_.pop_front();
  co_return piece;
}

SimWatchBody::SimWatchBody(SimLink& link, std::unique_ptr<FakeWatch> watch, TimePoint breaks_at)
    : link_(link), watch_(std::move(watch)), changed_(link.simulator_.executor()), breaks_at_(breaks_at) {
  link_.watches_.push_back(this);
  watch_->on_wake([this] {
    pump();
    changed_.set();
  });
  pump();
}

SimWatchBody::~SimWatchBody() { link_.watches_.remove(this); }

void SimWatchBody::cut() {
  cut_ = true;
  changed_.set();
}

void SimWatchBody::pump() {
  while (auto line = watch_->next()) {
    TimePoint at = link_.clock_.now() + link_.latency();
    if (link_.strikes(link_.faults_.stalled)) at += link_.random_.between(Duration::zero(), link_.faults_.stalled_by);
    // A stream keeps its order.
    lines_.push_back({lines_.empty() ? at : std::max(at, lines_.back().at), std::move(*line)});
    if (link_.faults_.max_watch_buffer > 0 && lines_.size() > link_.faults_.max_watch_buffer) return watch_->close();
  }
}

asio::awaitable<Result<std::string>> SimWatchBody::read() {
  while (true) {
    pump();
    const TimePoint now = link_.clock_.now();
    const bool up = link_.is_up();
    const TimePoint given_up = up ? TimePoint::max() : link_.down_since_ + keep_alive;
    if (cut_ || now >= std::min(breaks_at_, given_up)) {
      cut_ = true;
      co_return kube::fail(Errc::closed, "the connection of the watch broke");
    }
    TimePoint next = std::min(breaks_at_, given_up);
    if (up) {
      std::string bytes = std::move(rest_);
      rest_.clear();
      while (!lines_.empty() && lines_.front().at <= now) {
        bytes += lines_.front().text;
        lines_.pop_front();
      }
      if (!bytes.empty()) {
        // Where a read ends has nothing to do with where an event ends.
        if (bytes.size() > 1 && link_.random_.chance(0.2)) {
          const auto at =
              static_cast<std::size_t>(link_.random_.between(1, static_cast<std::int64_t>(bytes.size()) - 1));
          rest_ = bytes.substr(at);
          bytes.resize(at);
        }
        co_return bytes;
      }
      if (lines_.empty() && watch_->ended()) co_return std::string();
      if (!lines_.empty()) next = std::min(next, lines_.front().at);
    }
    if (!watch_->ended()) next = std::min(next, std::max(watch_->due(), now + std::chrono::nanoseconds(1)));
    if (co_await changed_.wait_until(link_.clock_, Deadline{next})) changed_.reset();
  }
}

}  // namespace kube::testing
