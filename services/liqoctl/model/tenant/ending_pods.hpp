// The Pods of a consumer that a drain is ending at its provider. Pure.
// Tested by test/unit/liqoctl/model/tenant/ending_pods_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// Selects the Pods of a consumer here, or those of one of its slices; `slice` "" = all.
std::string pods_of_consumer(std::string_view consumer, std::string_view slice);

/// "the drain has begun to end 3 pods: they are not kept, and start anew", for the user who ends the drain; "" if none
/// is ending.
std::string ending_in_words(const std::vector<kube::Object>& pods);

}  // namespace liqoctl::model
