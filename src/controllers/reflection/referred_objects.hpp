// To which objects of a namespace something refers, of a kind that is reflected only then.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/reflection/namespace_context.hpp"

namespace liqo::reflector {

/// Knows which objects of one namespace are wanted because something refers to them, and which copies stay for a while
/// though nothing does any more. Of a kind that is reflected without references it stays empty. One thread.
class ReferredObjects {
 public:
  /// How long a copy stays when nothing refers to its object any more.
  static constexpr kube::Duration grace = std::chrono::minutes(5);

  /// `context` outlives it.
  explicit ReferredObjects(const NamespaceContext& context) : context_(context) {}

  /// Whether objects are reflected to which nothing refers.
  bool takes_all() const;
  /// Whether something refers to an object, or has done so within the grace.
  bool contains(const std::string& name) const;
  /// Whether no object is known to which something refers, or has referred.
  bool empty() const { return referred_.empty(); }
  /// The names of these objects, in their order.
  std::vector<std::string> names() const;
  /// How long an object to which nothing refers any more still counts as referred to; nothing = something refers to it,
  /// or the grace is over.
  std::optional<kube::Duration> grace_left(const std::string& name) const;

  /// Notes whether all objects are wanted. Answers whether that is a change.
  bool want_all(bool all) { return std::exchange(all_wanted_, all) != all; }
  /// Notes that something refers to an object. Answers whether nothing did before.
  bool add(const std::string& name);
  /// Notes that something refers to these objects and to no other. Answers those for which the grace begins now.
  std::vector<std::string> leave(const std::set<std::string>& names);
  /// Forgets an object that has gone.
  void erase(const std::string& name) { referred_.erase(name); }

  /// Has the copy of an object stay for the grace, whatever refers to it. That does not make the object wanted: it may
  /// be a provider's word, by which nothing is read at home, or written.
  void keep(std::string name);
  /// Forgets what keep() was told.
  void forget_kept() { kept_.clear(); }
  /// How long a copy stays though nothing is known to refer to its object; nothing = it may go.
  std::optional<kube::Duration> stays_for(const std::string& name) const;

 private:
  const NamespaceContext& context_;
  /// Until when an object counts as referred to; nothing = something refers to it now.
  std::map<std::string, std::optional<kube::TimePoint>> referred_;
  bool all_wanted_ = false;                      ///< every object is, whether anything refers to it or not
  std::map<std::string, kube::TimePoint> kept_;  ///< until when a copy stays, by the name of its object
};

}  // namespace liqo::reflector
