// What a newer definition of a kind takes that an older one does not. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::model {

/// What the first CustomResourceDefinition takes and the second does not: versions, their subresources, fields, types,
/// words of enumerations, and objects without what the second requires. As paths like "v1beta1.spec.class",
/// "v1beta1.spec.cpu as integer" and "v1beta1.spec without class": what objects would lose, or be refused for, were the
/// second put in place of the first. Sorted.
std::vector<std::string> lost_between(const kube::json::value& definition, const kube::json::value& other);

}  // namespace liqoctl::model
