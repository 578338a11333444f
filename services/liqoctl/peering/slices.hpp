// Creates and changes ResourceSlices, and waits for the provider's answer.
#pragma once

#include "model/objects.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// The result of ensure_slice().
struct EnsuredSlice {
  Ensured done;
  std::string slice_class;  ///< its class now
  /// The provider's answer before the slice was changed, for wait_for_slice(); "" if the slice was not changed.
  std::string old_answer = {};
  /// The slice was moved to another class, whose controller cannot have answered before.
  bool other_class = false;
  bool wants_node = true;  ///< a virtual node is made for it
};

/// Creates the slice, or changes an existing one to what the request names. Amounts that are not named stay, and so
/// does the class if the request's is "". Whether it has a virtual node stays if the request does not set it. Prints
/// the result.
asio::awaitable<Result<EnsuredSlice>> ensure_slice(Session& session, Cluster& cluster, model::SliceRequest request);

/// Waits until the provider has answered the slice as it is now, and prints the answer. An answer that equals the one
/// before, and does not itself show which request it is to, is believed after three seconds. For a class that is not
/// Liqo's own it is never believed. Errors: a denial, with the provider's message; Errc::timeout.
asio::awaitable<Result<void>> wait_for_slice(Session& session, Cluster& cluster, kube::ObjectKey key,
                                             EnsuredSlice done);

/// Waits until the Node of the virtual node is Ready and has the resources of its VirtualNode. If `slice` has the same
/// name, it also waits until the VirtualNode has what that slice was granted.
asio::awaitable<Result<void>> wait_for_node(Session& session, Cluster& cluster, kube::ObjectKey virtual_node,
                                            std::string slice = {});

/// Waits until the slice has a VirtualNode, and returns the VirtualNode's key. One with the slice's name takes
/// precedence.
asio::awaitable<Result<kube::ObjectKey>> wait_for_virtual_node(Session& session, Cluster& cluster,
                                                               kube::ObjectKey slice);

}  // namespace liqoctl
