// Labels that a ShadowPod goes without because an earlier version of its provider refuses them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The labels of a ShadowPod that the words of a refusal name, and that it may go without (is_left_out_label). This
/// version of a provider refuses none of them; it leaves them out of the Pod.
std::vector<std::string> refused_labels(const kube::Object& shadow, std::string_view words);

/// Takes these labels from a ShadowPod that is to be created, also from the list of what reflection has set.
void leave_out_labels(kube::Object& shadow, std::span<const std::string> keys);

/// Takes from the labels that a ShadowPod is to have those of this sort that it was created without.
void keep_left_out(kube::json::object& labels, const kube::Object& shadow);

/// The sentence of the Event at home.
std::string describe_refused_labels(std::span<const std::string> keys, std::string_view provider);

}  // namespace liqo::core
