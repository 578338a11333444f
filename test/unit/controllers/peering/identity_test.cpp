// The consumer's half of the handshake over a fake API server.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/csr.hpp"
#include "core/peering/forge.hpp"
#include "kube/base/base64.hpp"
#include "kube/testing/tree.hpp"
#include "kube/wire/kubeconfig.hpp"
#include "liqo/api/auth_params.hpp"
#include "liqo/api/identity.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

/// A consumer named rome with the tenant namespace of provider milan.
struct Consumer : ClusterFixture {
  Consumer() : ClusterFixture("rome") {
    apply(resources::namespaces, core::forge_tenant_namespace("milan"));
    start();
    REQUIRE(reaches([&] { return has(resources::secrets, {"liqo", "authentication-keys"}); }));
  }
  ~Consumer() { stop(); }

  core::PrivateKey key() {
    return *core::read_cluster_keys(*find(resources::secrets, {"liqo", "authentication-keys"}));
  }
  /// Milan's answer for that key; `life` distinguishes two answers.
  json::object answer(const core::PrivateKey& to, kube::WallTime::duration life = 1h) {
    const kube::WallTime now = simulator.clock().wall();
    const std::string csr = *core::make_signing_request(to, core::control_plane_name("rome"));
    return api::write_auth_params({.ca_pem = "CA of milan",
                                   .certificate_pem = issue_certificate(csr, now, now + life),
                                   .api_server = "https://milan:6443"});
  }
  void add_identity(json::object params) {
    apply(kinds::identities, core::forge_identity({.tenant_namespace = ns,
                                                   .provider = "milan",
                                                   .auth_params = std::move(params),
                                                   .remote_namespace = "liqo-tenant-rome"}));
  }
  void add_slice(const std::string& name) {
    kube::Object slice = kube::Object::make(kinds::resource_slices, {ns, name});
    slice.set_label(api::labels::replication, "true");
    slice.set_label(api::labels::replication_destination, "milan");
    slice.set_label(api::labels::remote_cluster_id, "milan");
    slice.mutable_spec()["providerClusterID"] = "milan";
    apply(kinds::resource_slices, slice);
  }
  /// Milan's answer about the authentication of a slice.
  void decide(const std::string& slice, std::string_view status) {
    change(kinds::resource_slices, {ns, slice}, "status", [&](json::object& next) {
      json::object& written = kube::ensure_object(next, "status");
      written["authParams"] = answer(key());
      written["conditions"] = json::array{json::object{{"type", "Authentication"}, {"status", status}}};
    });
  }
  std::string kubeconfig() {
    const auto secret = find(resources::secrets, secret_key);
    return secret ? core::secret_bytes(*secret, "kubeconfig") : "";
  }

  const std::string ns = "liqo-tenant-milan";
  const kube::ObjectKey identity_key{ns, "controlplane-milan"};
  const kube::ObjectKey secret_key{ns, "kubeconfig-controlplane-milan"};
};

}  // namespace

TEST_CASE("an Identity becomes a kubeconfig that we would take from anybody") {
  Consumer rome;
  rome.add_identity(rome.answer(rome.key()));
  REQUIRE(rome.reaches([&] { return !rome.kubeconfig().empty(); }));
  const auto config = kube::wire::parse_kubeconfig(rome.kubeconfig(), {});
  REQUIRE(config);
  CHECK(config->ca_pem == "CA of milan");
  CHECK(config->ns == "liqo-tenant-rome");
  CHECK(config->user == "controlplane-milan");
  CHECK(config->client_key_pem == rome.key().pem());
  CHECK(rome.reaches([&] {
    return kube::string_at(rome.find(kinds::identities, rome.identity_key)->status(),
                           {"kubeconfigSecretRef", "name"}) == rome.secret_key.name;
  }));
  CHECK(rome.has(kinds::renews, rome.identity_key));
  rome.pass(1min);
  const std::size_t before = rome.writes();
  rome.pass(1h);
  CHECK(rome.writes() == before);
}

