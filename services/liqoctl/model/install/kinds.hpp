// What a newer definition of a kind takes that an older one does not. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::model {

/// What the first CustomResourceDefinition takes and the second does not: versions, subresources, fields, types, words
/// of enumerations, and objects that lack what the second requires. Sorted paths like "v1beta1.spec.class",
/// "v1beta1.spec.cpu as integer" and "v1beta1.spec without class": what objects would lose, or be refused for, if the
/// second replaced the first.
std::vector<std::string> lost_between(const kube::json::value& definition, const kube::json::value& other);

}  // namespace liqoctl::model
