#include "kube/net/tls/x509.hpp"

#include <doctest/doctest.h>

#include "kube/base/near_time.hpp"
#include "kube/net/tls/tls.hpp"
#include "support/pki.hpp"

namespace {

using namespace kube;
using namespace kube::net;

}  // namespace

TEST_CASE("a self-signed certificate says what it was made for, and fits its key only") {
  const WallTime now = parse_time("2026-11-21T10:00:00Z").value();
  const CertificateSubject subject{.common_name = "system:node:milan",
                                   .organizations = {"system:nodes", "second"},
                                   .ip_addresses = {"192.168.1.1", "fd00::1"},
                                   .dns_names = {"milan"}};
  const auto made = make_self_signed(subject, now, std::chrono::hours(24));
  REQUIRE(made.has_value());
  const auto info = read_certificate(made->certificate_pem);
  REQUIRE(info.has_value());
  CHECK(info->subject == subject);
  CHECK(format_time(info->not_before) == "2026-11-21T09:00:00Z");
  CHECK(format_time(info->not_after) == "2026-11-22T10:00:00Z");
  CHECK(key_matches(made->key_pem, made->certificate_pem).value());
  CHECK_FALSE(key_matches(make_key().value(), made->certificate_pem).value());
}

TEST_CASE("the end of a certificate can be reckoned with, however far it is") {
  const WallTime now = parse_time("2026-11-21T10:00:00Z").value();
  const auto made = make_self_signed({.common_name = "n", .organizations = {}, .ip_addresses = {}, .dns_names = {}},
                                     now, std::chrono::years(200));
  REQUIRE(made.has_value());
  const auto info = read_certificate(made->certificate_pem);
  REQUIRE(info.has_value());
  CHECK(info->not_after == latest_near_time);
}

TEST_CASE("a certificate request carries subject and addresses") {
  const auto key = make_key();
  REQUIRE(key.has_value());
  CHECK(key->starts_with("-----BEGIN PRIVATE KEY-----"));
  const auto request = make_certificate_request(*key, {.common_name = "system:node:n",
                                                       .organizations = {"system:nodes"},
                                                       .ip_addresses = {"10.0.0.1"},
                                                       .dns_names = {}});
  REQUIRE(request.has_value());
  CHECK(request->starts_with("-----BEGIN CERTIFICATE REQUEST-----"));
  CHECK_FALSE(make_certificate_request(
                  *key, {.common_name = "n", .organizations = {}, .ip_addresses = {"10.0.0"}, .dns_names = {}})
                  .has_value());
  CHECK_FALSE(make_certificate_request("no key", {}).has_value());
}

TEST_CASE("what is not a certificate or a key is a failure") {
  CHECK_FALSE(read_certificate("").has_value());
  CHECK_FALSE(read_certificate("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").has_value());
  CHECK_FALSE(key_matches("", test::self_signed().certificate_pem).has_value());
}

TEST_CASE("an encrypted PEM is a failure, and nobody is asked for its passphrase") {
  const std::string headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n";
  const auto encrypted = [&headers](std::string pem) { return pem.insert(pem.find('\n') + 1, headers); };
  const std::string key = make_key().value();
  const CertificateSubject subject{.common_name = "n", .organizations = {}, .ip_addresses = {}, .dns_names = {}};
  const auto request = read_certificate_request(encrypted(make_certificate_request(key, subject).value()));
  REQUIRE_FALSE(request.has_value());
  CHECK(request.error().code() == Errc::parse);
  CHECK_FALSE(read_certificate(encrypted(test::self_signed().certificate_pem)).has_value());
  CHECK_FALSE(make_certificate_request(encrypted(key), subject).has_value());
}

TEST_CASE("TLS settings name the part that cannot be used") {
  const auto one = test::self_signed(), other = test::self_signed();
  struct Case {
    std::string title;
    TlsClientConfig config;
    std::string part;
  };
  const std::string cut = one.certificate_pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const Case cases[] = {
      {"CA is text",
       {.ca_pem = "hello", .certificate_pem = "", .key_pem = ""},
       "certificate authority: no certificate"},
      {"second CA is broken",
       {.ca_pem = cut, .certificate_pem = "", .key_pem = ""},
       "certificate authority: certificate 2"},
      {"client certificate is text",
       {.ca_pem = one.certificate_pem, .certificate_pem = "a", .key_pem = "b"},
       "client: certificate"},
      {"client key is text",
       {.ca_pem = one.certificate_pem, .certificate_pem = one.certificate_pem, .key_pem = "b"},
       "client: private key"},
      {"key of another",
       {.ca_pem = one.certificate_pem, .certificate_pem = one.certificate_pem, .key_pem = other.key_pem},
       "does not belong"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.title);
    const auto context = TlsContext::client(test.config);
    REQUIRE_FALSE(context.has_value());
    CAPTURE(context.error().text());
    CHECK(context.error().code() == Errc::tls);
    CHECK(context.error().text().find(test.part) != std::string::npos);
  }
  CHECK(TlsContext::client({.ca_pem = one.certificate_pem, .certificate_pem = "", .key_pem = ""}).has_value());
}

TEST_CASE("an authority signs certificates of servers that its own certificate proves") {
  const WallTime now = parse_time("2026-11-21T10:00:00Z").value();
  const auto authority = make_authority("liqo.io", now, std::chrono::hours(100));
  const auto stranger = make_authority("liqo.io", now, std::chrono::hours(100));
  REQUIRE(authority.has_value());
  REQUIRE(stranger.has_value());
  CertificateSubject subject;
  subject.common_name = "webhook.liqo.svc";
  subject.dns_names = {"webhook.liqo.svc"};
  subject.ip_addresses = {"192.168.1.1"};
  const auto issued = issue_server_certificate(*authority, subject, now, std::chrono::hours(10));
  REQUIRE(issued.has_value());
  const auto info = read_certificate(issued->certificate_pem).value();
  CHECK(info.subject == subject);
  CHECK(format_time(info.not_before) == "2026-11-21T09:00:00Z");
  CHECK(format_time(info.not_after) == "2026-11-21T20:00:00Z");
  CHECK(key_matches(issued->key_pem, issued->certificate_pem).value());
  CHECK(is_signed_by(issued->certificate_pem, authority->certificate_pem).value());
  CHECK(is_signed_by(authority->certificate_pem, authority->certificate_pem).value());
  CHECK_FALSE(is_signed_by(issued->certificate_pem, stranger->certificate_pem).value());
  CHECK_FALSE(is_signed_by(issued->certificate_pem, "nothing").has_value());
  CHECK_FALSE(issue_server_certificate({.key_pem = "x", .certificate_pem = "y"}, subject, now, std::chrono::hours(1)));

  const std::string bundle = authority->certificate_pem + "noise\n" + stranger->certificate_pem + "-----BEGIN";
  CHECK(split_certificates(bundle) == std::vector<std::string>{authority->certificate_pem, stranger->certificate_pem});
  CHECK(split_certificates("").empty());
}
