// Certificates that a provider has signed for consumers, over a fake API server: when, how often, and by which signer.
#include <doctest/doctest.h>

#include "peering_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;
namespace resources = kube::resources;

}  // namespace

TEST_CASE("a signer that is silent delays a Tenant and takes nothing from one that was admitted") {
  PeeringProvider milan;
  milan.start();
  milan.signer.silent = true;
  milan.apply(kinds::tenants, milan.make_tenant());
  milan.pass(90s);
  CHECK(!milan.is_admitted());
  milan.signer.silent = false;
  REQUIRE(milan.reaches([&] { return milan.is_admitted(); }, 3min));

  const std::string first = milan.params().certificate_pem;
  milan.signer.silent = true;
  milan.pass(2h + 30min);
  CHECK(milan.params().certificate_pem == first);
  milan.signer.silent = false;
  CHECK(milan.reaches([&] { return milan.params().certificate_pem != first; }, 5min));
  CHECK(milan.server.list(resources::certificate_signing_requests).empty());
}

TEST_CASE("an idle peering has nothing signed but renewals, whatever is around its requests") {
  PeeringProvider milan;
  milan.start();
  // After two thirds of three hours, for the Tenant and for its slice.
  constexpr int expected = 2 * (1 + 8 / 2);
  kube::Object tenant = milan.make_tenant();
  const auto with_preamble = [&](std::string_view text) {
    const auto pem = kube::decode_base64(kube::string_at(milan.make_tenant().spec(), {"csr"}));
    tenant.mutable_spec()["csr"] = kube::encode_base64(std::string(text) + *pem);
    milan.apply(kinds::tenants, tenant);
  };
  with_preamble("of rome\n");
  REQUIRE(milan.reaches([&] { return milan.is_admitted(); }));
  milan.add_slice("pool");
  milan.change(kinds::resource_slices, {milan.ns, "pool"}, "", [&](json::object& next) {
    kube::ensure_object(next, "spec")["csr"] =
        kube::encode_base64("of rome\n" + *core::make_signing_request(milan.rome, core::slice_name("pool", "rome")));
  });
  REQUIRE(milan.reaches([&] { return milan.signer.signed_requests == 2; }));
  for (int hour = 0; hour < 8; ++hour) {
    milan.pass(1h);
    with_preamble("at " + std::to_string(hour) + "\n");
  }
  CHECK(milan.signer.signed_requests > expected / 2);
  CHECK(milan.signer.signed_requests <= expected);
}

TEST_CASE("whoever asks by ever other keys has few certificates signed") {
  PeeringProvider milan;
  milan.start();
  // It shows no key, so its slices may have any.
  kube::Object tenant = kube::Object::make(kinds::tenants, milan.tenant_key);
  tenant.mutable_spec() = json::object{{"clusterID", "rome"}, {"authzPolicy", "TolerateNoHandshake"}};
  milan.apply(kinds::tenants, tenant);
  milan.add_slice("pool");
  const auto ask = [&milan](int number) {
    const core::PrivateKey key = key_of(char(number));
    milan.change(kinds::resource_slices, {milan.ns, "pool"}, "", [&](json::object& next) {
      kube::ensure_object(next, "spec")["csr"] =
          kube::encode_base64(*core::make_signing_request(key, core::slice_name("pool", "rome")));
    });
  };
  const int before = milan.signer.signed_requests;
  ask(1);
  REQUIRE(milan.reaches([&] { return milan.signer.signed_requests == before + 1; }));
  for (int number = 2; number < 100; ++number) {
    ask(number);
    milan.pass(600ms);
  }
  CHECK(milan.signer.signed_requests - before > 2);
  CHECK(milan.signer.signed_requests - before < 10);
}

TEST_CASE("a signer that does not do as it is asked is not asked again and again") {
  struct Case {
    const char* title;
    bool another;  ///< it signs another name
    std::chrono::seconds behind;
    bool admits;
  };
  for (const Case& c :
       {Case{"another name", true, 0s, false}, Case{"a clock that is a day behind", false, 24h, true}}) {
    CAPTURE(c.title);
    PeeringProvider milan;
    milan.start();
    if (c.another) milan.signer.instead = *core::make_signing_request(milan.rome, core::control_plane_name("paris"));
    milan.signer.clock_behind = c.behind;
    milan.apply(kinds::tenants, milan.make_tenant());
    milan.pass(1h);
    CHECK(milan.is_admitted() == c.admits);
    CHECK(milan.signer.signed_requests > 1);
    CHECK(milan.signer.signed_requests <= 100);
  }
}

}  // namespace liqo::testing
