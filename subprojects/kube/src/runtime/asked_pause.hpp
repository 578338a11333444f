// How long a server asks to be left alone.
#pragma once

#include "kube/base/failure.hpp"
#include "kube/base/time.hpp"

namespace kube {

/// What the server's answer says (Retry-After); zero if it says nothing, or if there was no answer.
inline Duration asked_pause(const Failure& failure) {
  const Status* status = failure.status();
  return status && status->retry_after ? Duration(*status->retry_after) : Duration::zero();
}

}  // namespace kube
