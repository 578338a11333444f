// What differs between two documents, in lines for people. Pure.
// Tested by test/unit/liqoctl/model/install/differences_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// A line for each field that differs: "spec.replicas: 2 → 3", "args: + --verbose". Texts are compared as a whole; of
/// long ones the place is shown where they begin to differ. Of entries of lists, those of one name are compared.
/// Credentials are not shown.
std::vector<std::string> differences(const kube::json::value& before, const kube::json::value& after);

/// Likewise of an object, without its status and what the API server notes. The content of a Secret is not shown.
std::vector<std::string> differences(const kube::Object& before, const kube::Object& after);

/// What an installation would do to an object.
struct ObjectChange {
  enum class Kind { added, changed, removed };
  Kind kind = Kind::added;
  std::string object;               ///< "Deployment liqo/liqod"
  std::vector<std::string> fields;  ///< of a changed one
};

/// One object a line, behind +, ~ or -, with the fields of changed ones below it.
std::string in_lines(const std::vector<ObjectChange>& changes);
/// "2 objects would be added, 1 changed and 1 removed"; "nothing would change".
std::string count_changes(const std::vector<ObjectChange>& changes);

}  // namespace liqoctl::model
