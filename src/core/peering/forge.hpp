// The objects of a peering's handshake, as liqod and liqoctl make them. Pure.
// Tested by test/unit/core/peering/handshake_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/peering/keys.hpp"
#include "kube/base/failure.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The tenant namespace for `peer`; `name` "" = liqo-tenant-<peer>.
kube::Object forge_tenant_namespace(std::string_view peer, std::string_view name = {});

/// The empty nonce Secret that a provider fills, in the tenant namespace of `consumer`.
kube::Object forge_nonce_secret(std::string_view tenant_namespace, std::string_view consumer);
/// The Secret with a provider's nonce, in the tenant namespace of `provider`; the consumer's liqod signs it.
kube::Object forge_signed_nonce_secret(std::string_view tenant_namespace, std::string_view provider,
                                       std::string_view nonce);

/// What a consumer says of itself to a provider.
struct TenantOrder {
  std::string tenant_namespace;  ///< at the provider; "" = liqo-tenant-<consumer>
  std::string consumer;          ///< cluster ID
  std::string signature;         ///< raw, of the provider's nonce
};
/// The Tenant named after the consumer. Errors: those of make_signing_request().
kube::Result<kube::Object> forge_tenant(const TenantOrder& order, const PrivateKey& key);

/// Credentials of `provider`, for the consumer: ControlPlane ones, or those of a slice.
struct IdentityOrder {
  std::string tenant_namespace;  ///< at the consumer
  std::string provider;          ///< cluster ID
  kube::json::object auth_params;
  std::string remote_namespace;  ///< tenant namespace at the provider; for ControlPlane identities
  std::string slice;             ///< "" = ControlPlane
};
/// The Identity of the order, named by control_plane_identity_name() or slice_identity_name().
kube::Object forge_identity(const IdentityOrder& order);

/// The Secret `kubeconfig-<identity>` with that text, owned by the Identity.
kube::Object forge_kubeconfig_secret(const kube::Object& identity, std::string_view kubeconfig);

/// The Renew of a ControlPlane Identity, owned by it; `consumer` is our own cluster ID.
kube::Object forge_renew(const kube::Object& identity, std::string_view consumer);

/// Binds a ClusterRole to user `consumer` in its tenant namespace, owned by the Tenant.
kube::Object forge_role_binding(const kube::Object& tenant, std::string_view role);
/// Binds a ClusterRole to group `consumer` in the whole cluster. Cluster-wide objects cannot be owned by a Tenant.
kube::Object forge_cluster_role_binding(std::string_view consumer, std::string_view role);
/// Binds `role` in namespace `ns` to `user`, as which liqod itself runs; the binding is named after the role.
kube::Object forge_own_binding(std::string_view ns, std::string_view user, std::string_view role);
/// Whether somebody else than Liqo has made a binding for a user or group named as a consumer, whose certificates would
/// inherit its rights. One with the label `liqo.io/remote-cluster-id: <consumer>` is meant for that consumer.
bool is_for_namesake(const kube::Object& binding, std::string_view consumer);

/// What a CertificateSigningRequest asks for besides the subject and the key.
struct SigningOrder {
  std::string_view name_prefix;  ///< the API server completes it to a name
  std::string_view signer;
  std::vector<std::string_view> usages;
  std::int64_t validity_seconds = 0;  ///< 0 = what the signer gives by default
};
/// The CertificateSigningRequest for a PKCS#10 request in PEM.
kube::Object forge_signing_request(std::string_view csr_pem, const SigningOrder& order);
/// The one for a client of the API server; `validity_seconds` as of SigningOrder.
kube::Object forge_certificate_request(std::string_view csr_pem, std::int64_t validity_seconds);

/// Why a CertificateSigningRequest will get no certificate, in the words of its condition "Denied" or "Failed"; nullopt
/// while it has neither. The failure is Errc::unsupported.
std::optional<kube::Failure> refusal_of(const kube::Object& request);

/// The status that approves a CertificateSigningRequest, and the one of forge_certificate_request().
kube::json::object approval_status(std::string_view reason, std::string_view message);
kube::json::object approval_status();

/// What is kept of an issued certificate, in a Secret.
struct CertificateRecord {
  std::string tenant_namespace, consumer, slice;
  std::string csr_pem, certificate_pem;
  kube::WallTime received;
  std::optional<kube::OwnerReference> owner;
};
/// The Secret with the record, named by certificate_secret_name().
kube::Object forge_certificate_secret(const CertificateRecord& record);

/// The Secret authentication-keys of a cluster.
kube::Object forge_cluster_keys(std::string_view liqo_namespace, const PrivateKey& key);
/// Reads it. Errors: Errc::missing (no privateKey), and those of PrivateKey::parse().
kube::Result<PrivateKey> read_cluster_keys(const kube::Object& secret);
/// The ConfigMap from which the liqoctl of peers reads the cluster's ID and the ranges of its pods. `pod_cidrs` "" =
/// not published.
kube::Object forge_cluster_id(std::string_view liqo_namespace, std::string_view cluster_id, std::string_view pod_cidrs);

}  // namespace liqo::core
