// Which objects of a namespace have narrowed copies, and when their whole copies are tried again.
// Tested by test/unit/controllers/reflection/narrowed_copies_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controllers/reflection/object_notes.hpp"
#include "core/reflection/kind.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Keeps in `ObjectNotes::narrowed` what a provider has refused of objects that may be copied without it. A whole copy
/// is tried again after a pause that grows from a minute to an hour, and when it has changed, but not within ten
/// seconds unless nothing of what was refused is left in it. A try that is refused changes nothing at the provider. It
/// lives as long as one look at an object. One thread.
class NarrowedCopies {
 public:
  NarrowedCopies(ObjectNotes& notes, const core::reflection::ReflectedKind& kind) : notes_(notes), kind_(kind) {}

  /// What `name` is copied without now; null = it is copied whole, or tried so. `whole`: its whole copy.
  const core::reflection::RefusedParts* refused_of(const std::string& name, const kube::Object& whole,
                                                   kube::TimePoint now) const;
  /// Whether the pause of a narrowed object is over.
  bool is_due(const std::string& name, kube::TimePoint now) const;
  /// The Outcome, and for a narrowed object the end of its pause if nothing else is due before.
  kube::Outcome with_next_try(const std::string& name, kube::Outcome outcome, kube::TimePoint now) const;
  /// Takes a refusal of `copy`. Returns whether another copy of `local` is to be sent at once.
  bool see_refused(const kube::Object& local, const kube::Object& copy, std::string_view words, kube::TimePoint now);
  /// Takes that `copy` of an object of that name was stored. Returns what to report of it: once that it lacks
  /// `refused`; null = nothing.
  const core::reflection::RefusedParts* see_stored(const std::string& name, const kube::Object& copy);

 private:
  const ObjectNotes::Narrowed* find(const std::string& name) const;

  ObjectNotes& notes_;
  const core::reflection::ReflectedKind& kind_;
};

}  // namespace liqo::controllers
