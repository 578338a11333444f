// ResourceSlices as commands handle them: made or changed, and waited for until the provider has answered.
#pragma once

#include "model/objects.hpp"
#include "session.hpp"

namespace liqoctl {

/// What ensure_slice() has done.
struct EnsuredSlice {
  Ensured done;
  /// Where a slice was changed: how the provider had answered before, for wait_for_slice(); else "".
  std::string old_answer = {};
  /// It was given to another class: who decides now cannot have answered before.
  bool other_class = false;
};

/// Makes the slice, or gives an existing one what the request names. `keep_others`: resources that are not named stay
/// as they are; otherwise they go. Tells what it did.
asio::awaitable<Result<EnsuredSlice>> ensure_slice(Session& session, Cluster& cluster, model::SliceRequest request,
                                                   bool keep_others);

/// Waits until the provider has answered to the slice as it is now, and tells how. An answer that reads as before, and
/// does not show by itself that it is to the changed slice, is believed only after three seconds, and never of another
/// class that is not Liqo's own. Errors: a denial, with the provider's words; Errc::timeout.
asio::awaitable<Result<void>> wait_for_slice(Session& session, Cluster& cluster, kube::ObjectKey key,
                                             EnsuredSlice done);

/// Waits until the virtual node of that name has its Node, with what its VirtualNode has, and that is Ready. Where
/// `slice` is its name, too, also until the VirtualNode has what that slice was granted.
asio::awaitable<Result<void>> wait_for_node(Session& session, Cluster& cluster, kube::ObjectKey virtual_node,
                                            std::string slice = {});

/// Waits until there is a VirtualNode of the slice, and answers its key: that of the slice's name, if there is one.
asio::awaitable<Result<kube::ObjectKey>> wait_for_virtual_node(Session& session, Cluster& cluster,
                                                               kube::ObjectKey slice);

}  // namespace liqoctl
