// Selectors as the fake API server takes them from a query.
#pragma once

#include <string_view>

#include "kube/k8s/selector.hpp"
#include "kube/testing/fake/status.hpp"

namespace kube::testing {

/// Errors: 400 for what cannot be parsed, and for fields other than metadata.name, metadata.namespace, spec.nodeName,
/// spec.signerName, status.phase, type and involvedObject.*.
Answer<Selector> parse_selector(std::string_view labels, std::string_view fields);

}  // namespace kube::testing
