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

namespace liqo::controllers {

/// The identity of an object in a twin namespace.
struct FoundCopy {
  std::string name;      ///< of the object at home whose copy it is; "" = it is no copy, or not known to be one
  bool is_known = true;  ///< false: it has not been looked at since it was seen to have changed
};

/// Knows the UIDs and versions of the objects, and holds the content of listed ones until it is needed. Callers keep it
/// alive while they await it. One thread.
class TwinObjects {
 public:
  /// `ns`: the twin namespace. `context` outlives it.
  TwinObjects(std::string ns, NamespaceContext& context);

  const std::string& ns() const { return ns_; }
  /// What is known of each of them.
  Copies& copies() { return copies_; }
  const Copies& copies() const { return copies_; }
  /// Identifies the object with this name and UID.
  FoundCopy identify(const std::string& name, std::string_view uid) const;
  /// Whether all copies can only be of objects that every namespace has by itself.
  bool has_constant_copies_alone() const;

  /// Reads all objects again. If the kind is reflected only if something refers to it, `referred` keeps the copies for
  /// a while. Fails, among other reasons, if the provider has more than its budget allows (Errc::too_large).
  asio::awaitable<kube::Result<void>> read(ReferredObjects& referred);
  /// Compares the versions of all objects with the known ones. Returns the names of those that were added, changed or
  /// removed; nothing if everything is to be read again. `is_late`: the list must not come from a cache.
  asio::awaitable<kube::Result<std::optional<std::vector<std::string>>>> compare(bool is_late);
  /// Returns one object, read now unless its content is held; nothing if it is gone, in which case it is forgotten.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_object(std::string name);

  /// Drops the content of all objects.
  void drop_texts() { texts_.clear(); }
  /// Forgets all objects.
  void clear();

 private:
  std::string ns_;
  NamespaceContext& context_;
  Copies copies_;
  Contents texts_;
};

}  // namespace liqo::controllers
