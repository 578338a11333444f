// How late a server may still carry out a request.
#pragma once

#include "kube/base/time.hpp"

namespace liqo::core {

/// How long after its sending a request that got no answer may still be carried out: an API server gives up after a
/// minute, and some time goes by on the way. Orders, which bear the time of their sending, have a shorter one
/// (offloading/order.hpp).
inline constexpr kube::Duration late_after = std::chrono::seconds(75);

}  // namespace liqo::core
