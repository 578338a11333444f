// How late a server may still do what it was asked for.
#pragma once

#include "kube/base/time.hpp"

namespace liqo::core {

/// This long after a request was sent that got no answer, it may still be carried out: an API server gives up after a
/// minute, and some time goes by on the way. Orders, which bear the time of their sending, have a shorter one
/// (offloading/order.hpp).
inline constexpr kube::Duration late_after = std::chrono::seconds(75);

}  // namespace liqo::core
