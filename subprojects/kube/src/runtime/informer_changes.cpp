// The changes that an informer takes into its store, and how its readers are notified of them.
#include <utility>

#include "kube/runtime/informer.hpp"

namespace kube {

void Informer::put(Object object) {
  if (is_foreign(object)) return skip_foreign(object);
  const ObjectKey key = object.key();
  if (listed_) {
    listed_->insert(key);
    // A list shows what there was when it was asked for, or later.
    const std::uint64_t held = store_.version(key), version = object.version_number();
    if (version != 0 && version < held && held <= newest_before_list_) list_is_older_ = true;
  }
  keep(std::move(object));
}

bool Informer::is_foreign(const Object& object) const {
  return (!scope_.ns.empty() && object.ns() != scope_.ns) || (selector_ && selector_->excludes(object.tree()));
}

void Informer::skip(std::string_view why, const Field& fact) {
  skipped_.add();
  if (const auto held_back = skips_.note(why, api_.clock().now())) log_.warn(why, {fact, {"others_since", *held_back}});
}

void Informer::skip_foreign(const Object& object) {
  skip("skipped an object outside of what was asked for", {"object", object.key()});
  // It was in the selection once.
  drop(object.key(), object.version_number());
}

void Informer::skip_deep(const Object& object) {
  if (is_foreign(object)) return skip_foreign(object);
  skip_unread(object.key(), "skipped an object that is nested too deep to be read");
}

void Informer::skip_long(const Object& object) {
  // Only the part that was not read may show whether it was asked for.
  skip_unread(object.key(), "skipped an object whose event is too long to be read");
}

void Informer::skip_unread(const ObjectKey& key, std::string_view why) {
  // What is known of it stays: it is not gone. The keys of others would count in no budget.
  if (listed_ && store_.contains(key)) listed_->insert(key);
  skip(why, {"object", key});
}

void Informer::keep(Object object) {
  std::optional<Store::PreviousText> previous;
  const ObjectKey key = object.key();
  contain(key, [&] {
    object.mutable_metadata().erase("managedFields");
    // A server may not know the form that was asked for.
    if (scope_.metadata_only) object = Object(json::object{{"metadata", object.metadata()}});
    // The elements of a list do not name their kind.
    if (object.kind().empty()) object.set_kind(scope_.resource);
    if (scope_.prune) scope_.prune(object.tree());
    previous = store_.put(object);
  });
  if (previous) notify(key, &object, std::move(*previous));
}

bool Informer::drop(const ObjectKey& key, std::uint64_t version) {
  auto previous = store_.remove(key, version);
  if (previous) notify(key, nullptr, std::move(*previous));
  return previous.has_value();
}

void Informer::contain(const ObjectKey& key, const std::function<void()>& foreign) {
  try {
    foreign();
  } catch (const std::exception& error) {
    skipped_.add();
    log_.error("an object was skipped by an exception", {{"object", key}, {"error", error.what()}});
  }
}

void Informer::observe(Object object) {
  if (object.name().empty() || !selector_ || (!scope_.ns.empty() && object.ns() != scope_.ns)) return;
  const ObjectKey key = object.key();
  // What the watch has passed and the store does not hold is gone: a deletion has overtaken the answer to our write.
  const std::uint64_t version = object.version_number();
  if (!store_.contains(key) && version <= version_number(resource_version_)) return;
  newest_ = std::max(newest_, version);
  changed_at_ = std::max(changed_at_, version);
  // Our own write may have taken it out of the selection. If only the server knows, what is known stays until the watch
  // shows it.
  if (selector_->matches(object.tree()))
    keep(std::move(object));
  else if (selector_->excludes(object.tree()))
    drop(key, version);
}

void Informer::observe_gone(const ObjectKey& key, std::string_view uid) {
  if (!store_.contains(key) || store_.uid(key) != uid) return;
  gone_unseen_.insert(key);
  drop(key, 0);
}

Informer::Notifying::~Notifying() {
  if (--informer.notifying_ == 0) informer.readers_.remove_if([](const Reader& reader) { return reader.gone; });
}

void Informer::unsubscribe(Subscription subscription) {
  if (notifying_ == 0) {
    readers_.erase(subscription);
  } else {
    subscription->gone = true;
  }
}

void Informer::notify(const ObjectKey& key, const Object* now, Store::PreviousText previous) {
  account(store_.bytes(), store_.size());
  struct Turn {
    explicit Turn(bool& flag) : is_in_turn(flag) { is_in_turn = true; }
    ~Turn() { is_in_turn = false; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    bool& is_in_turn;
  };
  const auto notify_deferred = [this] {
    while (!deferred_.empty()) {
      DeferredChange next = std::move(deferred_.front());
      deferred_.pop_front();
      notify_readers({next.key, next.now ? &*next.now : nullptr, std::move(next.previous)});
    }
  };
  // A handler that threw something other than a std::exception has left changes of which nobody was notified: they come
  // first.
  if (is_in_turn_ || !deferred_.empty()) {
    deferred_.push_back({key, now ? std::optional(*now) : std::nullopt, std::move(previous)});
    if (is_in_turn_) return;
    const Turn turn(is_in_turn_);
    notify_deferred();
  } else {
    const Turn turn(is_in_turn_);
    notify_readers({key, now, std::move(previous)});
    notify_deferred();
  }
}

void Informer::notify_readers(const Change& change) {
  const Notifying notifying(*this);
  for (const Reader& reader : readers_)
    if (!reader.gone) contain(change.key, [&] { reader.changed(change); });
}

void Informer::notify_present(const Handler& changed) {
  for (const Object& object : objects()) contain(object.key(), [&] { changed({object.key(), &object, {}}); });
}

void Informer::account(std::size_t bytes, std::size_t objects) {
  const auto grown = std::ptrdiff_t(bytes) - std::ptrdiff_t(std::exchange(counted_bytes_, bytes));
  const auto more = std::ptrdiff_t(objects) - std::ptrdiff_t(std::exchange(counted_objects_, objects));
  bytes_.add(double(grown));
  objects_.add(double(more));
  if (budget_) budget_->change(grown, more, scope_.resource.plural, scope_.ns);
}

}  // namespace kube
