// Whether the cache of a kind that may be missing, or forbidden to us, can be used.
#pragma once

#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// True if there is nothing to wait for: Informer::is_known(), or this process may not read the kind.
inline bool is_known_or_forbidden(const kube::Informer& informer) {
  return informer.is_known() || (informer.trouble() && informer.trouble()->is_forbidden());
}

}  // namespace liqo::controllers
