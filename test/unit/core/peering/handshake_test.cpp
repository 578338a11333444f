// The proof of a consumer's key, and the objects that carry it.
#include "core/peering/handshake.hpp"

#include <doctest/doctest.h>

#include "core/common/bindings.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/csr.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/kubeconfig.hpp"
#include "fixtures.hpp"
#include "kube/base/base64.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

PrivateKey our_key() { return *PrivateKey::parse(fixtures::private_key); }

kube::Object tenant() {
  const PrivateKey key = our_key();
  auto made = forge_tenant({.consumer = "tenant-a", .signature = *key.sign(fixtures::nonce)}, key);
  REQUIRE(made);
  return *made;
}

void set_bytes(kube::Object& object, std::string_view field, std::string_view bytes) {
  object.mutable_spec()[field] = kube::encode_base64(bytes);
}

}  // namespace

TEST_CASE("a nonce has 88 characters and is recognised, and nothing else is") {
  const auto made = make_nonce([](std::size_t size) -> kube::Result<std::string> { return std::string(size, '\11'); });
  REQUIRE(made);
  CHECK(*made == fixtures::nonce);
  CHECK(is_nonce(*made));
  CHECK(make_nonce(secure_random).value() != make_nonce(secure_random).value());
  for (std::string text : {std::string(), std::string("transfer all money"), made->substr(1), *made + "\n",
                           made->substr(0, 40) + "\n" + made->substr(40), made->substr(0, 84), *made + *made})
    CHECK(!is_nonce(text));
}

TEST_CASE("a Tenant of the right key, signature and request is let in") {
  const kube::Object made = tenant();
  CHECK(made.ns() == "liqo-tenant-tenant-a");
  CHECK(made.name() == "tenant-a");
  CHECK(made.label(api::labels::remote_cluster_id) == "tenant-a");
  CHECK(check_handshake(api::Tenant(made), fixtures::nonce));
}

