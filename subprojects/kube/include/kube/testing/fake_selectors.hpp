// Label and field selectors as the API server reads them from a query.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/testing/fake_status.hpp"

namespace kube::testing {

/// A parsed pair of selectors; everything matches an empty one.
class FakeSelector {
 public:
  /// Errors: 400 for what cannot be parsed, and for fields other than metadata.name, metadata.namespace,
  /// spec.nodeName, status.phase, type and involvedObject.*.
  static Answer<FakeSelector> parse(std::string_view labels, std::string_view fields);
  bool matches(const json::object& object) const;
  bool empty() const { return labels_.empty() && fields_.empty(); }

 private:
  enum class Operator { in, not_in, exists, not_exists };
  struct Requirement {
    std::string key;  ///< of fields: the path, joined by dots
    Operator op;
    std::vector<std::string> values;
  };
  static bool holds(const Requirement& requirement, const json::value* value);

  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;
};

}  // namespace kube::testing
