// The provider's half of the handshake over a fake API server: what it grants a Tenant, refuses, and withdraws.
#include <doctest/doctest.h>

#include "core/peering/renewal.hpp"
#include "core/peering/silence.hpp"
#include "kube/testing/tree.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/labels.hpp"
#include "peering_fixture.hpp"
#include "support/captured_stderr.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

/// One that needs no handshake.
kube::Object unsigned_tenant(const PeeringProvider& milan) {
  kube::Object tenant = kube::Object::make(kinds::tenants, milan.tenant_key);
  tenant.mutable_spec()["clusterID"] = "rome";
  tenant.mutable_spec()["authzPolicy"] = "TolerateNoHandshake";
  return tenant;
}

}  // namespace

TEST_CASE("a provider makes a nonce once, and certificate and rights for a Tenant that has signed it") {
  PeeringProvider milan;
  milan.start();
  const std::string nonce = milan.nonce();
  milan.admit();

  const api::AuthParams params = milan.params();
  CHECK(params.api_server == "https://milan:6443");
  CHECK(params.ca_pem == "CA of milan");
  const auto certificate = core::read_certificate(params.certificate_pem);
  REQUIRE(certificate);
  CHECK(certificate->key == milan.rome.public_key());
  CHECK(certificate->name == core::control_plane_name("rome"));
  CHECK(api::Tenant(*milan.keep(milan.tenant())).tenant_namespace() == milan.ns);

  const auto kept = milan.find(resources::secrets, {milan.ns, "liqo-remote-certificate"});
  REQUIRE(kept);
  REQUIRE(kept->controller());
  CHECK(kept->controller()->uid == milan.tenant().uid());
  CHECK(milan.has(kinds::role_bindings, {milan.ns, "liqo-binding-liqo-remote-controlplane"}));
  CHECK(milan.has(kinds::role_bindings, {"liqo", "liqo-binding-liqo-remote-leader-rome"}));
  CHECK(milan.has(kinds::role_bindings, {milan.ns, "liqo-liqod-tenant"}));
  CHECK(milan.has(kinds::cluster_role_bindings, {"", "liqo-binding-liqo-virtual-kubelet-remote-clusterwide-rome"}));
  CHECK(milan.server.list(resources::certificate_signing_requests).empty());
  CHECK(core::secret_bytes(*milan.find(resources::secrets, {milan.ns, "liqo-nonce"}), "nonce") == nonce);
  CHECK(milan.has(resources::secrets, {"liqo", "authentication-keys"}));
  const auto told = milan.find(resources::config_maps, {"liqo", "liqo-clusterid-configmap"});
  REQUIRE(told);
  CHECK(kube::json::serialize(kube::object_at(told->tree(), {"data"})) == R"({"CLUSTER_ID":"milan"})");
}

TEST_CASE("a Tenant that is applied again changes nothing, and neither does a lost nonce") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  milan.set_condition("Cordoned");
  milan.pass(1s);
  const std::size_t before = milan.writes();
  milan.apply(kinds::tenants, milan.make_tenant());
  static_cast<void>(milan.server.remove(resources::secrets, {milan.ns, "liqo-nonce"}, {}, "operator"));
  milan.pass(10min);
  CHECK(milan.writes() == before);
  CHECK(milan.signer.signed_requests == 1);
  CHECK(api::Tenant(*milan.keep(milan.tenant())).condition() == api::TenantCondition::cordoned);
}

