// Labels and annotations of pods by which software in a cluster takes orders, by the domains of their keys;
// order_table.hpp has those of other objects.
// Tested by test/unit/core/admission/pod_metadata_test.cpp.
// Tested by test/unit/core/policy/kept_metadata_test.cpp.
#pragma once

#include <string_view>

namespace liqo::core {

/// Whether a label of a pod is of a domain by which meshes, network plugins, clouds or Liqo take orders. Such labels
/// are refused, but for those of is_left_out_label(). The others cannot be left out, because Services, affinities and
/// topology spreading select by the labels of pods.
bool is_reserved_label(std::string_view key);

/// Whether a label of a pod is left out of it, unless the policy lists the key. Others of such domains are refused. It
/// asks what runs in a cluster for nothing ("false", "disabled", "none"), or names a queue of the cluster that it comes
/// from. Nobody selects pods by it.
bool is_left_out_label(std::string_view key, std::string_view value);

/// Whether an annotation is allowed on every pod: its domain has no dot, or is one of those that only describe. All
/// others are left out, because nobody knows what reads them in the provider's cluster.
bool is_common_annotation(std::string_view key);

}  // namespace liqo::core
