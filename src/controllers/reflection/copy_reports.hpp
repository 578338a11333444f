// Reports at home what a copy does in another way than its object, as the provider stores it.
// Tested by test/unit/controllers/reflection/copy_reports_test.cpp.
#pragma once

#include <string>

#include "controllers/reflection/namespace_context.hpp"
#include "controllers/reflection/object_notes.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

/// Reports each note on a copy once, and again only after it has not held for a while. A copy that waits for an address
/// is looked at once more after `core::reflection::address_patience`, and it is reported if it waits still. It lives as
/// long as one look at an object. One thread.
class CopyReports {
 public:
  CopyReports(ObjectNotes& notes, NamespaceContext& context) : notes_(notes), context_(context) {}

  /// Takes the object at home of that name, and reports what its copy lacks; null = it is to have none.
  void see_wish(const std::string& name, const kube::Object* local);
  /// Takes the copy of `local` as the provider has it now.
  void see(const kube::Object& local, const kube::Object& copy);
  /// Whether an object is to be looked at because its copy has waited for an address for long. True once: the look
  /// begins.
  bool begin_if_due(const std::string& name);
  /// The Outcome of a look, and for a copy that waits the end of its patience if nothing else is due before.
  kube::Outcome with_next_look(const std::string& name, kube::Outcome outcome) const;

 private:
  void see_notes(const kube::Object& local, const kube::Object& copy);
  void see_waiting(const kube::Object& local, const kube::Object& copy);
  bool is_due(const ObjectNotes::CopyReported& known) const;

  ObjectNotes& notes_;
  NamespaceContext& context_;
};

}  // namespace liqo::controllers
