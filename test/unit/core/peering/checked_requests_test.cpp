// How often signing requests are read: once each, with the same verdicts as if they were read each time.
#include "core/peering/checked_requests.hpp"

#include <doctest/doctest.h>

#include "core/common/peer_names.hpp"
#include "fixtures.hpp"

namespace liqo::core {
namespace {

std::string text_of(const kube::Result<void>& verdict) { return verdict ? "" : verdict.error().text(); }

}  // namespace

TEST_CASE("a signing request is read once for each name and key, also one that is refused") {
  const auto key = PrivateKey::parse(fixtures::private_key), other = PrivateKey::parse(fixtures::rsa_private_key);
  REQUIRE(key);
  REQUIRE(other);
  struct Case {
    const char* title;
    std::string_view pem;
    CertificateName name;
    const PublicKey* key;
  };
  const Case cases[] = {
      {"right", fixtures::tenant_a_csr, control_plane_name("tenant-a"), &key->public_key()},
      {"of any key", fixtures::tenant_a_csr, control_plane_name("tenant-a"), nullptr},
      {"of another key", fixtures::tenant_a_csr, control_plane_name("tenant-a"), &other->public_key()},
      {"for another name", fixtures::tenant_a_csr, control_plane_name("tenant-b"), &key->public_key()},
      {"for another group", fixtures::tenant_a_csr, {.common_name = "tenant-a", .organization = "x"}, nullptr},
      {"another request", fixtures::rsa_csr, control_plane_name("tenant-a"), &key->public_key()},
      {"no request", "-----BEGIN", control_plane_name("tenant-a"), nullptr},
      {"nothing", "", control_plane_name("tenant-a"), nullptr},
  };
  CheckedRequests requests;
  for (int look = 0; look < 3; ++look)
    for (const Case& c : cases) {
      CAPTURE(c.title);
      CHECK(text_of(requests.check(c.pem, c.name, c.key)) == text_of(check_signing_request(c.pem, c.name, c.key)));
    }
  CHECK(requests.reads() == std::size(cases));
}

TEST_CASE("of too many verdicts the oldest are forgotten") {
  CheckedRequests requests(2);
  const auto ask = [&](std::string_view consumer) {
    return requests.check(fixtures::tenant_a_csr, control_plane_name(consumer), nullptr).has_value();
  };
  CHECK(ask("tenant-a"));
  CHECK_FALSE(ask("tenant-b"));
  CHECK_FALSE(ask("tenant-c"));
  CHECK(requests.reads() == 3);
  CHECK_FALSE(ask("tenant-b"));
  CHECK(requests.reads() == 3);
  CHECK(ask("tenant-a"));
  CHECK(requests.reads() == 4);
}

}  // namespace liqo::core
