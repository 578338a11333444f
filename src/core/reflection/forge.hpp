// The parts that the copies of all kinds have in common.
// Tested by test/unit/core/reflection/contract_test.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/reflection/kind.hpp"

namespace liqo::core::reflection {

/// The apiVersion, kind, labels and annotations of the copy of that key.
kube::Object forge_copy(const kube::Resource& resource, const kube::Object& local, const kube::ObjectKey& key,
                        const core::ForgingContext& ctx);

/// Copies fields that are there and not null.
void copy_fields(const kube::json::object& from, kube::json::object& to, std::span<const std::string_view> fields);

/// Compares the maps of these names and `immutable` of a ConfigMap or Secret with the wanted ones. An immutable copy
/// that differs is replaced. Keys that others added to a mutable copy are no difference, because an apply does not
/// remove them.
Comparison compare_data(const kube::Object& live, const kube::Object& wanted, std::span<const std::string_view> maps);

/// A merge patch without the keys that others have added to these maps; empty = there are none, or the copy is
/// immutable.
kube::json::object surplus_data(const kube::Object& live, const kube::Object& wanted,
                                std::span<const std::string_view> maps);

/// Whether the copy was applied for exactly this wish; changes of others since then do not count.
bool is_applied(const kube::Object& live, const kube::Object& wanted);

}  // namespace liqo::core::reflection
