#include "controllers/common/tenant_namespace_of.hpp"

#include <doctest/doctest.h>

#include "kube/k8s/resource.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::controllers {
namespace {

void add(kube::Store& namespaces, const std::string& name, std::string_view marked, std::string_view cluster) {
  kube::Object ns = kube::Object::make(kube::resources::namespaces, {"", name});
  ns.mutable_metadata()["resourceVersion"] = std::to_string(namespaces.size() + 1);
  if (!marked.empty()) ns.set_label(api::labels::tenant_namespace, marked);
  if (!cluster.empty()) ns.set_label(api::labels::remote_cluster_id, cluster);
  static_cast<void>(namespaces.put(ns));
}

}  // namespace

TEST_CASE("of several tenant namespaces of a consumer the first by name counts") {
  kube::Store namespaces;
  namespaces.add_index(std::string(core::tenants_by_cluster), core::index_tenant_namespace);
  CHECK(tenant_namespace_of(namespaces, "rome") == "");
  add(namespaces, "shop-rome", "", "rome");
  add(namespaces, "a-former", "false", "rome");
  add(namespaces, "a-nameless", "true", "");
  add(namespaces, "b-turin", "true", "turin");
  CHECK(tenant_namespace_of(namespaces, "rome") == "");
  add(namespaces, "z-rome", "true", "rome");
  CHECK(tenant_namespace_of(namespaces, "rome") == "z-rome");
  add(namespaces, "liqo-tenant-rome", "true", "rome");
  CHECK(tenant_namespace_of(namespaces, "rome") == "liqo-tenant-rome");
  CHECK(tenant_namespace_of(namespaces, "") == "");
}

}  // namespace liqo::controllers
