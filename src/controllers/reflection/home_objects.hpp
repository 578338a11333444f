// The objects of one kind in one namespace at home, as far as they are known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/reflection/contents.hpp"
#include "controllers/reflection/namespace_context.hpp"
#include "controllers/reflection/referred_objects.hpp"

namespace liqo::controllers {

/// Knows the versions of the objects that may be reflected, from the watch of their kind or, if the kind is not
/// watched, from lists. Holds the content of listed objects until it is needed. Callers keep it alive while they await
/// it. One thread.
class HomeObjects {
 public:
  /// `ns`: the namespace at home. `context` outlives it.
  HomeObjects(std::string ns, NamespaceContext& context);

  const std::string& ns() const { return ns_; }
  /// The objects to which something refers.
  ReferredObjects& referred() { return referred_; }
  const ReferredObjects& referred() const { return referred_; }

  /// The version of an object that may be reflected, 0 if it is not known; nothing if there is no such object.
  std::optional<std::uint64_t> version_of(const std::string& name) const;
  /// The names of the objects that may be reflected. Some may occur twice, and some may be gone.
  std::vector<std::string> names() const;
  /// Whether the kind is watched, and has no object in this namespace.
  bool is_watched_empty() const;
  /// Whether a list with content would read nothing that is not reflected.
  bool is_better_listed() const;

  /// Lists the versions of the objects, of a kind that is not watched. Returns the names of those that were added,
  /// changed or removed.
  asio::awaitable<kube::Result<std::vector<std::string>>> list();
  /// Whether the object exists and is to be reflected, although the last list did not have it.
  asio::awaitable<kube::Result<bool>> find_unlisted(std::string name);
  /// Reads the content of all objects that are to be reflected, as far as it may be held.
  asio::awaitable<kube::Result<void>> read();
  /// Returns one object, read now unless its newest content is held; nothing if it is gone.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_object(std::string name);

  /// Drops the content of one object that is not needed any more.
  void drop_text(const std::string& name) { texts_.erase(name); }
  /// Drops the content of all objects.
  void drop_texts() { texts_.clear(); }
  /// Forgets all objects, but not the references to them.
  void clear();

 private:
  struct Listed {
    std::uint64_t version = 0;
    bool allowed = false;  ///< it is annotated to be reflected
  };

  /// Notes that an object exists that the last list may not have had: if it goes before the next list, that shows it.
  void note_found(const kube::Object& object);

  std::string ns_;
  NamespaceContext& context_;
  ReferredObjects referred_;
  Contents texts_;
  std::map<std::string, Listed> listed_;  ///< of a kind that is not watched: the objects that exist
  std::uint64_t listed_at_ = 0;           ///< the version of the newest list
};

}  // namespace liqo::controllers
