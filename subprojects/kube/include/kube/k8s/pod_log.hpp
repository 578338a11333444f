// The log of a container, as an API server is asked for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/k8s/request.hpp"

namespace kube {

/// Options of a log, as in core/v1 PodLogOptions. What is absent is absent: zero lines is not all lines.
struct PodLogOptions {
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines;     ///< >= 0
  std::optional<std::int64_t> limit_bytes;    ///< >= 1
  std::optional<std::int64_t> since_seconds;  ///< >= 1; not together with since_time
  std::string since_time;                     ///< RFC 3339, as sent; "" = none
  std::string stream;                         ///< "", "All", "Stdout" or "Stderr"
  bool operator==(const PodLogOptions&) const = default;
};

/// `container`: "" = the pod's only one.
HttpRequest log_request(const ObjectKey& pod, std::string_view container, const PodLogOptions& options);

}  // namespace kube
