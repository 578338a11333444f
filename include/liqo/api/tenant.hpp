// Typed reading of a Tenant: a consumer that may use this cluster.
#pragma once

#include <string>
#include <string_view>

#include "kube/k8s/object.hpp"

namespace liqo::api {

/// The provider's switch. Any other word reads as cordoned, so that nothing new is granted by mistake.
enum class TenantCondition { active, cordoned, drained };
std::string_view to_string(TenantCondition condition);

/// A view; lives as long as the object. The `[]byte` fields are returned decoded; "" if absent or not base64.
class Tenant {
 public:
  explicit Tenant(const kube::Object& object) : object_(&object) {}
  const kube::Object& object() const { return *object_; }
  /// The consumer's cluster ID.
  std::string_view cluster_id() const { return kube::string_at(object_->spec(), {"clusterID"}); }
  /// False with the policy TolerateNoHandshake: the administrator hands out identity and rights.
  bool needs_handshake() const { return kube::string_at(object_->spec(), {"authzPolicy"}) != "TolerateNoHandshake"; }
  TenantCondition condition() const;
  /// PEM, or 32 raw bytes of Ed25519.
  std::string public_key() const { return bytes("publicKey"); }
  /// PEM.
  std::string csr() const { return bytes("csr"); }
  std::string signature() const { return bytes("signature"); }
  std::string_view proxy_url() const { return kube::string_at(object_->spec(), {"proxyURL"}); }
  /// Whether draining leaves running pods alone.
  bool keeps_pods() const;
  std::string_view tenant_namespace() const { return kube::string_at(object_->status(), {"tenantNamespace"}); }
  const kube::json::object& auth_params() const { return kube::object_at(object_->status(), {"authParams"}); }

 private:
  std::string bytes(std::string_view field) const;
  const kube::Object* object_;
};

}  // namespace liqo::api
