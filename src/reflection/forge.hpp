// What the copies of all kinds have in common.
#pragma once

#include "liqo/reflection/kind.hpp"

namespace liqo::reflection {

/// The copy's apiVersion, kind, name, namespace, labels and annotations.
kube::Object forge_copy(const kube::Resource& resource, const kube::Object& local, std::string remote_name,
                        std::string_view remote_namespace, const core::ForgingContext& ctx);

/// Copies top-level fields that are there and not null.
void copy_fields(const kube::Object& from, kube::Object& to, std::span<const std::string_view> fields);

/// Absent, null and empty say the same.
bool is_same_field(const kube::json::value* left, const kube::json::value* right);

}  // namespace liqo::reflection