TEST_CASE("the metrics say when the certificate of an Identity ends, for as long as there is one") {
  Consumer rome;
  const std::string family = "liqo_identity_certificate_expiry_timestamp_seconds{";
  const auto shown = [&] {
    const std::string text = rome.metrics();
    const std::size_t at = text.find(family + R"(cluster_id="milan",identity="controlplane-milan"} )");
    return at == std::string::npos ? 0.0 : std::stod(text.substr(text.find("} ", at) + 2));
  };
  rome.add_identity(rome.answer(rome.key()));
  const auto now = std::chrono::duration<double>(rome.simulator.clock().wall().time_since_epoch()).count();
  CHECK(rome.reaches([&] { return shown() > now + 3500 && shown() < now + 3700; }));
  static_cast<void>(rome.server.remove(kinds::identities, rome.identity_key, {}, "operator"));
  CHECK(rome.reaches([&] { return rome.metrics().find(family) == std::string::npos; }));
}

TEST_CASE("credentials that are not usable are refused with an Event and leave no Secret") {
  Consumer rome;
  const core::PrivateKey other = *core::PrivateKey::make_ed25519(
      [](std::size_t size) -> kube::Result<std::string> { return std::string(size, 'o'); });
  json::object plain = rome.answer(rome.key());
  plain["apiServer"] = "http://milan:6443";
  json::object injected = rome.answer(rome.key());
  injected["apiServer"] = "https://milan:6443\"\n    insecure-skip-tls-verify: true\n#";
  json::object proxied = rome.answer(rome.key());
  proxied["proxyURL"] = "http://proxy:8118";
  json::object aws = rome.answer(rome.key());
  aws["awsConfig"] = json::object{{"awsRegion", "eu-west-1"}};
  struct Case {
    const char* title;
    json::object params;
    const char* reason = "InvalidAuthParams";
  };
  for (const Case& c : {Case{"a certificate for another key", rome.answer(other)}, Case{"no TLS", plain},
                        Case{"a server that is no URL", injected}, Case{"a proxy", proxied}, Case{"nothing", {}},
                        Case{"of an EKS cluster", aws, "AWSNotSupported"}}) {
    CAPTURE(c.title);
    const std::size_t events = rome.events(c.reason).size();
    static_cast<void>(rome.server.remove(kinds::identities, rome.identity_key, {}, "operator"));
    rome.pass(10s);
    rome.add_identity(c.params);
    CHECK(rome.reaches([&] { return rome.events(c.reason).size() > events; }));
    CHECK(!rome.has(resources::secrets, rome.secret_key));
  }
}

TEST_CASE("a Secret that somebody else has made under that name is left alone") {
  Consumer rome;
  kube::Object foreign = kube::Object::make(resources::secrets, rome.secret_key);
  foreign.tree()["data"] = json::object{{"kubeconfig", kube::encode_base64("exec: a shell")}};
  rome.apply(resources::secrets, foreign);
  rome.add_identity(rome.answer(rome.key()));
  CHECK(rome.reaches([&] { return !rome.events("SecretExists").empty(); }));
  CHECK(rome.kubeconfig() == "exec: a shell");
}

TEST_CASE("a renewed certificate, and a changed address, go through the Renew into the kubeconfig") {
  Consumer rome;
  rome.add_identity(rome.answer(rome.key()));
  REQUIRE(rome.reaches([&] { return !rome.kubeconfig().empty() && rome.has(kinds::renews, rome.identity_key); }));
  const std::string first = rome.kubeconfig();
  json::object next = rome.answer(rome.key(), 5h);
  rome.change(kinds::renews, rome.identity_key, "status",
              [&](json::object& renew) { kube::ensure_object(renew, "status")["authParams"] = next; });
  CHECK(rome.reaches([&] { return rome.kubeconfig() != first; }));
  next["apiServer"] = "https://milan.example:443";
  rome.change(kinds::renews, rome.identity_key, "status",
              [&](json::object& renew) { kube::ensure_object(renew, "status")["authParams"] = next; });
  CHECK(rome.reaches([&] { return rome.kubeconfig().find("milan.example") != std::string::npos; }));
}

