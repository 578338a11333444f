// Evaluates Helm templates as `helm template` does, for the part of the language and of its functions that the chart of
// this project uses. Pure: no files, no environment, no clock, no cluster. Every run is bounded.
// Tested by test/unit/liqoctl/template/template_test.cpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kube/base/json.hpp"
#include "template/syntax.hpp"

namespace liqoctl::chart {

/// A file of the chart, by its path in it ("templates/rbac.yaml").
struct File {
  std::string_view path, text;
};

/// The templates of a chart, which share their definitions. Numbers of the root are floating-point ones, as Helm reads
/// them from files. Printing one is refused (`int64` and `toJson` make the form explicit).
class Engine {
 public:
  /// `files` are those in templates/ (parsed) and those that `.Files.Get` finds. Errors: Errc::parse and
  /// Errc::unsupported, each with "path:line".
  static kube::Result<Engine> read(std::span<const File> files);

  /// The text of one template: that of a file by its path, or one that is defined by name. Errors: Errc::invalid_input,
  /// Errc::too_large, Errc::unsupported, with "path:line". A refusal of the template itself (`fail`, `required`) has
  /// only its own text.
  kube::Result<std::string> render(std::string_view name, const kube::json::object& root) const;

  /// The paths of the files in templates/ that make objects: all but NOTES.txt and those that begin with an underscore.
  std::vector<std::string> objects() const;

 private:
  friend class Evaluation;
  struct Template {
    std::string path;
    Block body;
  };
  std::map<std::string, Template, std::less<>> templates_;
  std::map<std::string, std::string_view, std::less<>> files_;
};

}  // namespace liqoctl::chart
