// ResourceSlices as commands handle them: made or changed, and waited for until the provider has answered.
#pragma once

#include "model/objects.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// What ensure_slice() has done.
struct EnsuredSlice {
  Ensured done;
  std::string slice_class;  ///< that it has now
  /// How the provider had answered before the slice was changed, for wait_for_slice(); "" where it was not changed.
  std::string old_answer = {};
  /// The slice was given to another class, whose controller cannot have answered before.
  bool other_class = false;
  bool wants_node = true;  ///< a virtual node is made of it
};

/// Makes the slice, or changes an existing one to what the request names: amounts that are not named stay, and so do
/// the class where it is "" and, where the request does not say, whether it has a virtual node. Tells what it did.
asio::awaitable<Result<EnsuredSlice>> ensure_slice(Session& session, Cluster& cluster, model::SliceRequest request);

/// Waits until the provider has answered to the slice as it is now, and tells how. An answer that equals the one
/// before, and does not itself show which request it is to, is believed after three seconds; of a class that is not
/// Liqo's own, never. Errors: a denial, with the provider's words; Errc::timeout.
asio::awaitable<Result<void>> wait_for_slice(Session& session, Cluster& cluster, kube::ObjectKey key,
                                             EnsuredSlice done);

/// Waits until the Node of the virtual node is Ready and has what its VirtualNode has. Where `slice` has the same name,
/// also until the VirtualNode has what that slice was granted.
asio::awaitable<Result<void>> wait_for_node(Session& session, Cluster& cluster, kube::ObjectKey virtual_node,
                                            std::string slice = {});

/// Waits until the slice has a VirtualNode, and answers its key: that of the slice's name, if there is one.
asio::awaitable<Result<kube::ObjectKey>> wait_for_virtual_node(Session& session, Cluster& cluster,
                                                               kube::ObjectKey slice);

}  // namespace liqoctl
