// The objects of one kind in one twin namespace, as far as they are known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/reflection/contents.hpp"
#include "controllers/reflection/copies.hpp"
#include "controllers/reflection/namespace_context.hpp"
#include "controllers/reflection/referred_objects.hpp"

namespace liqo::reflector {

/// What is known of an object of a twin namespace.
struct FoundCopy {
  std::string name;      ///< of the object at home of which it is the copy; "" = it is none, or it is not known
  bool is_known = true;  ///< false: it has not been looked at since it was seen to have changed
};

/// Knows UIDs and versions of the objects, and holds the content of those that were listed until it is asked for.
/// Whoever awaits something of it keeps it alive. One thread.
class TwinObjects {
 public:
  /// Of the twin namespace `ns`. `context` outlives it.
  TwinObjects(std::string ns, NamespaceContext& context);

  const std::string& ns() const { return ns_; }
  /// What is known of each of them.
  Copies& copies() { return copies_; }
  const Copies& copies() const { return copies_; }
  /// What the object of this name and UID is.
  FoundCopy identify(const std::string& name, std::string_view uid) const;
  /// Whether none can be a copy but of what every namespace has by itself.
  bool has_constant_copies_alone() const;

  /// Reads all objects anew. Has `referred` keep the copies for a while, of a kind that is reflected only where
  /// something refers to it. Fails also if the provider has more than its budget allows (Errc::too_large).
  asio::awaitable<kube::Result<void>> read(ReferredObjects& referred);
  /// Compares the versions of all objects with those that are known. Returns the names of those that have come, changed
  /// or gone; nothing if what is known is to be read anew. `is_late`: the list is not to come from a cache.
  asio::awaitable<kube::Result<std::optional<std::vector<std::string>>>> compare(bool is_late);
  /// Returns one object, read now unless its content is held; nothing if it is gone, and then it is known no more.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_object(std::string name);

  /// Gives back the content of all objects.
  void drop_texts() { texts_.clear(); }
  /// Forgets all objects.
  void clear();

 private:
  std::string ns_;
  NamespaceContext& context_;
  Copies copies_;
  Contents texts_;
};

}  // namespace liqo::reflector
