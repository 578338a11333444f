// Keys and signatures: equal to Go's where they are deterministic, and hostile input is refused.
#include "core/peering/keys.hpp"

#include <doctest/doctest.h>

#include "fixtures.hpp"
#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

kube::Result<std::string> sevens(std::size_t size) { return std::string(size, '\7'); }

}  // namespace

TEST_CASE("an Ed25519 key of given entropy has the text that Go gives it") {
  const auto key = PrivateKey::make_ed25519(sevens);
  REQUIRE(key);
  CHECK(key->pem() == fixtures::private_key);
  CHECK(key->public_key().pem() == fixtures::public_key);
  CHECK(key->type() == KeyType::ed25519);
  const auto read = PrivateKey::parse(fixtures::private_key);
  REQUIRE(read);
  CHECK(read->public_key() == key->public_key());
}

TEST_CASE("entropy that fails or is too short makes no key") {
  CHECK(!PrivateKey::make_ed25519([](std::size_t) { return kube::fail(kube::Errc::missing, "none"); }));
  CHECK(!PrivateKey::make_ed25519([](std::size_t) -> kube::Result<std::string> { return std::string("short"); }));
}

TEST_CASE("a nonce is signed as Go signs it, and nothing else passes for its signature") {
  const auto key = PrivateKey::parse(fixtures::private_key);
  REQUIRE(key);
  const auto signature = key->sign(fixtures::nonce);
  REQUIRE(signature);
  CHECK(kube::encode_base64(*signature) == fixtures::nonce_signature);
  CHECK(key->public_key().verify(fixtures::nonce, *signature));
  CHECK(!key->public_key().verify("another text", *signature));
  CHECK(!key->public_key().verify(fixtures::nonce, ""));
  CHECK(!key->public_key().verify(fixtures::nonce, signature->substr(1)));
  CHECK(!key->public_key().verify(fixtures::nonce, *signature + "x"));
}

TEST_CASE("32 raw bytes are the Ed25519 key of an old consumer") {
  const auto key = PublicKey::parse(fixtures::public_key);
  REQUIRE(key);
  const auto old = PublicKey::parse(key->der().substr(key->der().size() - 32));
  REQUIRE(old);
  CHECK(*old == *key);
}

TEST_CASE("RSA keys are made, read, and sign") {
  const auto key = PrivateKey::parse(fixtures::rsa_private_key);
  REQUIRE(key);
  CHECK(key->type() == KeyType::rsa);
  CHECK(key->pem() == fixtures::rsa_private_key);
  const auto signature = key->sign("text");
  REQUIRE(signature);
  CHECK(key->public_key().verify("text", *signature));
  CHECK(!key->public_key().verify("texts", *signature));
  const auto made = PrivateKey::make_rsa();
  REQUIRE(made);
  CHECK(made->public_key().bits() == 2048);
  CHECK(!made->public_key().verify("text", *signature));
}

TEST_CASE("keys of pods are made by the names that Kubernetes has for them") {
  for (const std::string_view type : {"ED25519", "ECDSAP256", "ECDSAP384", "ECDSAP521", "RSA3072"}) {
    CAPTURE(type);
    const auto made = PrivateKey::make_for_pod(type, {});
    REQUIRE(made.has_value());
    const auto read = PrivateKey::parse(made->pem());
    REQUIRE(read.has_value());
    CHECK(read->public_key() == made->public_key());
    CHECK(made->type() == (type == "ED25519" ? KeyType::ed25519 : type == "RSA3072" ? KeyType::rsa : KeyType::ecdsa));
  }
  CHECK_FALSE(PrivateKey::make_for_pod("DSA", {}).has_value());
}

TEST_CASE("what is no public key is refused with a reason") {
  struct Case {
    const char* title;
    std::string bytes;
    kube::Errc code;
  };
  const auto key = PublicKey::parse(fixtures::public_key);
  REQUIRE(key);
  const Case cases[] = {
      {"nothing", "", kube::Errc::parse},
      {"bare DER", key->der(), kube::Errc::parse},
      {"31 bytes", std::string(31, 'x'), kube::Errc::parse},
      {"a private key", std::string(fixtures::private_key), kube::Errc::parse},
      {"broken base64", "-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n", kube::Errc::parse},
      {"other DER", "-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n", kube::Errc::parse},
      {"something after the DER",
       "-----BEGIN PUBLIC KEY-----\n" + kube::encode_base64(key->der() + "x") + "\n-----END PUBLIC KEY-----\n",
       kube::Errc::parse},
      {"17 KiB", std::string(17 << 10, 'A'), kube::Errc::too_large},
      {"RSA of 1024 bits",
       "-----BEGIN PUBLIC KEY-----\n"
       "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCwyVuUmKaRiCKPcbiXhMVyj4bIRX42YrJEjUvI5x05WlsfmR/cL0q4KdVRZoW3"
       "Vym3BenMbSP0UxJWdVECmTwl8KJnaabH8/G/hHztK01wmK/l/q3pmqODTsk7FulZW6CM1OQL0Xg+Lybx9Fo4bldARbBLD3Gs2ULj"
       "GcG5r3/mowIDAQAB\n-----END PUBLIC KEY-----\n",
       kube::Errc::unsupported},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto read = PublicKey::parse(c.bytes);
    REQUIRE(!read);
    CHECK(read.error().code() == c.code);
    CHECK(!read.error().text().empty());
  }
}

TEST_CASE("a private key in another form than PKCS#8 is refused") {
  CHECK(!PrivateKey::parse(""));
  CHECK(!PrivateKey::parse(fixtures::public_key));
  CHECK(!PrivateKey::parse("-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"));
  CHECK(!PrivateKey::parse("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n"));
}

}  // namespace liqo::core
