// One namespace's part of a Reflector's queue.
// Tested by test/unit/controllers/reflection/reflected_namespace_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "controllers/reflection/namespace_context.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Enqueues objects of one namespace, at the pace of their kind. One thread.
class NamespaceQueue {
 public:
  /// The name that stands for all objects of the namespace; no object can have it.
  static constexpr std::string_view all_objects = "*";

  /// `ns`: the namespace at home. `context` and `controller` outlive it.
  NamespaceQueue(std::string ns, const NamespaceContext& context, kube::Controller& controller)
      : ns_(std::move(ns)), context_(context), controller_(controller) {}

  /// Enqueues an object at home once its kind's pace allows it; "" stands for the namespace as a whole.
  void add(std::string name = {}) const;
  /// Enqueues an object, or with "" the namespace as a whole, after a pause, unless it is due earlier.
  void add_after(std::string name, kube::Duration pause) const;
  /// Enqueues the object whose copy has that name, if a copy can have it.
  void add_copy(std::string_view remote_name) const;
  /// How long to wait before the next look at an object, because it was looked at a moment ago; 0 or less: not at all.
  kube::Duration rests_for(const std::string& name) const;
  /// Notes that an object is looked at now, for its pace.
  void note_look(std::string_view name);
  /// Forgets when an object was looked at, because nothing is left of it.
  void forget(const std::string& name) { looked_at_.erase(name); }

 private:
  std::string ns_;
  const NamespaceContext& context_;
  kube::Controller& controller_;
  std::map<std::string, kube::TimePoint> looked_at_;  ///< of a kind with a pace: the last look at each object
};

}  // namespace liqo::controllers
