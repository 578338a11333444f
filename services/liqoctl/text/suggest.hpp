// "Did you mean" (core/nearest.hpp), among the words of this folder.
#pragma once

#include "core/nearest.hpp"

namespace liqoctl::text {

using liqo::core::nearest;

}  // namespace liqoctl::text
