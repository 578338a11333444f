#include "kube/testing/fake/selectors.hpp"

#include <algorithm>
#include <array>

namespace kube::testing {

namespace {

bool is_selectable(std::string_view field) {
  constexpr std::array known{"metadata.name",   "metadata.namespace", "spec.nodeName",
                             "spec.signerName", "status.phase",       "type"};
  return std::ranges::find(known, field) != known.end() || field.starts_with("involvedObject.");
}

}  // namespace

Answer<Selector> parse_selector(std::string_view labels, std::string_view fields) {
  auto selector = Selector::parse(labels, fields);
  if (!selector) return refuse::bad_request(selector.error().text());
  for (std::string_view path : selector->field_paths())
    if (!is_selectable(path)) return refuse::bad_request("field label not supported: " + std::string(path));
  return std::move(*selector);
}

}  // namespace kube::testing
