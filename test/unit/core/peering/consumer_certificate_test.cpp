// Which certificate a consumer gets: the stored one, or a newly signed one.
#include "core/peering/consumer_certificate.hpp"

#include "../objects.hpp"
#include "core/peering/forge.hpp"
#include "fixtures.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;
namespace action = certificate_action;

/// What is kept of the certificate of tenant-a, which holds from 10:00 to 13:00.
kube::Object record(std::string_view csr = fixtures::tenant_a_csr,
                    std::string_view certificate = fixtures::certificate) {
  return forge_certificate_secret({.tenant_namespace = "liqo-tenant-tenant-a",
                                   .consumer = "tenant-a",
                                   .slice = "",
                                   .csr_pem = std::string(csr),
                                   .certificate_pem = std::string(certificate),
                                   .received = at(1h),
                                   .owner = std::nullopt});
}

SigningRequest request(std::string_view csr = fixtures::tenant_a_csr) {
  auto read = read_signing_request(csr);
  REQUIRE(read);
  return std::move(*read);
}

}  // namespace

TEST_CASE("a consumer keeps its certificate until it is due, and beyond while no other one can be had") {
  const StoredCertificate stored{.pem = "", .renew_at = at(2h), .not_after = at(3h)};
  // Received so late that the time of its renewal is after its end.
  const StoredCertificate ended{.pem = "", .renew_at = at(2h + 30s), .not_after = at(2h)};
  // Received while our clock was a day ahead.
  const StoredCertificate ahead{.pem = "", .renew_at = at(25h), .not_after = at(2h)};
  struct Case {
    const char* title;
    const StoredCertificate* stored;
    std::chrono::seconds now;
    CertificatePlan plan, after_failure;
  };
  const Case cases[] = {
      {"none", nullptr, 1h, action::Sign{}, action::GiveUp{}},
      {"not due", &stored, 2h - 1s, action::UseStored{at(2h)}, action::UseStored{at(2h + 59s)}},
      {"due", &stored, 2h, action::Sign{}, action::UseStored{at(2h + 1min)}},
      {"about to end", &stored, 3h - 1s, action::Sign{}, action::UseStored{at(3h + 59s)}},
      {"ended", &stored, 3h, action::Sign{}, action::GiveUp{}},
      {"ended by our clock, not due", &ended, 2h, action::UseStored{at(2h + 30s)}, action::GiveUp{}},
      {"received ahead of our clock", &ahead, 1h, action::Sign{}, action::UseStored{at(1h + 1min)}},
      {"received ahead of our clock, ended", &ahead, 2h, action::Sign{}, action::GiveUp{}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    CertificateSight sight{.stored = c.stored, .now = at(c.now)};
    CHECK(plan_certificate(sight) == c.plan);
    sight.has_failed = true;
    CHECK(plan_certificate(sight) == c.after_failure);
  }
}

TEST_CASE("a stored certificate counts for its request alone") {
  const auto stored = read_stored_certificate(record(), request());
  REQUIRE(stored);
  CHECK(stored->pem == fixtures::certificate);
  // Two thirds of the time from its receipt to its end.
  CHECK(stored->renew_at == at(1h + 80min));
  CHECK(stored->not_after == at(3h));
  // By name and key, whatever the bytes of the request were.
  CHECK(read_stored_certificate(record(fixtures::slice_csr), request()));

  kube::Object of_unknown_receipt = record();
  of_unknown_receipt.set_annotation(api::annotations::certificate_received, "yesterday");
  const auto undated = read_stored_certificate(of_unknown_receipt, request());
  REQUIRE(undated);
  CHECK(undated->renew_at == at(2h));

  CHECK_FALSE(read_stored_certificate(record(), request(fixtures::slice_csr)));
  CHECK_FALSE(read_stored_certificate(record(fixtures::tenant_a_csr, "none"), request()));
  kube::Object empty = record();
  empty.tree()["data"] = json::object{};
  CHECK_FALSE(read_stored_certificate(empty, request()));
}

TEST_CASE("what the cluster signed is of the name and the key that it was asked for") {
  const auto read = read_signed_certificate(fixtures::certificate, request());
  REQUIRE(read);
  CHECK(read->not_after == at(3h));
  const auto garbled = read_signed_certificate("none", request());
  REQUIRE_FALSE(garbled);
  CHECK(garbled.error().code() == kube::Errc::parse);
  CHECK(garbled.error().text().starts_with("reading what the cluster signed: "));
  for (const std::string_view csr : {fixtures::slice_csr, fixtures::rsa_csr}) {
    const auto other = read_signed_certificate(fixtures::certificate, request(csr));
    REQUIRE_FALSE(other);
    CHECK(other.error().code() == kube::Errc::unsupported);
    CHECK(other.error().text() == "the cluster signed a certificate of another name or key than it was asked for");
  }
}

}  // namespace liqo::core
