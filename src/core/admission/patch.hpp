// JSON patches (RFC 6902) that admission answers with. They are made from the object as it was sent, so that fields of
// newer versions of a kind are not lost.
#pragma once

#include <string>
#include <string_view>

#include "core/admission/review.hpp"

namespace liqo::core::admission {

/// A pointer (RFC 6901) made of plain keys, e.g. {"metadata", "labels", "liqo.io/type"}.
std::string pointer(std::initializer_list<std::string_view> keys);

/// Appends the operation that sets `metadata.labels[key]`; nothing if the label has that value.
void set_label(json::array& patch, const kube::Object& object, std::string_view key, std::string_view value);

/// Appends the operation that sets one field of the spec; if there is no spec, it adds one with that field.
void set_spec_field(json::array& patch, const kube::Object& object, std::string_view field, json::value value);

}  // namespace liqo::core::admission
