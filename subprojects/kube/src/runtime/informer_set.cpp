#include "kube/runtime/informer_set.hpp"

#include <cassert>

#include "kube/async/finally.hpp"

namespace kube {

InformerHandle& InformerHandle::operator=(InformerHandle&& other) noexcept {
  if (this == &other) return *this;
  release();
  set_ = std::exchange(other.set_, nullptr);
  informer_ = std::exchange(other.informer_, nullptr);
  subscriptions_ = std::move(other.subscriptions_);
  other.subscriptions_.clear();
  return *this;
}

void InformerHandle::follow(const Informer::Handler& changed, Informer::SyncedHandler synced) {
  informer_->tell_present(changed);
  subscribe(changed, std::move(synced));
}

void InformerHandle::release() {
  if (!informer_) return;
  for (auto subscription : subscriptions_) informer_->unsubscribe(subscription);
  subscriptions_.clear();
  set_->release(*informer_);
  informer_ = nullptr;
  set_ = nullptr;
}

InformerSet::InformerSet(const asio::any_io_executor& executor, Api& api, Metrics& metrics, StoreBudget* budget)
    : executor_(executor),
      api_(api),
      metrics_(metrics),
      budget_(budget),
      history_(executor, api, metrics),
      changed_(executor) {}

InformerSet::~InformerSet() {
  for ([[maybe_unused]] const Slot& slot : slots_) assert(slot.readers == 0 && slot.group->size() == 0);
}

InformerHandle InformerSet::acquire(const InformerScope& wanted) {
  InformerScope scope = wanted;
  for (const auto& [resource, cut] : prunes_)
    if (!scope.prune && scope.resource == resource) scope.prune = cut;
  Slot* found = nullptr;
  for (Slot& slot : slots_)
    if (slot.informer.scope() == scope && !slot.ending) found = &slot;
  if (!found) {
    found = &slots_.emplace_back(executor_, api_, scope, metrics_, budget_, history_, outage_);
    found->informer.on_rewind([this, found](bool itself) {
      if (itself)
        read_anew();
      else
        doubt_others(*found);
    });
    changed_.set();
  }
  ++found->readers;
  InformerHandle handle;
  handle.set_ = this;
  handle.informer_ = &found->informer;
  return handle;
}

void InformerSet::release(Informer& informer) {
  for (Slot& slot : slots_) {
    if (&slot.informer != &informer) continue;
    if (--slot.readers == 0) changed_.set();
    return;
  }
}

bool InformerSet::has_synced() const {
  for (const Slot& slot : slots_)
    if (slot.readers > 0 && !slot.informer.has_synced()) return false;
  return true;
}

std::optional<Failure> InformerSet::trouble() const {
  for (const Slot& slot : slots_)
    if (slot.readers > 0 && slot.informer.trouble()) return slot.informer.trouble();
  return std::nullopt;
}

std::optional<Failure> InformerSet::trouble(Errc of) const {
  for (const Slot& slot : slots_)
    if (const auto& trouble = slot.informer.trouble(); slot.readers > 0 && trouble && trouble->code() == of)
      return trouble;
  return std::nullopt;
}

void InformerSet::doubt_others(const Slot& witness) {
  for (Slot& slot : slots_)
    if (&slot != &witness) slot.doubted = slot.started;
  changed_.set();
}

void InformerSet::read_anew() {
  for (Slot& slot : slots_) slot.doubted = slot.started;
  changed_.set();
}

asio::awaitable<void> InformerSet::watch_over(Informer& informer) {
  try {
    co_await informer.run();
  } catch (...) {
    if (async::is_cancellation(std::current_exception())) throw;
    lost_ = std::current_exception();
    changed_.set();
  }
}

asio::awaitable<void> InformerSet::run() { co_await async::finally(keep_running(), stop_all()); }

asio::awaitable<void> InformerSet::keep_running() {
  while (true) {
    if (lost_) std::rethrow_exception(std::exchange(lost_, nullptr));
    for (Slot& slot : slots_) {
      if (slot.doubted) {
        co_await slot.group->stop();
        slot.group = std::make_unique<async::TaskGroup>(executor_);
        slot.informer.forget();
        slot.doubted = slot.started = false;
      }
      if (slot.started || slot.readers == 0) continue;
      slot.started = true;
      slot.group->spawn(watch_over(slot.informer));
    }
    for (auto slot = slots_.begin(); slot != slots_.end();) {
      if (slot->readers > 0) {
        ++slot;
        continue;
      }
      // A reader that comes back while the informer is stopping gets a new slot from acquire().
      slot->ending = true;
      co_await slot->group->stop();
      slot = slots_.erase(slot);
    }
    co_await changed_.wait_and_reset();
  }
}

asio::awaitable<void> InformerSet::stop_all() {
  for (Slot& slot : slots_) co_await slot.group->stop();
}

}  // namespace kube
