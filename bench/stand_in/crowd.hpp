// The Pods of a crowded provider in one twin.
#pragma once

#include <optional>
#include <string>

#include "kube/k8s/request.hpp"

namespace liqo::bench {

/// The namespace of "/api/v1/namespaces/<ns>/pods?...", "" for any other target.
std::string namespace_of_pods(std::string_view target);

/// One page of 100,000 Pods of other users, whose names have 253 characters. No value for a request that does not list
/// the Pods of a namespace.
std::optional<std::string> page_of_crowd(const kube::HttpRequest& request);

}  // namespace liqo::bench
