// What the copies of all kinds have in common.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "liqo/reflection/kind.hpp"

namespace liqo::reflection {

/// The apiVersion, kind, labels and annotations of the copy of that key.
kube::Object forge_copy(const kube::Resource& resource, const kube::Object& local, const kube::ObjectKey& key,
                        const core::ForgingContext& ctx);

/// Copies fields that are there and not null.
void copy_fields(const kube::json::object& from, kube::json::object& to, std::span<const std::string_view> fields);

/// Whether all entries that are wanted are there with these values.
bool covers(const kube::json::object& have, const kube::json::object& wanted);

/// How a ConfigMap or a Secret stands to what is wanted of the maps of these names and of `immutable`. Where the copy
/// is immutable it is replaced. Keys that others add are no difference: an apply does not take them away.
Comparison compare_data(const kube::Object& live, const kube::Object& wanted, std::span<const std::string_view> maps);

/// A merge patch without the keys that others have added to these maps; empty = there are none, or the copy is
/// immutable.
kube::json::object surplus_data(const kube::Object& live, const kube::Object& wanted,
                                std::span<const std::string_view> maps);

/// Whether the copy is what was applied for this very wish, but for what others changed of it since.
bool is_applied(const kube::Object& live, const kube::Object& wanted);

}  // namespace liqo::reflection
