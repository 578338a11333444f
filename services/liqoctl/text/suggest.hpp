// The "did you mean" of core/common/nearest.hpp, under the names of this folder.
#pragma once

#include "core/common/nearest.hpp"

namespace liqoctl::text {

using liqo::core::nearest;

}  // namespace liqoctl::text
