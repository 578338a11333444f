// Ages as people read them.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/time.hpp"

namespace liqoctl::text {

/// A duration as kubectl shows ages: "21s", "5m3s", "12m", "3h20m", "4d".
std::string age(kube::Duration passed);
/// The age of something that was created at an RFC 3339 time; "<unknown>" if that cannot be read.
std::string age_of(std::string_view created, kube::WallTime now);

}  // namespace liqoctl::text
