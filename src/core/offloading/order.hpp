// Keeps a ShadowPod whose create request is carried out late from running its pod a second time. Pure.
//
// A request that its client gave up may be carried out much later: it was in a buffer behind a broken link, or in a
// proxy. If the request is the POST of a ShadowPod, and a second POST was carried out meanwhile and its pod ran, ended
// and was removed, the late one would run the pod again. Therefore a ShadowPod notes when it was sent. A ShadowPod that
// was created much later than that, by the clock of the provider's API server, is not run before the consumer has seen
// it and confirmed it by one more write. Clocks that differ by more than `order_lag` cost that write for every pod, and
// do no harm.
// Tested by test/unit/core/offloading/shadow_pod_update_test.cpp.
#pragma once

#include <chrono>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// A ShadowPod that is created within this time after it was sent needs no confirmation.
inline constexpr std::chrono::seconds order_lag{5};
/// This long after the POST no ShadowPod can be created any more that needs no confirmation: `order_lag`, and the time
/// that a database may need to store an object whose creationTimestamp is set already.
inline constexpr std::chrono::seconds order_doubt{15};

/// A ShadowPod that came late and is not confirmed within this time is removed by the provider: it counts against what
/// its consumer was granted, and a consumer that has no pod of the name any more may not look. One that still wants it
/// orders it again.
inline constexpr std::chrono::minutes confirm_patience{5};

/// The provider's own POST of a Pod notes no time of sending. A POST that got no answer is repeated only this long
/// after it was sent, when the connection that carried it has been given up as well.
inline constexpr std::chrono::seconds create_doubt{40};

/// Writes the time of sending into a ShadowPod that is about to be created.
void stamp_order(kube::Object& shadow, kube::WallTime now);
/// Whether the ShadowPod may be run as it is: it was created when it was sent, the consumer has confirmed it, or it
/// bears no time (a consumer of the Go version).
bool is_timely(const kube::Object& shadow);
/// Whether a failed create may still be carried out: no server said that it is refused.
bool may_be_carried_out(const kube::Failure& failure);

}  // namespace liqo::core
