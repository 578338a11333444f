// Workloads of a cluster that count a virtual node in what they are spread over, although their pods may not run there.
// Pure.
// Tested by test/unit/liqoctl/model/check/miscounted_test.cpp.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/k8s/object.hpp"

namespace liqoctl::model {

/// One sentence about the workloads (Deployments, StatefulSets) with what to do; "" if there are none. Those in
/// `offloaded` namespaces are left out, because admission lets their pods onto virtual nodes. So are keys whose value
/// a machine has as well: the virtual node adds no place then.
std::string miscounts_in_words(const std::vector<kube::Object>& workloads, const std::vector<kube::Object>& nodes,
                               const std::set<std::string, std::less<>>& offloaded);

}  // namespace liqoctl::model
