// What several rooms of core ask of JSON values.
#pragma once

#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core {

/// Null, and an object, a list or a text with nothing in it: a field with such a value says no more than an absent one.
bool is_empty(const kube::json::value& value);

/// The object in that member, to be changed; null where there is none.
kube::json::object* object_in(kube::json::object& parent, std::string_view key);

}  // namespace liqo::core
