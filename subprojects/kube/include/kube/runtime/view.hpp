// A value that a reader keeps of each object of a cache.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "kube/runtime/informer_set.hpp"

namespace kube {

/// Holds a T for each object of an informer, derived once for each of its states, so that a reader that looks at all
/// objects again and again parses none of them. T holds only what is looked at, and nothing that points into the
/// object. One thread.
template <typename T>
class View {
 public:
  using Derive = std::function<T(const Object&)>;
  /// Called after each change, with null if there is nothing; both live as long as the call.
  using Changed = std::function<void(const ObjectKey& key, const T* before, const T* now)>;

  /// Begins with what is there, for which `changed` is not called. The subscription captures this View and ends with
  /// the handle, so both are destroyed in the same turn of the loop, in either order. A handle that lives longer calls
  /// a View that is no more, and a View that lives longer learns of no change.
  View(InformerHandle& objects, Derive derive, Changed changed = {}, Informer::SyncedHandler synced = {})
      : derive_(std::move(derive)), changed_(std::move(changed)) {
    for (const Object& object : objects->objects()) held_.emplace(object.key(), derive_(object));
    objects.subscribe([this](const Change& change) { take(change); }, std::move(synced));
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /// What is held of an object; null if there is none.
  const T* find(const ObjectKey& key) const {
    const auto found = held_.find(key);
    return found == held_.end() ? nullptr : &found->second;
  }
  /// What is held of all, by key.
  const std::map<ObjectKey, T>& all() const { return held_; }

 private:
  void take(const Change& change) {
    std::optional<T> next = change.now ? std::optional<T>(derive_(*change.now)) : std::nullopt;
    std::optional<T> before;
    if (const auto found = held_.find(change.key); found != held_.end()) before = std::move(found->second);
    const T* now = nullptr;
    if (next)
      now = &held_.insert_or_assign(change.key, std::move(*next)).first->second;
    else
      held_.erase(change.key);
    if (changed_) changed_(change.key, before ? &*before : nullptr, now);
  }

  Derive derive_;
  Changed changed_;
  std::map<ObjectKey, T> held_;
};

}  // namespace kube
