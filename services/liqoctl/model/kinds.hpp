// What a newer definition of a kind takes that an older one does not. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/base/json.hpp"

namespace liqoctl::model {

/// Versions, fields and words of enumerations that the first CustomResourceDefinition takes and the second does not, as
/// paths like "v1beta1.spec.class": what objects would lose were the second put in place of the first. Sorted.
std::vector<std::string> lost_between(const kube::json::value& definition, const kube::json::value& other);

}  // namespace liqoctl::model
