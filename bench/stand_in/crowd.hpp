// The objects that a crowded provider shows in one twin.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/request.hpp"

namespace liqo::bench {

/// The namespace of "/api/v1/namespaces/<ns>/pods?...", "" of anything else.
std::string namespace_of_pods(std::string_view target);

/// One page of 100,000 Pods of other people, whose names have 253 characters. Nothing for a request that does not list
/// the Pods of a namespace.
std::optional<std::string> page_of_crowd(const kube::HttpRequest& request);

}  // namespace liqo::bench