TEST_CASE("what an operator changes in an Identity stays until the provider's next answer") {
  struct Case {
    const char* title;
    std::chrono::seconds answered;  ///< life of the certificate that is answered first
  };
  for (const Case& c : {Case{"after a renewal", 5h}, Case{"after an answer that says what is there", 3h}}) {
    CAPTURE(c.title);
    Consumer rome;
    const json::object given = rome.answer(rome.key(), 3h);
    json::object answered = c.answered == 3h ? given : rome.answer(rome.key(), c.answered);
    rome.add_identity(given);
    const auto answer = [&] {
      rome.change(kinds::renews, rome.identity_key, "status",
                  [&](json::object& renew) { kube::ensure_object(renew, "status")["authParams"] = answered; });
    };
    const auto server = [&] {
      return std::string(
          kube::string_at(rome.find(kinds::identities, rome.identity_key)->spec(), {"authParams", "apiServer"}));
    };
    REQUIRE(rome.reaches([&] { return !rome.kubeconfig().empty() && rome.has(kinds::renews, rome.identity_key); }));
    answer();
    rome.pass(10s);
    rome.change(kinds::identities, rome.identity_key, "", [](json::object& identity) {
      kube::testing::ensure_path(identity, {"spec", "authParams"})["apiServer"] = "https://moved:6443";
    });
    CHECK(rome.reaches([&] { return rome.kubeconfig().find("moved") != std::string::npos; }));
    rome.pass(10min);
    CHECK(server() == "https://moved:6443");
    answered["apiServer"] = "https://milan.example:443";
    answer();
    CHECK(rome.reaches([&] { return server() == "https://milan.example:443"; }));
  }
}

TEST_CASE("a slice's Identity follows what its provider decides") {
  Consumer rome;
  rome.add_slice("pool");
  const kube::ObjectKey identity{rome.ns, "resourceslice-pool"};
  rome.pass(10s);
  CHECK(!rome.has(kinds::identities, identity));
  rome.decide("pool", "Accepted");
  CHECK(rome.reaches([&] { return rome.has(resources::secrets, {rome.ns, "kubeconfig-resourceslice-pool"}); }));
  CHECK(rome.find(resources::secrets, {rome.ns, "kubeconfig-resourceslice-pool"})->label(api::labels::identity_type) ==
        "ResourceSlice");
  CHECK(!rome.has(kinds::renews, identity));
  rome.decide("pool", "Denied");
  CHECK(rome.reaches([&] { return !rome.has(kinds::identities, identity); }));
  CHECK(rome.reaches([&] { return !rome.has(resources::secrets, {rome.ns, "kubeconfig-resourceslice-pool"}); }));
}

TEST_CASE("an Identity and a Renew that somebody else has made under these names are left alone") {
  Consumer rome;
  kube::Object renew = kube::Object::make(kinds::renews, rome.identity_key);
  renew.mutable_spec()["publicKey"] = "of somebody else";
  rome.apply(kinds::renews, renew);
  rome.add_identity(rome.answer(rome.key()));
  CHECK(rome.reaches([&] { return !rome.events("RenewExists").empty(); }));
  CHECK(kube::string_at(rome.find(kinds::renews, rome.identity_key)->spec(), {"publicKey"}) == "of somebody else");

  kube::Object identity = kube::Object::make(kinds::identities, {rome.ns, "resourceslice-pool"});
  identity.mutable_spec()["clusterID"] = "turin";
  rome.apply(kinds::identities, identity);
  rome.add_slice("pool");
  rome.decide("pool", "Accepted");
  CHECK(rome.reaches([&] { return !rome.events("IdentityExists").empty(); }));
  CHECK(kube::string_at(rome.find(kinds::identities, identity.key())->spec(), {"clusterID"}) == "turin");
}

TEST_CASE("a deleted key of the cluster comes back as it was, or peerings would end") {
  Consumer rome;
  const core::PrivateKey before = rome.key();
  static_cast<void>(rome.server.remove(resources::secrets, {"liqo", "authentication-keys"}, {}, "operator"));
  CHECK(rome.reaches([&] { return rome.has(resources::secrets, {"liqo", "authentication-keys"}); }));
  CHECK(rome.key().public_key() == before.public_key());
}

}  // namespace liqo::testing