TEST_CASE("a Tenant whose proof is wrong in one point is refused for that reason") {
  struct Case {
    const char* title;
    std::string_view field;
    std::string bytes;
    std::string_view reason;
  };
  const PrivateKey other = *PrivateKey::parse(fixtures::rsa_private_key);
  const Case cases[] = {
      {"signature of another text", "signature", *our_key().sign("another text"), "SignatureVerificationFailed"},
      {"no signature", "signature", "", "SignatureVerificationFailed"},
      {"another key", "publicKey", other.public_key().pem(), "SignatureVerificationFailed"},
      {"no key", "publicKey", "x", "SignatureVerificationFailed"},
      {"request with two organizations", "csr", std::string(fixtures::two_organizations_csr), "InvalidCSR"},
      {"request for a slice", "csr", std::string(fixtures::slice_csr), "InvalidCSR"},
      {"request of another key", "csr", std::string(fixtures::rsa_csr), "InvalidCSR"},
      {"no request", "csr", "", "InvalidCSR"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    kube::Object object = tenant();
    set_bytes(object, c.field, c.bytes);
    const auto checked = check_handshake(api::Tenant(object), fixtures::nonce);
    REQUIRE(!checked);
    CHECK(checked.error().reason == c.reason);
    CHECK(!checked.error().text.empty());
  }
}

TEST_CASE("a Tenant counts as admitted once our status has a certificate for its name and key") {
  kube::Object object = tenant();
  CHECK(!was_admitted(api::Tenant(object)));
  object.mutable_status()["authParams"] =
      api::write_auth_params({.certificate_pem = std::string(fixtures::certificate), .api_server = "https://milan"});
  CHECK(was_admitted(api::Tenant(object)));
  kube::Object renamed = object;
  renamed.mutable_spec()["clusterID"] = "tenant-b";
  CHECK(!was_admitted(api::Tenant(renamed)));
  kube::Object rekeyed = object;
  set_bytes(rekeyed, "publicKey", PrivateKey::parse(fixtures::rsa_private_key)->public_key().pem());
  CHECK(!was_admitted(api::Tenant(rekeyed)));
}

TEST_CASE("authParams are read as they were written, and broken ones are refused") {
  const api::AuthParams params{.ca_pem = "ca",
                               .certificate_pem = "certificate",
                               .api_server = "https://milan:6443",
                               .proxy_url = "http://proxy"};
  const auto tree = api::write_auth_params(params);
  const auto read = api::read_auth_params(tree);
  REQUIRE(read);
  CHECK(read->ca_pem == "ca");
  CHECK(read->certificate_pem == "certificate");
  CHECK(read->api_server == "https://milan:6443");
  CHECK(read->proxy_url == "http://proxy");
  CHECK(api::write_auth_params({}).empty());
  CHECK(!api::read_auth_params({{"ca", "%"}}));
}

TEST_CASE("identities, Renews and kubeconfig Secrets have the names and labels that replication goes by") {
  kube::Object identity = forge_identity({.tenant_namespace = "liqo-tenant-milan",
                                          .provider = "milan",
                                          .auth_params = {{"apiServer", "https://milan"}},
                                          .remote_namespace = "liqo-tenant-rome"});
  identity.mutable_metadata()["uid"] = "u1";
  CHECK(identity.name() == "controlplane-milan");
  CHECK(api::Identity(identity).is_control_plane());
  CHECK(api::Identity(identity).remote_namespace() == "liqo-tenant-rome");

  const kube::Object secret = forge_kubeconfig_secret(identity, "text");
  CHECK(secret.name() == "kubeconfig-controlplane-milan");
  CHECK(secret.label(api::labels::identity_type) == "ControlPlane");
  CHECK(secret.label(api::labels::remote_cluster_id) == "milan");
  CHECK(secret.annotation(api::annotations::remote_tenant_namespace) == "liqo-tenant-rome");
  CHECK(secret_bytes(secret, "kubeconfig") == "text");
  REQUIRE(secret.controller());
  CHECK(secret.controller()->uid == "u1");

  const kube::Object renew = forge_renew(identity, "rome");
  CHECK(renew.key() == identity.key());
  CHECK(renew.label(api::labels::replication) == "true");
  CHECK(renew.label(api::labels::replication_destination) == "milan");
  CHECK(kube::string_at(renew.spec(), {"consumerClusterID"}) == "rome");

  const kube::Object slice = forge_identity({.tenant_namespace = "liqo-tenant-milan",
                                             .provider = "milan",
                                             .auth_params = {},
                                             .remote_namespace = "ignored",
                                             .slice = "pool"});
  CHECK(slice.name() == "resourceslice-pool");
  CHECK(slice.label(api::labels::resource_slice_name) == "pool");
  CHECK(api::Identity(slice).remote_namespace().empty());
  CHECK(!forge_kubeconfig_secret(slice, "").has_annotation(api::annotations::remote_tenant_namespace));
}

TEST_CASE("bindings name the consumer, its role and nothing else, and drift is seen") {
  kube::Object object = tenant();
  object.mutable_metadata()["uid"] = "u1";
  const kube::Object binding = forge_role_binding(object, remote_control_plane_role);
  CHECK(binding.key().text() == "liqo-tenant-tenant-a/liqo-binding-liqo-remote-controlplane");
  CHECK(kube::string_at(kube::array_at(binding.tree(), {"subjects"})[0], {"kind"}) == "User");
  CHECK(binding.controller()->uid == "u1");
  const kube::Object wide = forge_cluster_role_binding("tenant-a", remote_cluster_wide_role);
  CHECK(wide.name() == "liqo-binding-liqo-virtual-kubelet-remote-clusterwide-tenant-a");
  CHECK(kube::string_at(kube::array_at(wide.tree(), {"subjects"})[0], {"kind"}) == "Group");
  CHECK(!has_same_subjects(binding, wide));
  CHECK(!has_same_role(binding, wide));
  CHECK(has_same_subjects(binding, binding));

  const kube::Object own = forge_own_binding("liqo-tenant-milan", "system:serviceaccount:liqo:agent", own_tenant_role);
  const kube::json::value& subject = kube::array_at(own.tree(), {"subjects"})[0];
  CHECK(kube::string_at(subject, {"kind"}) == "ServiceAccount");
  CHECK(kube::string_at(subject, {"name"}) == "agent");
  CHECK(kube::string_at(subject, {"namespace"}) == "liqo");
  const kube::Object user = forge_own_binding("liqo-tenant-milan", "admin", own_tenant_role);
  CHECK(kube::string_at(kube::array_at(user.tree(), {"subjects"})[0], {"kind"}) == "User");
}

TEST_CASE("the cluster's keys survive their Secret") {
  const kube::Object secret = forge_cluster_keys("liqo", our_key());
  const auto read = read_cluster_keys(secret);
  REQUIRE(read);
  CHECK(read->public_key() == our_key().public_key());
  CHECK(secret_bytes(secret, "publicKey") == fixtures::public_key);
  CHECK(!read_cluster_keys(kube::Object::make(kube::resources::secrets, {"liqo", "authentication-keys"})));
}

TEST_CASE("a signing request that was denied or failed says why, and an approved one is not refused") {
  struct Case {
    std::string_view type, text;
  };
  kube::Object request = forge_certificate_request(fixtures::tenant_a_csr, 0);
  CHECK(!refusal_of(request));
  request.mutable_status() = approval_status();
  CHECK(!refusal_of(request));
  for (const auto& [type, text] : {Case{"Denied", "the request for a certificate was denied: not you"},
                                   Case{"Failed", "the request for a certificate was not signed: not you"}}) {
    CAPTURE(type);
    request.mutable_status() = approval_status();
    request.mutable_status()["conditions"].as_array().push_back(
        kube::json::object{{"type", type}, {"status", "True"}, {"message", "not you"}});
    const auto refused = refusal_of(request);
    REQUIRE(refused);
    CHECK(refused->code() == kube::Errc::unsupported);
    CHECK(refused->text() == text);
  }
}

TEST_CASE("foreign text in a kubeconfig stays the value that it is") {
  const std::string text = forge_kubeconfig({.cluster = "milan",
                                             .server = "https://milan\"\nusers: []\n# ",
                                             .ca_pem = "ca",
                                             .proxy_url = "",
                                             .user = "controlplane-milan",
                                             .certificate_pem = "certificate",
                                             .key_pem = "key",
                                             .ns = "liqo-tenant-rome"});
  CHECK(text.find("\nusers: []") == std::string::npos);
  CHECK(text.find("    server: \"https://milan\\\"\\nusers: []\\n# \"\n") != std::string::npos);
  CHECK(text.find("proxy-url") == std::string::npos);
  CHECK(text.find("    namespace: \"liqo-tenant-rome\"\n") != std::string::npos);
}

TEST_CASE("a cluster ID leaves room for the name of its tenant namespace") {
  CHECK(is_cluster_id("rome"));
  CHECK(is_cluster_id(std::string(51, 'a')));
  CHECK(!is_cluster_id(std::string(52, 'a')));
  CHECK(!is_cluster_id("Rome"));
  CHECK(!is_cluster_id("-rome"));
  CHECK(tenant_namespace_name("rome") == "liqo-tenant-rome");
  CHECK(certificate_secret_name("") == "liqo-remote-certificate");
  CHECK(certificate_secret_name("pool") == "liqo-remote-certificate-pool");
}

}  // namespace liqo::core