TEST_CASE("a Tenant that asks for more than it may have is refused with an Event and gets nothing") {
  struct Case {
    const char* title;
    std::string_view field;
    std::string bytes;
    const char* reason;
  };
  // CN=rome, and O=liqo.io together with O=paris in one part of the subject.
  const core::PrivateKey rome = key_of('r');
  const Case cases[] = {
      {"a request for a slice's name", "csr", *core::make_signing_request(rome, core::slice_name("pool", "rome")),
       "InvalidCSR"},
      {"a request for another consumer", "csr", *core::make_signing_request(rome, core::control_plane_name("paris")),
       "InvalidCSR"},
      {"a request of another key", "csr", *core::make_signing_request(key_of('x'), core::control_plane_name("rome")),
       "InvalidCSR"},
      {"a signature of something else", "signature", *rome.sign("something else"), "SignatureVerificationFailed"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    PeeringProvider milan;
    milan.start();
    kube::Object tenant = milan.make_tenant();
    tenant.mutable_spec()[c.field] = kube::encode_base64(c.bytes);
    milan.apply(kinds::tenants, tenant);
    CHECK(milan.reaches([&] { return !milan.events(c.reason).empty(); }));
    milan.pass(1min);
    CHECK(!milan.is_admitted());
    CHECK(milan.signer.signed_requests == 0);
    CHECK(!milan.has(kinds::role_bindings, {milan.ns, "liqo-binding-liqo-remote-controlplane"}));
  }
}

TEST_CASE("a consumer whose name somebody of this cluster has is not let in before that is settled") {
  kube::test::CapturedStderr log;
  PeeringProvider milan;
  kube::Object binding = kube::Object::make(kinds::role_bindings, {"default", "of-a-person"});
  binding.tree()["subjects"] = json::array{json::object{{"kind", "User"}, {"name", "rome"}}};
  milan.apply(kinds::role_bindings, binding);
  milan.start();
  milan.apply(kinds::tenants, milan.make_tenant());
  REQUIRE(milan.reaches([&] { return !milan.events("ClusterIDTaken").empty(); }));
  milan.pass(2min);
  // Peering users may read Events, but must not learn of other bindings of the provider.
  for (const std::string& told : milan.events("ClusterIDTaken")) {
    CHECK(told.contains("names a user or group rome already"));
    CHECK_FALSE(told.contains("of-a-person"));
    CHECK_FALSE(told.contains("default"));
  }
  CHECK(log.lines_with("RoleBinding default/of-a-person") == 1);
  CHECK(!milan.is_admitted());
  CHECK(milan.signer.signed_requests == 0);
  binding.set_label(api::labels::remote_cluster_id, "rome");
  milan.apply(kinds::role_bindings, binding);
  CHECK(milan.reaches([&] { return milan.is_admitted(); }));
}

TEST_CASE("whose name a binding gives rights to") {
  const auto binding = [](std::string_view kind, std::string_view name, std::string_view label,
                          std::string_view value) {
    kube::Object made = kube::Object::make(kinds::role_bindings, {"default", "one"});
    if (!label.empty()) made.set_label(label, value);
    made.tree()["subjects"] =
        json::array{json::object{{"kind", "Group"}, {"name", "others"}}, json::object{{"kind", kind}, {"name", name}}};
    return made;
  };
  CHECK(core::is_for_namesake(binding("User", "rome", "", ""), "rome"));
  CHECK(core::is_for_namesake(binding("Group", "rome", "", ""), "rome"));
  CHECK_FALSE(core::is_for_namesake(binding("ServiceAccount", "rome", "", ""), "rome"));
  CHECK_FALSE(core::is_for_namesake(binding("User", "rome-2", "", ""), "rome"));
  CHECK_FALSE(core::is_for_namesake(binding("User", "rome", "app.kubernetes.io/managed-by", "liqo"), "rome"));
  CHECK_FALSE(core::is_for_namesake(binding("User", "rome", "liqo.io/remote-cluster-id", "rome"), "rome"));
  CHECK(core::is_for_namesake(binding("User", "rome", "liqo.io/remote-cluster-id", "turin"), "rome"));
  CHECK_FALSE(core::is_for_namesake(kube::Object(json::object{{"subjects", "many"}}), "rome"));
}

TEST_CASE("a Tenant in a namespace of another cluster, and a second one, are told so") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  kube::Object second = milan.make_tenant();
  second.mutable_metadata()["name"] = "second";
  milan.pass(2s);
  milan.apply(kinds::tenants, second);
  CHECK(milan.reaches([&] { return !milan.events("TenantExists").empty(); }));
  kube::Object foreign = milan.make_tenant();
  foreign.mutable_metadata()["namespace"] = "default";
  milan.apply(kinds::tenants, foreign);
  CHECK(milan.reaches([&] { return !milan.events("WrongNamespace").empty(); }));
  CHECK(milan.signer.signed_requests == 1);
}

