// The parts of a pod that its provider leaves out: the provider notes them on its Pod, and the consumer reports them at
// home. Pure, and the same on both sides.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The most things that are named, and the most bytes of each, because a person reads the list and another cluster
/// writes it.
inline constexpr std::size_t max_left_out = 16;
inline constexpr std::size_t max_left_out_text = 120;

/// The value of the annotation `offloading.liqo.io/left-out`: a JSON array of texts such as "annotation a.b/c", cut to
/// the bounds; "" if nothing was left out, or nothing that is printable.
std::string forge_left_out(std::span<const std::string> things);

/// The things that the annotation names, within the bounds and printable; none if it is no such array.
std::vector<std::string> read_left_out(std::string_view annotation);

/// The name of a consumer's PriorityClass among these things.
std::string left_out_priority_class(std::string_view name);

/// The name of a field that the provider's API server did not store (core/offloading/lost_fields.hpp).
std::string left_out_field(std::string_view path);

/// The names of the consumer's namespaces, which the pod does not look up (core/offloading/home_searches.hpp).
std::string left_out_names();

/// What the provider's Pod lacks of the pod at home: what its annotation names, the PriorityClass if the Pod has none,
/// because some versions of a provider do not note that, and topology keys that no node there has
/// (`unmet_topology_keys`). An annotation that the pod itself reads is not missing: it travels in another way
/// (core/offloading/pod_reads.hpp).
std::vector<std::string> left_out_of(const kube::Object& local, const kube::Object& remote);

/// The sentence of the Event at home.
std::string describe_left_out(std::span<const std::string> things, std::string_view provider);

}  // namespace liqo::core
