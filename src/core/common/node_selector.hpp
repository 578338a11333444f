// Checks core/v1 NodeSelectors and matches them as the Kubernetes scheduler does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"
#include "kube/base/json.hpp"

namespace liqo::core {

/// Whether a term has any requirement. A term selects no node until it gets its first requirement.
bool matches_something(const kube::json::value& term);

/// A valid NodeSelector. Terms are alternatives; within a term everything must hold; a term without any requirement
/// matches nothing.
class NodeSelector {
 public:
  /// Reads and checks `nodeSelectorTerms`; an absent list counts as empty. Errors: Errc::invalid_input with the path of
  /// the first thing that is wrong, and what that is, e.g. "nodeSelectorTerms[0].matchExpressions[1]: ...".
  static kube::Result<NodeSelector> parse(const kube::json::object& selector);

  /// True without terms. matches() is false then; a caller for whom it means every node asks this first.
  bool empty() const { return terms_.empty(); }
  /// Whether a node of that name with these labels is selected.
  bool matches(std::string_view node_name, const kube::json::object& labels) const;
  bool operator==(const NodeSelector&) const = default;

 private:
  enum class Operator { in, not_in, exists, does_not_exist, greater, less };
  struct Requirement {
    std::string key;
    Operator op;
    std::vector<std::string> values;
    std::int64_t bound = 0;  ///< of greater and less
    bool operator==(const Requirement&) const = default;
  };
  struct Term {
    std::vector<Requirement> expressions, fields;
    bool operator==(const Term&) const = default;
  };
  static kube::Result<Requirement> parse_requirement(const kube::json::value& entry, bool field, std::string path);
  static kube::Result<std::vector<Requirement>> parse_requirements(const kube::json::value& term, bool fields,
                                                                   std::string path);
  static bool holds(const Requirement& requirement, const std::string_view* value);

  std::vector<Term> terms_;
};

}  // namespace liqo::core
