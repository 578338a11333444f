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

namespace liqo::reflector {

/// Knows the versions of the objects that may be reflected, by the watch of their kind or, of a kind that is not
/// watched, by lists; holds the content of those that were listed until it is asked for. Whoever awaits something of it
/// keeps it alive. One thread.
class HomeObjects {
 public:
  /// Of the namespace `ns`. `context` outlives it.
  HomeObjects(std::string ns, NamespaceContext& context);

  const std::string& ns() const { return ns_; }
  /// To which of them something refers.
  ReferredObjects& referred() { return referred_; }
  const ReferredObjects& referred() const { return referred_; }

  /// What is known of an object that may be reflected: its version, 0 where that is not known; nothing where there is
  /// none.
  std::optional<std::uint64_t> version_of(const std::string& name) const;
  /// The names of the objects that may be reflected, of which some may stand there twice, and some have gone.
  std::vector<std::string> names() const;
  /// Whether nothing of the kind is watched in this namespace.
  bool is_watched_empty() const;
  /// Whether one list with content brings no more than what is reflected of those that were listed.
  bool is_better_listed() const;

  /// Lists which versions the objects have, of a kind that is not watched. Returns the names of those that have come,
  /// changed or gone.
  asio::awaitable<kube::Result<std::vector<std::string>>> list();
  /// Whether the object is there and is to be reflected, though the last list says otherwise.
  asio::awaitable<kube::Result<bool>> find_unlisted(std::string name);
  /// Reads the content of all that is to be reflected, as far as it may be held.
  asio::awaitable<kube::Result<void>> read();
  /// Returns one object, read now unless its newest content is held; nothing if it is gone.
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_object(std::string name);

  /// Gives back the content of one object, because nobody is going to ask for it.
  void drop_text(const std::string& name) { texts_.erase(name); }
  /// Gives back the content of all objects.
  void drop_texts() { texts_.clear(); }
  /// Forgets all objects; references stay as they were told.
  void clear();

 private:
  struct Listed {
    std::uint64_t version = 0;
    bool allowed = false;  ///< it is annotated to be reflected
  };

  std::string ns_;
  NamespaceContext& context_;
  ReferredObjects referred_;
  Contents texts_;
  std::map<std::string, Listed> listed_;  ///< of a kind that is not watched: what is there
  std::uint64_t listed_at_ = 0;           ///< the newest version of home by which that is known
};

}  // namespace liqo::reflector
