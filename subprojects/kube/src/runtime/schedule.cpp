#include "kube/runtime/schedule.hpp"

#include <algorithm>
#include <utility>

namespace kube {

void Schedule::make_ready(Items::value_type& entry, TimePoint now) {
  auto& [key, item] = entry;
  item.pause_to.reset();
  arrange(entry);
  if (item.state == State::running) {
    item.again = true;
    item.since = now;
    return;
  }
  if (item.state == State::ready) return;
  item.state = State::ready;
  item.since = now;
  groups_[key.group].ready.push_back(&key);
  ++depth_;
}

void Schedule::arrange(Items::value_type& entry) {
  auto& [key, item] = entry;
  if (item.delayed_to) delayed_.erase({*item.delayed_to, &key});
  item.delayed_to = item.pause_to;
  if (item.asked_to && (!item.delayed_to || *item.asked_to < *item.delayed_to)) item.delayed_to = item.asked_to;
  if (item.delayed_to) delayed_.insert({*item.delayed_to, &key});
}

void Schedule::add(const WorkKey& key, TimePoint now) { make_ready(*items_.try_emplace(key).first, now); }

void Schedule::add_at(const WorkKey& key, TimePoint at) {
  auto& entry = *items_.try_emplace(key).first;
  Item& item = entry.second;
  if (item.asked_to && *item.asked_to <= at) return;
  item.asked_to = at;
  arrange(entry);
}

void Schedule::pause(const WorkKey& key, TimePoint at) {
  auto& entry = *items_.find(key);
  if (entry.second.state == State::ready) return;
  entry.second.pause_to = at;
  arrange(entry);
}

std::optional<WorkKey> Schedule::pop(TimePoint now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    auto& entry = *items_.find(*delayed_.begin()->second);
    if (entry.second.asked_to && *entry.second.asked_to <= now) entry.second.asked_to.reset();
    make_ready(entry, now);
  }
  if (depth_ == 0 || running_ >= std::size_t(limits_.workers)) return std::nullopt;
  // Round robin: start after the group that was served last. Those without a key that is due are being worked on, and
  // there are no more of them than workers.
  auto at = groups_.upper_bound(turn_);
  for (std::size_t i = 0; i < groups_.size(); ++i, ++at) {
    if (at == groups_.end()) at = groups_.begin();
    Group& group = at->second;
    if (group.ready.empty() || group.running >= limits_.workers_per_group) continue;
    WorkKey key = *group.ready.front();
    group.ready.pop_front();
    ++group.running;
    --depth_;
    ++running_;
    items_.find(key)->second.state = State::running;
    turn_ = at->first;
    return key;
  }
  return std::nullopt;
}

std::optional<TimePoint> Schedule::next_due() const {
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

void Schedule::finish(const WorkKey& key, TimePoint now, bool forget_failures) {
  auto& entry = *items_.find(key);
  Item& item = entry.second;
  item.state = State::idle;
  --running_;
  const auto group = groups_.find(key.group);
  --group->second.running;
  if (forget_failures) item.failures = 0;
  if (std::exchange(item.again, false)) make_ready(entry, now);
  if (group->second.ready.empty() && group->second.running == 0) groups_.erase(group);
}

void Schedule::drop_if_unused(const WorkKey& key) {
  const auto at = items_.find(key);
  const Item& item = at->second;
  if (item.state == State::idle && !item.delayed_to && item.failures == 0) items_.erase(at);
}

void Schedule::done(const WorkKey& key, TimePoint now) {
  finish(key, now, true);
  drop_if_unused(key);
}

void Schedule::done_until(const WorkKey& key, TimePoint now, TimePoint at) {
  finish(key, now, true);
  pause(key, at);
}

Duration Schedule::failed(const WorkKey& key, TimePoint now, Random& random, Duration asked) {
  Item& item = items_.find(key)->second;
  const int failures = ++item.failures;
  Duration wait = limits_.backoff.pause(failures, random);
  // Not at once: the news may be what our own writes caused.
  if (std::exchange(item.again, false)) wait = std::min(wait, limits_.max_news_pause);
  wait = std::max(wait, asked);
  finish(key, now, false);
  pause(key, now + wait);
  return wait;
}

TimePoint Schedule::due_since(const WorkKey& key) const {
  const auto at = items_.find(key);
  return at == items_.end() ? TimePoint{} : at->second.since;
}

}  // namespace kube
