// Amounts of resources by name, and the arithmetic that quotas need.
// Tested by test/unit/core/quota/demand_test.cpp.
#pragma once

#include <map>
#include <string>

#include "kube/base/json.hpp"
#include "kube/base/quantity.hpp"

namespace liqo::core {

/// Resource name ("cpu", "memory", "pods", "nvidia.com/gpu", …) to amount.
using Resources = std::map<std::string, kube::Quantity, std::less<>>;

/// Reads a ResourceList. Errors: Errc::invalid_input that names the resource: no quantity, a negative one, or more than
/// 256 resources.
kube::Result<Resources> read_resources(const kube::json::object& list);
/// The list as the API writes it, amounts in canonical form.
kube::json::object write_resources(const Resources& resources);

/// Adds every amount of `more`.
void add(Resources& total, const Resources& more);
/// Takes every amount of `less` away. What reaches zero stays as zero.
void subtract(Resources& total, const Resources& less);
/// Removes resources whose amount is zero.
void drop_zeros(Resources& resources);
/// Raises every amount to that of `other`.
void raise(Resources& resources, const Resources& other);
/// By how much `wanted` is more than `have`.
Resources beyond(const Resources& wanted, const Resources& have);
/// The amount of that name, zero if there is none.
kube::Quantity amount(const Resources& resources, std::string_view name);

}  // namespace liqo::core
