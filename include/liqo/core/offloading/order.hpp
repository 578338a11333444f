// A fence against orders that arrive late. Pure.
//
// A request whose client gave up may be carried out long after: it lay in a buffer behind a broken link, or in a proxy.
// If that is the POST of a ShadowPod, and a second try was carried out meanwhile, ran, ended and was removed, the late
// one would run the pod a second time. So a ShadowPod says when it was sent. One that was created much later than that
// (by the clock of the provider's API server) is not run before the consumer has seen it and said, by one more write,
// that it still wants it. Clocks that disagree by more than `order_lag` cost that write for every pod, and no harm.
#pragma once

#include <chrono>

#include "kube/base/time.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// An order that is carried out within this time of its sending needs no second word.
inline constexpr std::chrono::seconds order_lag{5};
/// After this time no order without a second word can come into being any more: the lag, and what a database may need
/// to store an object that its API server has stamped already.
inline constexpr std::chrono::seconds order_doubt{15};

/// The provider's own POST of a Pod bears no such time: nobody would look at it. One that got no answer in time is not
/// repeated before so long after it was sent: then the connection that carried it has been given up as well.
inline constexpr std::chrono::seconds create_doubt{40};

/// Writes the time of sending into a ShadowPod that is about to be created.
void stamp_order(kube::Object& shadow, kube::WallTime now);
/// Whether the ShadowPod may be run as it is: it was created when it was sent, the consumer has confirmed it, or it
/// bears no time (a consumer of the Go version).
bool is_timely(const kube::Object& shadow);
/// Whether a failed create may still be carried out: no server said that it is refused.
bool may_be_carried_out(const kube::Failure& failure);

}  // namespace liqo::core
