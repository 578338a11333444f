// The answers to requests, as slices and nodes show them.
#pragma once

#include <string>
#include <vector>

#include "liqo/api/resource_slice.hpp"

namespace liqoctl::model {

/// Everything in which two answers differ, including the times of the conditions.
std::string answer_text(const liqo::api::ResourceSlice& slice);

/// Whether the grant is the answer to this request. Classes other than the default one may grant other amounts.
bool answers(const liqo::api::ResourceSlice& slice);

/// "; class gold is none of Liqo's: ..." if the class waits for a controller of the provider's own; "" for Liqo's own.
std::string who_decides(std::string_view slice_class);

/// The consumer's slices that are not denied yet, e.g. "bonn, pool"; "" = none. Requests in the name of another cluster
/// do not count, because a provider never denies them.
std::string not_denied(const std::vector<kube::Object>& slices, std::string_view consumer);

/// Of the VirtualNodes that share a slice, the one with its name, which liqod keeps as large as the grant. Without that
/// one, the first; nullptr if there is none.
const kube::Object* node_to_wait_for(const std::vector<kube::Object>& virtual_nodes, std::string_view slice);

/// What is missing until the Node is Ready with the resources of its VirtualNode; "" = nothing. If the VirtualNode has
/// the slice's name, it must also have what the slice was granted. Objects that do not exist are nullptr. Without a
/// slice, no grant is compared.
std::string why_node_is_not_ready(const kube::Object* slice, const kube::Object* virtual_node,
                                  const kube::Object* node);

/// The message of the Node's condition Ready if that is not True; "" if it is, or has no message.
std::string node_message(const kube::Object& node);

}  // namespace liqoctl::model
