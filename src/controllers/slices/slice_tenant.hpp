// Finds the Tenant that decides for the slices of a tenant namespace.
#pragma once

#include <optional>
#include <string_view>

#include "controllers/common/is_older.hpp"
#include "kube/runtime/store.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {

/// The oldest Tenant of `peer` in its tenant namespace that is not being deleted.
inline std::optional<kube::Object> tenant_of(const kube::Store& tenants, std::string_view ns, std::string_view peer) {
  return oldest_of(tenants.objects_in(ns), [peer](const kube::Object& tenant) {
    return !tenant.is_deleting() && api::Tenant(tenant).cluster_id() == peer;
  });
}

}  // namespace liqo::controllers