TEST_CASE("a new key of the consumer needs a signature of the nonce, and gets a certificate") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  const core::PrivateKey fresh = key_of('f');
  kube::Object stolen = *core::forge_tenant({.consumer = "rome", .signature = *fresh.sign("not the nonce")}, fresh);
  milan.apply(kinds::tenants, stolen);
  CHECK(milan.reaches([&] { return !milan.events("SignatureVerificationFailed").empty(); }));
  CHECK(milan.signer.signed_requests == 1);
  milan.apply(kinds::tenants,
              *core::forge_tenant({.consumer = "rome", .signature = *fresh.sign(milan.nonce())}, fresh));
  CHECK(milan.reaches([&] {
    const auto certificate = core::read_certificate(milan.params().certificate_pem);
    return certificate && certificate->key == fresh.public_key();
  }));
}

TEST_CASE("bindings that were changed or removed come back as they should be") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  const kube::ObjectKey binding{milan.ns, "liqo-binding-liqo-remote-controlplane"};
  milan.change(kinds::role_bindings, binding, "", [](json::object& next) {
    next["subjects"] = json::array{json::object{{"kind", "User"}, {"name", "paris"}}};
  });
  const auto subject = [&] {
    const auto live = milan.find(kinds::role_bindings, binding);
    if (!live || kube::array_at(live->tree(), {"subjects"}).size() != 1) return std::string();
    return std::string(kube::string_at(kube::array_at(live->tree(), {"subjects"})[0], {"name"}));
  };
  CHECK(milan.reaches([&] { return subject() == "rome"; }));
  static_cast<void>(milan.server.remove(kinds::role_bindings, binding, {}, "operator"));
  CHECK(milan.reaches([&] { return subject() == "rome"; }));
}

TEST_CASE("a drained Tenant loses its ShadowPods and keeps its slices, and activating takes the marks away") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  milan.add_slice("pool");
  milan.add_shadow_pod();
  const auto mark = [&] {
    return std::string(
        milan.find(kinds::resource_slices, {milan.ns, "pool"})->annotation(api::annotations::cordon_tenant));
  };
  milan.set_condition("Cordoned");
  CHECK(milan.reaches([&] { return mark() == "true"; }));
  CHECK(milan.has(kinds::shadow_pods, {"shop-rome", "web"}));
  milan.set_condition("Drained");
  CHECK(milan.reaches([&] { return !milan.has(kinds::shadow_pods, {"shop-rome", "web"}); }));
  CHECK(milan.has(kinds::shadow_pods, {"shop-paris", "web"}));
  CHECK(mark() == "true");
  CHECK(milan.has(kinds::role_bindings, {milan.ns, "liqo-binding-liqo-remote-controlplane"}));
  milan.add_slice("late");
  milan.add_shadow_pod();
  CHECK(milan.reaches([&] { return !milan.has(kinds::shadow_pods, {"shop-rome", "web"}); }));
  CHECK(milan.find(kinds::resource_slices, {milan.ns, "late"})->annotation(api::annotations::cordon_tenant) == "true");
  milan.set_condition("Active");
  CHECK(milan.reaches([&] { return mark().empty(); }));
}

TEST_CASE("draining keeps the pods of a Tenant that says so") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  milan.add_shadow_pod();
  milan.change(kinds::tenants, milan.tenant_key, "", [](json::object& next) {
    kube::testing::set_annotation(next, api::annotations::keep_pods, "true");
    kube::ensure_object(next, "spec")["tenantCondition"] = "Drained";
  });
  milan.pass(1min);
  CHECK(milan.has(kinds::shadow_pods, {"shop-rome", "web"}));
}

