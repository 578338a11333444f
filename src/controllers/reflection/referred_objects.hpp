// Tracks references to the objects of a namespace, of a kind that is reflected only if something refers to it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/reflection/namespace_context.hpp"

namespace liqo::controllers {

/// Knows which objects of one namespace are wanted because something refers to them, and which copies stay for a while
/// although nothing does any more. It stays empty for a kind that is reflected without references. One thread.
class ReferredObjects {
 public:
  /// How long a copy stays when nothing refers to its object any more.
  static constexpr kube::Duration grace = std::chrono::minutes(5);

  /// `context` outlives it.
  explicit ReferredObjects(const NamespaceContext& context) : context_(context) {}

  /// Whether objects without references are reflected, too.
  bool takes_all() const;
  /// Whether something refers to an object, or did so within the grace period.
  bool contains(const std::string& name) const;
  /// Whether no object is referred to, or was within the grace period.
  bool empty() const { return referred_.empty(); }
  /// The names of these objects, sorted.
  std::vector<std::string> names() const;
  /// How long an object to which nothing refers any more still counts as referred to; nothing = something refers to it,
  /// or the grace is over.
  std::optional<kube::Duration> grace_left(const std::string& name) const;

  /// Notes whether all objects are wanted. Returns whether that is a change.
  bool want_all(bool all) { return std::exchange(all_wanted_, all) != all; }
  /// Notes that something refers to an object. Returns whether nothing did before.
  bool add(const std::string& name);
  /// Notes that something refers to these objects and to no other. Returns those for which the grace begins now.
  std::vector<std::string> leave(const std::set<std::string>& names);
  /// Notes which objects pods name themselves. Returns those of which this is a change.
  std::vector<std::string> name_by_pods(std::set<std::string> names);
  /// Whether a pod names the object now: for this there is no grace period.
  bool is_named_by_pod(const std::string& name) const { return named_.contains(name); }
  /// Forgets an object that has gone.
  void erase(const std::string& name) { referred_.erase(name); }

  /// Lets the copy of an object stay for the grace period, whether or not something refers to it. That does not make
  /// the object wanted: the name may come from the provider, and nothing may be read or written at home because of it.
  void keep(std::string name);
  /// Forgets all calls of keep().
  void forget_kept() { kept_.clear(); }
  /// How long a copy stays although nothing is known to refer to its object; nothing = it may be removed.
  std::optional<kube::Duration> stays_for(const std::string& name) const;
  /// The same for a copy without a grace period: it stays only until all references are known.
  std::optional<kube::Duration> stays_unknown() const;

 private:
  const NamespaceContext& context_;
  /// Until when an object counts as referred to; nothing = something refers to it now.
  std::map<std::string, std::optional<kube::TimePoint>> referred_;
  std::set<std::string> named_;                  ///< by pods
  bool all_wanted_ = false;                      ///< every object is wanted, whether anything refers to it or not
  std::map<std::string, kube::TimePoint> kept_;  ///< until when a copy stays, by the name of its object
};

}  // namespace liqo::controllers
