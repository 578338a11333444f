// What is remembered of the objects of one namespace from one look at them to the next.
// Tested by test/unit/controllers/reflection/reflected_object_test.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "controllers/common/counters.hpp"
#include "kube/base/time.hpp"

namespace liqo::reflector {

/// Remembered by the name of the object at home, unless it says otherwise.
struct ObjectNotes {
  struct Told {
    kube::TimePoint at{};
    bool lacks = false;
  };
  /// What has come home of a copy last: the digest of it as home has it, and when that was written.
  struct Gathered {
    std::string digest;
    std::optional<kube::TimePoint> at;
    std::optional<kube::TimePoint> told;  ///< when it was told last that it cannot be written
    std::optional<kube::TimePoint> turn;  ///< when the next write at home may be made, which is taken already
    std::size_t turn_bytes = 0;           ///< so many
  };

  std::set<std::string> referring;   ///< objects whose references were told
  std::map<std::string, Told> told;  ///< that copies lack something
  /// Of objects that are never reflected: UID and words, as told.
  std::map<std::string, std::string> disabled;
  /// Objects whose copies go without the notes of controllers of home, because with them they were refused, and whether
  /// that was told.
  std::map<std::string, bool> without_notes;
  std::map<std::string, Gathered> gathered;
  std::map<std::string, std::string> replaced;  ///< UID of what was removed to be made again, by name of the copy
  std::set<std::string> unsure;  ///< copies that were to be made, and it is not known whether they were, by their names
  ReflectionCounters counters;   ///< of all objects

  /// Nothing of an object is left on either side.
  void forget(const std::string& name, const std::string& remote_name) {
    told.erase(name);
    gathered.erase(name);
    disabled.erase(name);
    without_notes.erase(name);
    replaced.erase(remote_name);
    unsure.erase(remote_name);
  }
};

}  // namespace liqo::reflector
