#include "core/peering/forge.hpp"

#include <utility>

#include "core/common/owner.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/csr.hpp"
#include "kube/base/base64.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;
namespace labels = api::labels;

kube::Object make_secret(std::string_view ns, std::string_view name) {
  kube::Object secret = kube::Object::make(kube::resources::secrets, {std::string(ns), std::string(name)});
  secret.tree()["type"] = "Opaque";
  return secret;
}

void set_data(kube::Object& secret, std::string_view key, std::string_view bytes) {
  kube::ensure_object(secret.tree(), "data")[key] = kube::encode_base64(bytes);
}

}  // namespace

kube::Object forge_tenant_namespace(std::string_view peer, std::string_view name) {
  kube::Object made = kube::Object::make(kube::resources::namespaces,
                                         {"", name.empty() ? tenant_namespace_name(peer) : std::string(name)});
  made.set_label(labels::remote_cluster_id, peer);
  made.set_label(labels::tenant_namespace, "true");
  // The Go version runs gateways in tenant namespaces, which need privileges. Nothing else runs there.
  for (const char* mode : {"audit", "enforce", "warn"})
    made.set_label(std::string("pod-security.kubernetes.io/") + mode, "privileged");
  return made;
}

kube::Object forge_nonce_secret(std::string_view tenant_namespace, std::string_view consumer) {
  kube::Object secret = make_secret(tenant_namespace, nonce_secret);
  secret.set_label(labels::nonce, "true");
  secret.set_label(labels::remote_cluster_id, consumer);
  return secret;
}

kube::Object forge_signed_nonce_secret(std::string_view tenant_namespace, std::string_view provider,
                                       std::string_view nonce) {
  kube::Object secret = make_secret(tenant_namespace, signed_nonce_secret);
  secret.set_label(labels::signed_nonce, "true");
  secret.set_label(labels::remote_cluster_id, provider);
  set_data(secret, "nonce", nonce);
  return secret;
}

kube::Result<kube::Object> forge_tenant(const TenantOrder& order, const PrivateKey& key) {
  KUBE_TRY(csr, make_signing_request(key, control_plane_name(order.consumer)));
  kube::Object tenant = kube::Object::make(
      api::kinds::tenants,
      {order.tenant_namespace.empty() ? tenant_namespace_name(order.consumer) : order.tenant_namespace,
       order.consumer});
  tenant.set_label(labels::remote_cluster_id, order.consumer);
  json::object& spec = tenant.mutable_spec();
  spec["clusterID"] = order.consumer;
  spec["publicKey"] = kube::encode_base64(key.public_key().pem());
  spec["csr"] = kube::encode_base64(csr);
  spec["signature"] = kube::encode_base64(order.signature);
  return tenant;
}

kube::Object forge_identity(const IdentityOrder& order) {
  const bool control_plane = order.slice.empty();
  kube::Object identity = kube::Object::make(
      api::kinds::identities, {order.tenant_namespace, control_plane ? control_plane_identity_name(order.provider)
                                                                     : slice_identity_name(order.slice)});
  identity.set_label(labels::remote_cluster_id, order.provider);
  if (!control_plane) identity.set_label(labels::resource_slice_name, order.slice);
  json::object& spec = identity.mutable_spec();
  spec["clusterID"] = order.provider;
  spec["type"] = json::string(control_plane ? api::control_plane_identity : api::resource_slice_identity);
  spec["authParams"] = order.auth_params;
  if (control_plane && !order.remote_namespace.empty()) spec["namespace"] = order.remote_namespace;
  return identity;
}

kube::Object forge_kubeconfig_secret(const kube::Object& identity, std::string_view kubeconfig) {
  const api::Identity view(identity);
  kube::Object secret = make_secret(identity.ns(), kubeconfig_secret_name(identity.name()));
  secret.set_label(labels::remote_cluster_id, view.cluster_id());
  secret.set_label(labels::identity_type, view.type());
  if (view.is_control_plane() && !view.remote_namespace().empty())
    secret.set_annotation(api::annotations::remote_tenant_namespace, view.remote_namespace());
  secret.add_owner_reference(owner_of(identity));
  set_data(secret, "kubeconfig", kubeconfig);
  return secret;
}

