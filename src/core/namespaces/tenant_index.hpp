// The index of an informer of namespaces by which the tenant namespaces of a consumer are found.
// Tested by test/unit/core/namespaces/belonging_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/namespaces/belonging.hpp"
#include "kube/k8s/object.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {

/// Name of the index; its values are cluster IDs of consumers.
inline constexpr std::string_view tenants_by_cluster = "tenant";

/// The index function: the value of a tenant namespace is its consumer; other namespaces have none.
inline void index_tenant_namespace(const kube::Object& ns, std::vector<std::string>& values) {
  if (is_tenant_namespace(ns)) values.emplace_back(ns.label(api::labels::remote_cluster_id));
}

}  // namespace liqo::core
