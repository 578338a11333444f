// Whether a request that has failed is sent once more. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "kube/base/time.hpp"

namespace kube::net {

/// What a sending that has failed may have done.
enum class Loss : std::uint8_t {
  unseen,   ///< nothing: the server has not looked at the request
  unknown,  ///< anything: the connection broke before an answer
  final     ///< what another sending would do, too
};

/// The sendings of one request so far.
struct Sendings {
  int count = 1;
  bool is_repeatable = false;  ///< HttpRequest::repeatable
  bool was_repeated = false;   ///< after a loss that is unknown
};

/// The pause before the request is sent once more; nothing if it is given up. What the server has not looked at is sent
/// again whatever it is, up to six times; what it may have carried out, once, and only if it is repeatable.
std::optional<Duration> plan_repeat(Loss loss, const Sendings& sendings);

}  // namespace kube::net
