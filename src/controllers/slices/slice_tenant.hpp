// Which Tenant decides for the slices of a tenant namespace.
#pragma once

#include <optional>
#include <string_view>

#include "controllers/is_older.hpp"
#include "kube/runtime/informer.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::controllers {

/// The oldest Tenant of `peer` in its tenant namespace that is not being deleted.
inline std::optional<kube::Object> tenant_of(const kube::Informer& tenants, std::string_view ns,
                                             std::string_view peer) {
  std::optional<kube::Object> oldest;
  for (kube::Object& tenant : tenants.objects_in(ns)) {
    if (tenant.is_deleting() || api::Tenant(tenant).cluster_id() != peer) continue;
    if (!oldest || is_older(tenant, *oldest)) oldest = std::move(tenant);
  }
  return oldest;
}

}  // namespace liqo::controllers
