#include "controllers/slices/slice_tenant.hpp"

#include <doctest/doctest.h>

#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

struct Made {
  kube::ObjectKey key;
  std::string cluster = "rome";
  std::string created;
  bool is_deleting = false;
};

void add(kube::Store& tenants, const Made& made) {
  kube::Object tenant = kube::Object::make(api::kinds::tenants, made.key);
  tenant.mutable_metadata()["creationTimestamp"] = made.created;
  tenant.mutable_metadata()["resourceVersion"] = std::to_string(tenants.size() + 1);
  if (made.is_deleting) tenant.mutable_metadata()["deletionTimestamp"] = "2024-02-01T00:00:00Z";
  tenant.mutable_spec()["clusterID"] = made.cluster;
  static_cast<void>(tenants.put(tenant));
}

}  // namespace

TEST_CASE("the oldest Tenant of the peer in its tenant namespace that is not being deleted counts") {
  kube::Store tenants;
  const auto counts = [&tenants] {
    const auto found = tenant_of(tenants, "liqo-tenant-rome", "rome");
    return found ? std::string(found->name()) : std::string("none");
  };
  add(tenants, {.key = {"liqo-tenant-turin", "elsewhere"}, .created = "2023-01-01T00:00:00Z"});
  add(tenants, {.key = {"liqo-tenant-rome", "other"}, .cluster = "turin", .created = "2023-01-01T00:00:00Z"});
  add(tenants, {.key = {"liqo-tenant-rome", "ending"}, .created = "2023-01-01T00:00:00Z", .is_deleting = true});
  CHECK(counts() == "none");
  add(tenants, {.key = {"liqo-tenant-rome", "a-second"}, .created = "2024-01-02T00:00:00Z"});
  CHECK(counts() == "a-second");
  add(tenants, {.key = {"liqo-tenant-rome", "z-first"}, .created = "2024-01-01T00:00:00Z"});
  CHECK(counts() == "z-first");
}

}  // namespace liqo::controllers
