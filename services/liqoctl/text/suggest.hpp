// "Did you mean" (core/common/nearest.hpp), among the words of this folder.
#pragma once

#include "core/common/nearest.hpp"

namespace liqoctl::text {

using liqo::core::nearest;

}  // namespace liqoctl::text
