// Custom kinds, from the manifests that define them.
#pragma once

#include <string_view>
#include <vector>

#include "kube/base/failure.hpp"
#include "kube/testing/fake/kind.hpp"

namespace kube::testserver {

/// The kinds that the CustomResourceDefinitions (apiextensions.k8s.io/v1) among the documents of a YAML stream define,
/// one for each version that is served. Errors: Errc::parse, and Errc::invalid_input (a definition without names or
/// versions, or none at all).
Result<std::vector<testing::FakeKind>> read_crds(std::string_view yaml);

}  // namespace kube::testserver
