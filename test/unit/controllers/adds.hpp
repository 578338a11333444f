// Counts the keys that a controller was given, by its metrics.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/text.hpp"

namespace liqo::testing {

/// The number of keys that the controller of that name was given so far; `metrics`: the text that is scraped.
inline double adds(const std::string& metrics, const std::string& controller) {
  for (const std::string_view line : kube::split(metrics, '\n'))
    if (line.starts_with("workqueue_adds_total{") && line.contains('"' + controller + '"'))
      return std::stod(std::string(line.substr(line.rfind(' '))));
  return 0;
}

}  // namespace liqo::testing
