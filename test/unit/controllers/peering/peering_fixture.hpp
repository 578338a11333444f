// A provider that is peered with a consumer over a fake API server, for tests of the handshake's controllers.
#pragma once

#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/csr.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/handshake.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/tenant.hpp"

namespace liqo::testing {

inline core::PrivateKey key_of(char seed) {
  return *core::PrivateKey::make_ed25519(
      [seed](std::size_t size) -> kube::Result<std::string> { return std::string(size, seed); });
}

/// A provider named milan with the tenant namespace of consumer rome.
struct PeeringProvider : ClusterFixture {
  PeeringProvider() : ClusterFixture("milan") {
    apply(kube::resources::namespaces, core::forge_tenant_namespace("rome"));
    apply(kube::resources::secrets, core::forge_nonce_secret(ns, "rome"));
  }
  ~PeeringProvider() { stop(); }

  std::string nonce() {
    const kube::ObjectKey secret{ns, "liqo-nonce"};
    REQUIRE(
        reaches([&] { return core::is_nonce(core::secret_bytes(*find(kube::resources::secrets, secret), "nonce")); }));
    return core::secret_bytes(*find(kube::resources::secrets, secret), "nonce");
  }
  kube::Object make_tenant() {
    return *core::forge_tenant({.consumer = "rome", .signature = *rome.sign(nonce())}, rome);
  }
  kube::Object tenant() { return *find(api::kinds::tenants, tenant_key); }
  api::AuthParams params() { return *api::read_auth_params(api::Tenant(*keep(tenant())).auth_params()); }
  bool is_admitted() {
    const auto live = find(api::kinds::tenants, tenant_key);
    return live && !api::Tenant(*live).auth_params().empty();
  }
  void admit() {
    apply(api::kinds::tenants, make_tenant());
    REQUIRE(reaches([&] { return is_admitted(); }));
    pass(std::chrono::seconds(1));
  }
  void set_condition(std::string_view condition) {
    change(api::kinds::tenants, tenant_key, "",
           [&](json::object& next) { kube::ensure_object(next, "spec")["tenantCondition"] = json::string(condition); });
  }
  void add_slice(std::string_view name) {
    kube::Object slice = kube::Object::make(api::kinds::resource_slices, {ns, std::string(name)});
    slice.set_label(api::labels::replicated, "true");
    slice.set_label(api::labels::replication_origin, "rome");
    slice.mutable_spec()["consumerClusterID"] = "rome";
    apply(api::kinds::resource_slices, slice);
  }
  void add_shadow_pod() {
    kube::Object twin = kube::Object::make(kube::resources::namespaces, {"", "shop-rome"});
    twin.set_label(api::labels::remote_cluster_id, "rome");
    apply(kube::resources::namespaces, twin);
    kube::Object other = kube::Object::make(kube::resources::namespaces, {"", "shop-paris"});
    other.set_label(api::labels::remote_cluster_id, "paris");
    apply(kube::resources::namespaces, other);
    for (const char* in : {"shop-rome", "shop-paris"}) {
      kube::Object shadow = kube::Object::make(api::kinds::shadow_pods, {in, "web"});
      shadow.set_label(api::labels::reflection_origin, "rome");
      apply(api::kinds::shadow_pods, shadow);
    }
  }
  const kube::Object* keep(kube::Object object) {
    kept_ = std::move(object);
    return &kept_;
  }

  const std::string ns = "liqo-tenant-rome";
  const kube::ObjectKey tenant_key{ns, "rome"};
  const core::PrivateKey rome = key_of('r');

 private:
  kube::Object kept_;
};

}  // namespace liqo::testing
