// Finds what a newer definition of a kind allows and an older one does not. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::model {

/// What the first CustomResourceDefinition allows and the second does not: versions, subresources, fields, types, words
/// of enumerations, and objects that lack a field that the second requires. If the second replaced the first, objects
/// would lose this, or be refused for it. Sorted paths like "v1beta1.spec.class", "v1beta1.spec.cpu as integer" and
/// "v1beta1.spec without class".
std::vector<std::string> lost_between(const kube::json::value& definition, const kube::json::value& other);

}  // namespace liqoctl::model
