// The nonce of the handshake over a fake API server: made by the provider, signed by the consumer.
#include <doctest/doctest.h>

#include "../cluster_fixture.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/handshake.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace resources = kube::resources;

/// Cluster rome with the tenant namespace of milan.
struct Peer : ClusterFixture {
  Peer() : ClusterFixture("rome") {
    apply(resources::namespaces, core::forge_tenant_namespace("milan"));
    start();
    REQUIRE(reaches([&] { return has(resources::secrets, {"liqo", "authentication-keys"}); }));
  }
  ~Peer() { stop(); }

  core::PrivateKey key() {
    return *core::read_cluster_keys(*find(resources::secrets, {"liqo", "authentication-keys"}));
  }
  std::string bytes(const kube::ObjectKey& secret, std::string_view field) {
    return core::secret_bytes(*find(resources::secrets, secret), field);
  }
  bool has_signed(const std::string& text) {
    return key().public_key().verify(text, bytes(signed_nonce, "signedNonce"));
  }

  const std::string ns = "liqo-tenant-milan";
  const kube::ObjectKey nonce{ns, "liqo-nonce"}, signed_nonce{ns, "liqo-signed-nonce"};
};

TEST_CASE("a provider fills the Secret of a nonce once") {
  Peer rome;
  rome.apply(resources::secrets, core::forge_nonce_secret(rome.ns, "milan"));
  REQUIRE(rome.reaches([&] { return core::is_nonce(rome.bytes(rome.nonce, "nonce")); }));
  const std::string made = rome.bytes(rome.nonce, "nonce");
  rome.apply(resources::secrets, core::forge_nonce_secret(rome.ns, "milan"));
  rome.pass(10min);
  CHECK(rome.bytes(rome.nonce, "nonce") == made);
  CHECK(rome.events("NonceGenerated").size() == 1);
}

TEST_CASE("a consumer signs a provider's nonce, and nothing that is none") {
  Peer rome;
  const std::string nonce = *core::make_nonce(core::secure_random);
  rome.apply(resources::secrets, core::forge_signed_nonce_secret(rome.ns, "milan", "please sign this contract"));
  CHECK(rome.reaches([&] { return !rome.events("InvalidNonce").empty(); }));
  CHECK(rome.bytes(rome.signed_nonce, "signedNonce").empty());
  rome.apply(resources::secrets, core::forge_signed_nonce_secret(rome.ns, "milan", nonce));
  CHECK(rome.reaches([&] { return rome.has_signed(nonce); }));
}

TEST_CASE("another nonce of the provider is signed anew") {
  Peer rome;
  const std::string first = *core::make_nonce(core::secure_random), second = *core::make_nonce(core::secure_random);
  rome.apply(resources::secrets, core::forge_signed_nonce_secret(rome.ns, "milan", first));
  REQUIRE(rome.reaches([&] { return rome.has_signed(first); }));
  rome.apply(resources::secrets, core::forge_signed_nonce_secret(rome.ns, "milan", second));
  CHECK(rome.reaches([&] { return rome.has_signed(second); }));
}

TEST_CASE("a nonce for another cluster than that of the tenant namespace is neither made nor signed") {
  Peer rome;
  rome.apply(resources::secrets, core::forge_nonce_secret(rome.ns, "turin"));
  rome.apply(resources::secrets,
             core::forge_signed_nonce_secret(rome.ns, "turin", *core::make_nonce(core::secure_random)));
  CHECK(rome.reaches([&] { return rome.events("WrongNamespace").size() == 2; }));
  rome.pass(1min);
  CHECK(rome.bytes(rome.nonce, "nonce").empty());
  CHECK(rome.bytes(rome.signed_nonce, "signedNonce").empty());
}

}  // namespace
}  // namespace liqo::testing
