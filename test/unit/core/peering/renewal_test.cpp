// The parts that are read of an issued certificate, and when it is renewed.
#include "core/peering/renewal.hpp"

#include <doctest/doctest.h>

#include "fixtures.hpp"
#include "kube/base/near_time.hpp"

namespace liqo::core {
namespace {

using namespace std::chrono_literals;

kube::WallTime at(std::string_view text) { return *kube::parse_time(text); }

}  // namespace

TEST_CASE("a certificate tells its times, its key and its name") {
  const auto read = read_certificate(fixtures::certificate);
  REQUIRE(read);
  CHECK(read->not_before == at("2026-11-21T10:00:00Z"));
  CHECK(read->not_after == at("2026-11-21T13:00:00Z"));
  CHECK(read->key == *PublicKey::parse(fixtures::public_key));
  CHECK(read->name == CertificateName{.common_name = "tenant-a", .organization = "liqo.io"});
  const auto late = read_certificate(fixtures::late_certificate);
  REQUIRE(late);
  CHECK(late->not_after == at("2070-01-01T00:00:00Z"));
}

TEST_CASE("a certificate is renewed at two thirds of the time from receipt to end") {
  struct Case {
    const char* title;
    std::optional<std::string_view> received;
    std::string_view renewal;
  };
  const Case cases[] = {
      {"receipt unknown", std::nullopt, "2026-11-21T12:00:00Z"},
      {"received an hour after it began", "2026-11-21T11:00:00Z", "2026-11-21T12:20:00Z"},
      {"received just before its end", "2026-11-21T12:59:59Z", "2026-11-21T13:00:59Z"},
      {"received after its end", "2026-11-21T14:00:00Z", "2026-11-21T14:01:00Z"},
  };
  const auto certificate = read_certificate(fixtures::certificate);
  REQUIRE(certificate);
  for (const Case& c : cases) {
    CAPTURE(c.title);
    const auto received = c.received ? std::optional(at(*c.received)) : std::nullopt;
    CHECK(renewal_time(*certificate, received) == at(c.renewal));
  }
}

TEST_CASE("what holds for a time is renewed after two thirds of it") {
  const auto begin = at("2026-11-21T11:00:00Z");
  CHECK(renewal_time(begin, begin + 30min, begin) == begin + 20min);
  CHECK(renewal_time(begin, begin - 30min, begin) == begin);
  // "99991231235959Z" stands for no end (RFC 5280 section 4.1.2.5); a pause is reckoned in nanoseconds.
  const kube::WallTime no_end = std::chrono::sys_days{std::chrono::year{9999} / 12 / 31};
  const kube::WallTime far = renewal_time(begin, no_end, begin);
  CHECK(far == kube::latest_near_time);
  CHECK(kube::Duration(far - begin) > std::chrono::years(150));
}

TEST_CASE("what is no certificate is refused") {
  for (std::string_view text : {std::string_view(), fixtures::public_key, fixtures::tenant_a_csr,
                                std::string_view("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n")})
    CHECK(!read_certificate(text));
  CHECK(!read_certificate(std::string(65 << 10, 'A')));
}

}  // namespace liqo::core
