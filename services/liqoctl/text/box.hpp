// Sections as `liqoctl info` shows them: a ruled title, lines, aligned fields, and nested sections.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace liqoctl::text {

struct Section {
  std::string title;
  std::vector<std::string> lines;                           ///< shown first, unchanged
  std::vector<std::pair<std::string, std::string>> fields;  ///< then "key:    value", values in one column
  std::vector<Section> sections;                            ///< then these, two columns further in
};

/// A rule is 64 columns wide at the outermost level and ends one column earlier at each level inside.
std::string render(const Section& section, std::size_t level = 0);

}  // namespace liqoctl::text
