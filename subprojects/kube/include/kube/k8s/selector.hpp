// Label and field selectors, as the API server reads them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/base/json.hpp"

namespace kube {

/// A parsed pair of selectors; everything matches an empty one.
class Selector {
 public:
  /// Errors: Errc::parse for what is not a selector.
  static Result<Selector> parse(std::string_view labels, std::string_view fields);
  /// Whether the object meets both selectors; a field that it does not have counts as the empty string. If this and
  /// excludes() are both false, only a server knows.
  bool matches(const json::object& object) const;
  /// Whether the object shows that a server would not have chosen it. A field that it does not show decides nothing: an
  /// API server works some fields out, takes a default for others, and leaves all but metadata out if it is asked to.
  bool excludes(const json::object& object) const;
  bool empty() const { return labels_.empty() && fields_.empty(); }
  /// The paths that the field selector names, as "spec.nodeName".
  std::vector<std::string_view> field_paths() const;

 private:
  enum class Operator { in, not_in, exists, not_exists, greater, less };
  struct Requirement {
    std::string key;  ///< of fields: the path, joined by dots
    Operator op = Operator::in;
    std::vector<std::string> values;
  };
  static Result<Requirement> parse_comparison(std::string_view term);
  bool matches_labels(const json::object& object) const;
  static bool holds(const Requirement& requirement, const json::value* value);

  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;
};

}  // namespace kube
