// What slices and nodes show of the answer to what was asked for.
#pragma once

#include <string>
#include <vector>

#include "liqo/api/resource_slice.hpp"

namespace liqoctl::model {

/// Everything that tells two answers apart, with the times of the conditions.
std::string answer_text(const liqo::api::ResourceSlice& slice);

/// Whether the grant is the answer to this request. Classes other than the default one may grant other amounts.
bool answers(const liqo::api::ResourceSlice& slice);

/// "; class gold is none of Liqo's: ..." where a class waits for a controller of the provider's own; "" for Liqo's own.
std::string who_decides(std::string_view slice_class);

/// "bonn, pool": those slices of the consumer that are not denied yet; "" = none. A provider does not look at requests
/// in the name of another cluster, and never denies them.
std::string not_denied(const std::vector<kube::Object>& slices, std::string_view consumer);

/// Of the VirtualNodes that share a slice the one that has its name, which liqod keeps as large as the grant; where
/// there is none, the first of them; nullptr = there is none at all.
const kube::Object* node_to_wait_for(const std::vector<kube::Object>& virtual_nodes, std::string_view slice);

/// What is still missing until the Node is Ready with what its VirtualNode has, and that, where it has the slice's
/// name, has what the slice was granted; "" = nothing. Objects that are not there are nullptr; without a slice, its
/// grant is not looked at.
std::string why_node_is_not_ready(const kube::Object* slice, const kube::Object* virtual_node,
                                  const kube::Object* node);

/// The message of the Node's condition Ready where that is not True, "" where it is or nothing is said.
std::string node_message(const kube::Object& node);

}  // namespace liqoctl::model
