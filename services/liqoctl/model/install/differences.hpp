// Compares two documents, and shows the differences as lines for people. Pure.
// Tested by test/unit/liqoctl/model/install/differences_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// A line for each field that differs: "spec.replicas: 2 → 3", "args: + --verbose". A text is compared as a whole; of a
/// long one the part around the first difference is shown. Entries of lists are compared by their names. Credentials
/// are not shown.
std::vector<std::string> differences(const kube::json::value& before, const kube::json::value& after);

/// A line for each field in which two objects differ, apart from their status and the notes of the API server. The
/// content of a Secret and credentials are not shown.
std::vector<std::string> differences(const kube::Object& before, const kube::Object& after);

/// The change that an installation would make to an object.
struct ObjectChange {
  enum class Kind { added, changed, removed };
  Kind kind = Kind::added;
  std::string object;               ///< "Deployment liqo/liqod"
  std::vector<std::string> fields;  ///< of a changed one
};

/// One line per object, with the prefix +, ~ or -. The fields of a changed one follow below it.
std::string in_lines(const std::vector<ObjectChange>& changes);
/// "2 objects would be added, 1 changed and 1 removed"; "nothing would change".
std::string count_changes(const std::vector<ObjectChange>& changes);

}  // namespace liqoctl::model