TEST_CASE("a deleted Tenant takes its rights, its replicas and its certificate along") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  milan.add_slice("pool");
  static_cast<void>(milan.server.remove(kinds::tenants, milan.tenant_key, {}, "operator"));
  CHECK(milan.reaches([&] { return !milan.has(kinds::tenants, milan.tenant_key); }));
  milan.pass(1min);
  CHECK(!milan.has(kinds::role_bindings, {milan.ns, "liqo-binding-liqo-remote-controlplane"}));
  CHECK(!milan.has(kinds::role_bindings, {"liqo", "liqo-binding-liqo-remote-leader-rome"}));
  CHECK(milan.server.list(kinds::cluster_role_bindings).empty());
  CHECK(!milan.has(kinds::resource_slices, {milan.ns, "pool"}));
  CHECK(!milan.has(resources::secrets, {milan.ns, "liqo-remote-certificate"}));
}

TEST_CASE("what was decided about a consumer outlives its Tenant") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  const auto kept = [&] {
    const auto ns = milan.find(resources::namespaces, {"", milan.ns});
    return ns ? std::string(ns->annotation(api::annotations::tenant_decisions)) : "";
  };
  const auto replaced = [&] {
    static_cast<void>(milan.server.remove(kinds::tenants, milan.tenant_key, {}, "operator"));
    REQUIRE(milan.reaches([&] { return !milan.has(kinds::tenants, milan.tenant_key); }));
  };
  milan.change(kinds::tenants, milan.tenant_key, "",
               [](json::object& tenant) { kube::ensure_object(tenant, "spec")["tenantCondition"] = "Drained"; });
  replaced();
  CHECK(kept() == R"({"tenantCondition":"Drained"})");
  milan.admit();
  replaced();
  CHECK(kept() == "");
}

TEST_CASE("TolerateNoHandshake leaves identity and rights to the administrator") {
  PeeringProvider milan;
  milan.start();
  milan.apply(kinds::tenants, unsigned_tenant(milan));
  CHECK(milan.reaches([&] { return api::Tenant(*milan.keep(milan.tenant())).tenant_namespace() == milan.ns; }));
  milan.pass(10s);
  CHECK(!milan.is_admitted());
  CHECK(!milan.has(kinds::role_bindings, {milan.ns, "liqo-binding-liqo-remote-controlplane"}));
  CHECK(milan.server.list(kinds::cluster_role_bindings).size() == 1);
  CHECK(milan.has(kinds::role_bindings, {"liqo", "liqo-binding-liqo-remote-leader-rome"}));
}

TEST_CASE("a consumer whose Tenant another version has let go does not see the leader for ever") {
  PeeringProvider milan;
  for (const char* consumer : {"paris", "rome"})
    milan.apply(kinds::role_bindings, core::forge_leader_binding("liqo", consumer));
  milan.apply(kinds::tenants, unsigned_tenant(milan));
  milan.start();
  CHECK(milan.reaches(
      [&] { return !milan.has(kinds::role_bindings, {"liqo", "liqo-binding-liqo-remote-leader-paris"}); }));
  milan.pass(10s);
  CHECK(milan.has(kinds::role_bindings, {"liqo", "liqo-binding-liqo-remote-leader-rome"}));
}

TEST_CASE("where consumers may not be let see the leader that is tried once in ten minutes, and told as often") {
  kube::test::CapturedStderr log;
  PeeringProvider milan;
  int asked = 0;
  milan.refuses = [&](const kube::HttpRequest& request) {
    if (request.method != "POST" || !request.body.contains("liqo-binding-liqo-remote-leader-")) return "";
    ++asked;
    return "the role is not there";
  };
  milan.start();
  milan.admit();
  const auto edit = [&](int times) {
    for (int i = 0; i < times; ++i) {
      milan.set_condition(i % 2 == 0 ? "Cordoned" : "Active");
      milan.pass(5s);
    }
  };
  edit(10);
  CHECK(asked == 1);
  CHECK(log.lines_with("the consumer cannot see whether liqod runs here") == 1);
  milan.pass(10min);
  edit(2);
  CHECK(asked == 2);
}

}  // namespace liqo::testing
