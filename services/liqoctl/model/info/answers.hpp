// What slices and nodes show of the answer to what was asked for.
#pragma once

#include <string>
#include <vector>

#include "liqo/api/resource_slice.hpp"

namespace liqoctl::model {

/// All by which two answers differ, including the times of the conditions.
std::string answer_text(const liqo::api::ResourceSlice& slice);

/// Whether the grant is the answer to this request. Classes other than the default one may grant other amounts.
bool answers(const liqo::api::ResourceSlice& slice);

/// "; class gold is none of Liqo's: ..." where a class waits for a controller of the provider's own; "" for Liqo's own.
std::string who_decides(std::string_view slice_class);

/// The consumer's slices that are not denied yet, e.g. "bonn, pool"; "" = none. Requests in the name of another cluster
/// do not count, because a provider never denies them.
std::string not_denied(const std::vector<kube::Object>& slices, std::string_view consumer);

/// Of the VirtualNodes that share a slice, the one of its name, which liqod keeps as large as the grant; else the
/// first; nullptr where there is none.
const kube::Object* node_to_wait_for(const std::vector<kube::Object>& virtual_nodes, std::string_view slice);

/// What is missing until the Node is Ready with what its VirtualNode has, and, where the VirtualNode has the slice's
/// name, with what the slice was granted; "" = nothing. Objects that are not there are nullptr. Without a slice, no
/// grant is looked at.
std::string why_node_is_not_ready(const kube::Object* slice, const kube::Object* virtual_node,
                                  const kube::Object* node);

/// The message of the Node's condition Ready where that is not True, "" where it is or nothing is said.
std::string node_message(const kube::Object& node);

}  // namespace liqoctl::model
