#include "webhook/certificate_plan.hpp"

#include <doctest/doctest.h>

using namespace liqo::webhook;
using namespace std::chrono_literals;
using kube::WallTime;

namespace {

const WallTime start = kube::parse_time("2026-11-21T10:00:00Z").value();

CertificateSettings settings() {
  CertificateSettings made;
  made.dns_names = {"liqo-webhook", "liqo-webhook.liqo.svc"};
  made.ip_addresses = {"192.168.1.1"};
  made.lifetime = 90h;
  return made;
}

CertificateState first() { return plan_certificates({}, settings(), start).value().change.value(); }

std::size_t authorities(const CertificateState& state) { return kube::net::split_certificates(state.authority).size(); }

/// The certificate verifies against the bundle.
bool is_trusted(const CertificateState& by, const CertificateState& of) {
  for (const std::string& authority : kube::net::split_certificates(by.authority))
    if (kube::net::is_signed_by(of.certificate, authority).value_or(false)) return true;
  return false;
}

/// The content of a Secret after all changes that are due at that time, one by one, and how many these were.
int settle(CertificateState& state, WallTime now, const CertificateSettings& with = settings()) {
  int changes = 0;
  for (; changes < 10; ++changes) {
    auto plan = plan_certificates(state, with, now);
    REQUIRE(plan);
    if (!plan->change) return changes;
    CHECK(is_trusted(*plan->change, *plan->change));
    state = std::move(*plan->change);
  }
  return changes;
}

}  // namespace

TEST_CASE("the first start makes everything at once, and then nothing") {
  const CertificateState state = first();
  CHECK(authorities(state) == 1);
  CHECK(is_trusted(state, state));
  CHECK(kube::net::key_matches(state.key, state.certificate).value());
  const auto info = kube::net::read_certificate(state.certificate).value();
  CHECK(info.subject.dns_names == settings().dns_names);
  CHECK(info.subject.ip_addresses == settings().ip_addresses);
  const auto plan = plan_certificates(state, settings(), start).value();
  CHECK(plan.usable);
  CHECK_FALSE(plan.change);
  CHECK(plan.look_again == start + 60h);
}

TEST_CASE("a certificate is renewed at two thirds of its time, by the same authority") {
  CertificateState state = first();
  const CertificateState before = state;
  CHECK(settle(state, start + 59h) == 0);
  CHECK(settle(state, start + 60h) == 1);
  CHECK(state.authority == before.authority);
  CHECK(state.certificate != before.certificate);
  CHECK(is_trusted(before, state));
}

TEST_CASE("an authority is trusted before it signs, and the one before it stays trusted while its certificates live") {
  CertificateState state = first();
  settle(state, start + 60h);
  settle(state, start + 120h);
  settle(state, start + 180h);
  // 2/3 of the authority's 360 hours, and of the certificate's 90.
  const CertificateState before = state;
  CHECK(settle(state, start + 240h) == 1);
  CHECK(authorities(state) == 2);
  CHECK(state.certificate == before.certificate);
  CHECK(is_trusted(state, before));
  const CertificateState announced = state;
  const auto waiting = plan_certificates(state, settings(), start + 240h + 1min).value();
  CHECK_FALSE(waiting.change);
  CHECK(waiting.look_again == start + 240h + 5min);
  CHECK(settle(state, start + 240h + 5min) == 1);
  CHECK(state.certificate != before.certificate);
  CHECK(is_trusted(announced, state));
  CHECK_FALSE(is_trusted(before, state));
  // Configurations that trust both work with each certificate that a replica still serves.
  CHECK(is_trusted(state, before));
}

TEST_CASE("over a year every state trusts what is served, and the bundle stays small") {
  CertificateState state = first();
  CertificateState configured = state;
  for (WallTime now = start; now < start + 24h * 365; now += 8h) {
    auto plan = plan_certificates(state, settings(), now).value();
    REQUIRE(plan.usable);
    if (plan.change) {
      // The bundle in the configuration at that moment trusts the new certificate.
      CHECK(is_trusted(configured, *plan.change));
      state = *plan.change;
    }
    configured = state;
    REQUIRE(authorities(state) <= 4);
  }
}

TEST_CASE("what cannot be served is replaced at once") {
  const CertificateState good = first();
  const CertificateState other = first();
  CertificateState broken[] = {good, good, good, good, {}};
  broken[0].key = other.key;
  broken[1].certificate = "garbage";
  broken[2].authority = other.authority;
  broken[3].authority.clear();
  broken[4].key = "x";
  for (CertificateState& state : broken) {
    CHECK_FALSE(plan_certificates(state, settings(), start).value().usable);
    CHECK(settle(state, start) == 1);
    CHECK(plan_certificates(state, settings(), start).value().usable);
  }
  CertificateState expired = good;
  CHECK(settle(expired, start + 91h) == 1);
  CHECK(is_trusted(good, expired));
  CertificateState long_expired = good;
  CHECK(settle(long_expired, start + 24h * 365 * 5) == 1);
  CHECK(authorities(long_expired) == 1);
}

TEST_CASE("a new name is put into the certificate, and those of other replicas stay") {
  CertificateState state = first();
  CertificateSettings more = settings();
  more.ip_addresses = {"192.168.1.2"};
  CHECK(settle(state, start + 1min, more) == 1);
  const auto info = kube::net::read_certificate(state.certificate).value();
  CHECK(info.subject.ip_addresses == std::vector<std::string>{"192.168.1.2", "192.168.1.1"});
  CHECK(settle(state, start + 1min) == 0);
}

TEST_CASE(
    "a Secret of the Go version is served until its certificate is due, and then gets an authority beside its own") {
  CertificateState state = first();
  state.authority_key.clear();
  const CertificateState before = state;
  CHECK(settle(state, start + 59h) == 0);
  CHECK(settle(state, start + 60h) == 1);
  CHECK(authorities(state) == 2);
  CHECK(state.certificate == before.certificate);
  CHECK(settle(state, start + 60h + 5min) == 1);
  CHECK(is_trusted(state, before));
  CHECK(is_trusted(state, state));
}