kube::Object forge_renew(const kube::Object& identity, std::string_view consumer) {
  const std::string_view provider = api::Identity(identity).cluster_id();
  kube::Object renew = kube::Object::make(api::kinds::renews, identity.key());
  renew.set_label(labels::replication, "true");
  renew.set_label(labels::replication_destination, provider);
  renew.set_label(labels::remote_cluster_id, provider);
  renew.add_owner_reference(owner_of(identity));
  renew.mutable_spec()["consumerClusterID"] = json::string(consumer);
  renew.mutable_spec()["identityType"] = json::string(api::control_plane_identity);
  return renew;
}

kube::Object forge_signing_request(std::string_view csr_pem, const SigningOrder& order) {
  json::array usages;
  for (const std::string_view usage : order.usages) usages.push_back(json::value(usage));
  json::object spec{{"request", kube::encode_base64(csr_pem)}, {"signerName", order.signer}, {"usages", usages}};
  if (order.validity_seconds > 0) spec["expirationSeconds"] = order.validity_seconds;
  json::object tree{{"apiVersion", kube::resources::certificate_signing_requests.api_version()},
                    {"kind", kube::resources::certificate_signing_requests.kind},
                    {"metadata", json::object{{"generateName", order.name_prefix}}},
                    {"spec", std::move(spec)}};
  return kube::Object(std::move(tree));
}

kube::Object forge_certificate_request(std::string_view csr_pem, std::int64_t validity_seconds) {
  kube::Object request =
      forge_signing_request(csr_pem, {.name_prefix = "liqo-identity-",
                                      .signer = "kubernetes.io/kube-apiserver-client",
                                      .usages = {"digital signature", "key encipherment", "client auth"},
                                      .validity_seconds = validity_seconds});
  request.set_label(labels::remote_tenant_csr, "true");
  return request;
}

std::optional<kube::Failure> refusal_of(const kube::Object& request) {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {{"Denied", "denied"}, {"Failed", "not signed"}};
  for (const auto& [type, how] : kinds)
    if (const json::object* condition = kube::find_condition(request.status(), type))
      return kube::Failure(kube::Errc::unsupported, "the request for a certificate was " + std::string(how) + ": " +
                                                        std::string(kube::string_at(*condition, {"message"})));
  return std::nullopt;
}

json::object approval_status(std::string_view reason, std::string_view message) {
  return {{"conditions", json::array{json::object{
                             {"type", "Approved"}, {"status", "True"}, {"reason", reason}, {"message", message}}}}};
}

json::object approval_status() {
  return approval_status("LiqoIdentity", "the request has the one user and group that this tenant may have");
}

kube::Object forge_certificate_secret(const CertificateRecord& record) {
  kube::Object secret = make_secret(record.tenant_namespace, certificate_secret_name(record.slice));
  secret.set_label(labels::remote_cluster_id, record.consumer);
  secret.set_annotation(api::annotations::certificate_received, kube::format_time(record.received));
  if (record.owner) secret.add_owner_reference(*record.owner);
  set_data(secret, "csr", record.csr_pem);
  set_data(secret, "certificate", record.certificate_pem);
  return secret;
}

kube::Object forge_cluster_keys(std::string_view liqo_namespace, const PrivateKey& key) {
  kube::Object secret = make_secret(liqo_namespace, cluster_keys_secret);
  set_data(secret, "privateKey", key.pem());
  set_data(secret, "publicKey", key.public_key().pem());
  return secret;
}

kube::Result<PrivateKey> read_cluster_keys(const kube::Object& secret) {
  const std::string pem = secret_bytes(secret, "privateKey");
  if (pem.empty())
    return kube::fail(kube::Errc::missing, "the Secret " + secret.key().text() + " has no key 'privateKey'");
  auto key = PrivateKey::parse(pem);
  if (!key) return kube::fail(std::move(key.error()), "the Secret " + secret.key().text());
  return key;
}

kube::Object forge_cluster_id(std::string_view liqo_namespace, std::string_view cluster_id,
                              std::string_view pod_cidrs) {
  kube::Object map = kube::Object::make(kube::resources::config_maps,
                                        {std::string(liqo_namespace), std::string(cluster_id_config_map)});
  map.set_label(labels::app_name, "clusterid-configmap");
  json::object& data = kube::ensure_object(map.tree(), "data");
  data[cluster_id_key] = json::string(cluster_id);
  if (!pod_cidrs.empty()) data[pod_cidrs_key] = json::string(pod_cidrs);
  return map;
}

}  // namespace liqo::core
