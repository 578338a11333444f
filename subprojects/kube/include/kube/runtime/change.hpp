// The change that readers of a cache are notified of: one object came, became another, or went.
// Tested by test/runtime/informer_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "kube/k8s/object.hpp"

namespace kube {

/// One change of the object under a key. It lives as long as the call of the handler that gets it: what is needed later
/// is copied, or looked up again. A handler that needs the key alone may take an ObjectKey.
class Change {
 public:
  const ObjectKey& key;
  /// What the cache has now; null if the object is gone.
  const Object* now;

  Change(const ObjectKey& of, const Object* object, std::string previous_text)
      : key(of), now(object), previous_text_(std::move(previous_text)) {}
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  /// What the cache had before; null if there was nothing. It is parsed at the first call.
  const Object* previous() const {
    if (!previous_text_.empty()) {
      if (auto object = Object::parse(std::exchange(previous_text_, {}))) previous_ = std::move(*object);
    }
    return previous_ ? &*previous_ : nullptr;
  }
  /// Whether `view` gives another value for the object now than for the object before. An object that came or went
  /// counts as changed.
  template <typename View>
  bool changes(const View& view) const {
    const Object* before = previous();
    if (!now || !before) return now != before;
    return view(*now) != view(*before);
  }

  operator const ObjectKey&() const { return key; }  // NOLINT(google-explicit-constructor): see above

 private:
  mutable std::string previous_text_;
  mutable std::optional<Object> previous_;
};

}  // namespace kube
