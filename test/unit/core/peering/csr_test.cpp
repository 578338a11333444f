// Signing requests: the bytes that the Go version makes, and the refusal of everything that asks for more.
#include "core/peering/csr.hpp"

#include <doctest/doctest.h>

#include "core/common/peer_names.hpp"
#include "fixtures.hpp"
#include "kube/base/base64.hpp"

namespace liqo::core {
namespace {

PrivateKey key_of(std::string_view pem) {
  auto key = PrivateKey::parse(pem);
  REQUIRE(key);
  return *key;
}

std::string der_of(std::string_view pem) {
  const std::size_t begin = pem.find('\n');
  return *kube::decode_base64(pem.substr(begin, pem.rfind("\n-----END") - begin));
}

std::string pem_of(std::string_view der) {
  return "-----BEGIN CERTIFICATE REQUEST-----\n" + kube::encode_base64(der) + "\n-----END CERTIFICATE REQUEST-----\n";
}

}  // namespace

TEST_CASE("a signing request has the bytes that Go gives it") {
  struct Case {
    const char* title;
    std::string_view key;
    CertificateName name;
    std::string_view pem;
  };
  const Case cases[] = {
      {"ControlPlane", fixtures::private_key, control_plane_name("tenant-a"), fixtures::tenant_a_csr},
      {"slice", fixtures::private_key, slice_name("mypool", "cl-consumer"), fixtures::slice_csr},
      {"more than 64 characters, not all printable",
       fixtures::private_key,
       {.common_name = "a_b*&@" + std::string(150, 'x'), .organization = "liqo.io"},
       fixtures::long_csr},
      {"RSA", fixtures::rsa_private_key, control_plane_name("tenant-a"), fixtures::rsa_csr},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const PrivateKey key = key_of(c.key);
    const auto made = make_signing_request(key, c.name);
    REQUIRE(made);
    CHECK(*made == c.pem);
    const auto read = read_signing_request(*made);
    REQUIRE(read);
    CHECK(read->name == c.name);
    CHECK(read->key == key.public_key());
    CHECK(check_signing_request(*made, c.name, &key.public_key()));
  }
}

TEST_CASE("a request for a key alone names nobody") {
  for (const std::string_view type : {"ED25519", "ECDSAP256", "ECDSAP521"}) {
    CAPTURE(type);
    const auto key = PrivateKey::make_for_pod(type, {});
    REQUIRE(key.has_value());
    const auto der = make_empty_request(*key);
    REQUIRE(der.has_value());
    // Version 0, no name, and the key (RFC 2986 section 4.1).
    CHECK(der->contains(std::string("\x02\x01\x00\x30\x00", 5) + key->public_key().der()));
  }
}

TEST_CASE("the subject has the DER of the specification: O, then CN, both PrintableString") {
  const std::string der = der_of(fixtures::tenant_a_csr);
  const std::string hex = "30253110300e060355040a13076c69716f2e696f3111300f0603550403130874656e616e742d61";
  std::string subject;
  for (std::size_t at = 0; at < hex.size(); at += 2) subject += char(std::stoi(hex.substr(at, 2), nullptr, 16));
  CHECK(der.find(subject) != std::string::npos);
}

TEST_CASE("the user of a slice is its name and 12 digits of its consumer") {
  CHECK(slice_user("mypool", "cl-consumer") == "mypool-573ffa690333");
  CHECK(slice_name("mypool", "cl-consumer") ==
        CertificateName{.common_name = "mypool-573ffa690333", .organization = "cl-consumer"});
}

TEST_CASE("a request that would make its certificate say more than one user and one group is refused") {
  struct Case {
    const char* title;
    std::string pem;
    const char* says;
  };
  const std::string good(fixtures::tenant_a_csr);
  std::string forged = der_of(good);
  forged.back() = char(forged.back() ^ 1);
  std::string renamed = der_of(good);
  renamed.replace(renamed.find("tenant-a"), 8, "tenant-b");
  const Case cases[] = {
      {"two organizations", std::string(fixtures::two_organizations_csr), "several values"},
      {"an alternative name", std::string(fixtures::alternative_name_csr), "attributes"},
      {"an organizational unit", std::string(fixtures::unit_csr), "neither organization nor common name"},
      {"a newline after the block", good + "\n", "after its PEM block"},
      {"a second block", good + good, "after its PEM block"},
      {"another signature", pem_of(forged), "not signed by the key"},
      {"another name than was signed", pem_of(renamed), "not signed by the key"},
      {"bytes after the DER", pem_of(der_of(good) + "x"), "not a PKCS#10 request"},
      {"cut DER", pem_of(der_of(good).substr(0, 100)), "not a PKCS#10 request"},
      {"a public key", std::string(fixtures::public_key), "not a PEM block"},
      {"nothing", "", "not a PEM block"},
      {"17 KiB", std::string(17 << 10, 'A'), "16 KiB"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto read = read_signing_request(c.pem);
    REQUIRE(!read);
    CAPTURE(read.error().text());
    CHECK(read.error().text().find(c.says) != std::string::npos);
  }
  CHECK(read_signing_request("a text before\n" + good));
}

TEST_CASE("every shortened request is refused, and none makes the reader stumble") {
  const std::string der = der_of(fixtures::tenant_a_csr);
  for (std::size_t length = 0; length < der.size(); ++length) {
    CAPTURE(length);
    CHECK(!read_signing_request(pem_of(der.substr(0, length))));
  }
  for (std::size_t at = 0; at < der.size(); ++at) {
    CAPTURE(at);
    std::string changed = der;
    changed[at] = char(changed[at] ^ 0x40);
    CHECK(!read_signing_request(pem_of(changed)));
  }
}

TEST_CASE("a request for another user, group or key than expected is refused") {
  const PrivateKey key = key_of(fixtures::private_key);
  const PrivateKey other = key_of(fixtures::rsa_private_key);
  CHECK(check_signing_request(fixtures::tenant_a_csr, control_plane_name("tenant-a"), nullptr));
  const auto wrong = [](CertificateName name, const PublicKey* public_key) {
    const auto checked = check_signing_request(fixtures::tenant_a_csr, name, public_key);
    return checked ? std::string() : checked.error().text();
  };
  CHECK(wrong(control_plane_name("tenant-b"), nullptr).find("common name") != std::string::npos);
  CHECK(wrong({.common_name = "tenant-a", .organization = "tenant-a"}, nullptr).find("organization") !=
        std::string::npos);
  CHECK(wrong(control_plane_name("tenant-a"), &other.public_key()).find("another key") != std::string::npos);
}

}  // namespace liqo::core
