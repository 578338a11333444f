// JSON patches (RFC 6902) of the few shapes that admission needs, made on the object as it came: fields of newer
// versions of a kind are never lost.
#pragma once

#include <string>
#include <string_view>

#include "liqo/core/admission/review.hpp"

namespace liqo::core::admission {

/// A pointer (RFC 6901) made of plain keys, e.g. {"metadata", "labels", "liqo.io/type"}.
std::string pointer(std::initializer_list<std::string_view> keys);

/// Appends what sets `metadata.labels[key]`, or nothing where it has that value.
void set_label(json::array& patch, const kube::Object& object, std::string_view key, std::string_view value);

/// Appends what sets one field of the spec; the spec is made where there is none.
void set_spec_field(json::array& patch, const kube::Object& object, std::string_view field, json::value value);

}  // namespace liqo::core::admission
