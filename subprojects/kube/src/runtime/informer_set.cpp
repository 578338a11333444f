#include "kube/runtime/informer_set.hpp"

#include <boost/container_hash/hash.hpp>
#include <cassert>

#include "kube/async/finally.hpp"

namespace kube {
namespace {

/// Hashes what distinguishes most scopes: watches of one kind are many if each has a namespace or a selector of its
/// own.
std::size_t hash_of(const InformerScope& scope) {
  std::size_t seed = 0;
  boost::hash_combine(seed, scope.resource.plural);
  boost::hash_combine(seed, scope.ns);
  boost::hash_combine(seed, scope.selection.label_selector);
  boost::hash_combine(seed, scope.selection.field_selector);
  return seed;
}

}  // namespace

InformerHandle& InformerHandle::operator=(InformerHandle&& other) noexcept {
  if (this == &other) return *this;
  release();
  set_ = std::exchange(other.set_, nullptr);
  informer_ = std::exchange(other.informer_, nullptr);
  readers_ = std::exchange(other.readers_, nullptr);
  subscriptions_ = std::move(other.subscriptions_);
  other.subscriptions_.clear();
  return *this;
}

void InformerHandle::follow(const Informer::Handler& changed, Informer::SyncedHandler synced) {
  informer_->notify_present(changed);
  subscribe(changed, std::move(synced));
}

void InformerHandle::release() {
  if (!informer_) return;
  for (auto subscription : subscriptions_) informer_->unsubscribe(subscription);
  subscriptions_.clear();
  set_->release(*readers_);
  informer_ = nullptr;
  readers_ = nullptr;
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
  Slot* found = slot_of(scope);
  if (!found) found = &add_slot(scope);
  ++found->readers;
  InformerHandle handle;
  handle.set_ = this;
  handle.informer_ = &found->informer;
  handle.readers_ = &found->readers;
  return handle;
}

InformerSet::Slot* InformerSet::slot_of(const InformerScope& scope) {
  const auto [begin, end] = by_scope_.equal_range(hash_of(scope));
  for (auto found = begin; found != end; ++found)
    if (!found->second->ending && found->second->informer.scope() == scope) return found->second;
  return nullptr;
}

InformerSet::Slot& InformerSet::add_slot(const InformerScope& scope) {
  Slot& slot = slots_.emplace_back(executor_, api_, scope, metrics_, budget_, history_, outage_);
  by_scope_.emplace(hash_of(scope), &slot);
  slot.informer.on_rewind([this, &slot](bool itself) {
    if (itself)
      read_anew();
    else
      doubt_others(slot);
  });
  changed_.set();
  return slot;
}

std::list<InformerSet::Slot>::iterator InformerSet::remove_slot(std::list<Slot>::iterator slot) {
  const auto [begin, end] = by_scope_.equal_range(hash_of(slot->informer.scope()));
  for (auto found = begin; found != end; ++found) {
    if (found->second != &*slot) continue;
    by_scope_.erase(found);
    break;
  }
  return slots_.erase(slot);
}

void InformerSet::release(std::size_t& readers) {
  if (--readers == 0) changed_.set();
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
      slot = remove_slot(slot);
    }
    co_await changed_.wait_and_reset();
  }
}

asio::awaitable<void> InformerSet::stop_all() {
  for (Slot& slot : slots_) co_await slot.group->stop();
}

}  // namespace kube
