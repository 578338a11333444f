// The name look-ups of a Pod at a provider: with the names that namespaces have at the home of the pod.
// Tested by test/unit/core/offloading/home_searches_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include "kube/base/json.hpp"

namespace liqo::core {

/// The `ndots` that lets names such as `_http._tcp.db.shop.svc.cluster.local` be searched first. Each search is one
/// query more for A and one for AAAA.
inline constexpr int home_ndots = 7;

/// Adds the two search domains of a consumer's names to the pod's spec (core/common/home_names.hpp), and `ndots` if
/// the pod sets none. Only a pod that asks the cluster's name server gets them: with dnsPolicy ClusterFirst or none,
/// and not on the network of its node. Returns what is left out (core/offloading/left_out.hpp) if the pod has so many
/// or so long search domains that Kubernetes would not take all; "" otherwise.
std::string add_home_searches(kube::json::object& pod_spec, std::string_view ns, std::string_view consumer);

}  // namespace liqo::core
