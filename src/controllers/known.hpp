// Whether a cache can be asked, of a kind that not every installation has or lets us read.
#pragma once

#include "kube/runtime/informer.hpp"

namespace liqo::controllers {

/// Whether there is nothing to wait for: Informer::is_known(), or the kind is not ours to read.
inline bool is_known_or_forbidden(const kube::Informer& informer) {
  return informer.is_known() || (informer.trouble() && informer.trouble()->is_forbidden());
}

}  // namespace liqo::controllers
