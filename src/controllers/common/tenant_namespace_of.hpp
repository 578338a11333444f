// Finds the tenant namespace of a consumer, which may have several.
#pragma once

#include <string>
#include <string_view>

#include "core/namespaces/tenant_index.hpp"
#include "kube/runtime/store.hpp"

namespace liqo::controllers {

/// The name of the tenant namespace of a consumer, "" if there is none. Of several the first by name counts, as in
/// admission: its policy holds. `namespaces` has the index core::tenants_by_cluster.
inline std::string tenant_namespace_of(const kube::Store& namespaces, std::string_view consumer) {
  if (consumer.empty()) return {};
  const auto keys = namespaces.keys(core::tenants_by_cluster, consumer);
  return keys.empty() ? std::string() : keys.front().name;
}

}  // namespace liqo::controllers
