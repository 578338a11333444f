// A renewed certificate on its way to the consumer, over a fake API server.
#include <doctest/doctest.h>

#include "peering_fixture.hpp"

namespace liqo::testing {
namespace {

using namespace std::chrono_literals;
namespace kinds = api::kinds;

}  // namespace

TEST_CASE("certificates are renewed at two thirds of their life, and the consumer is answered") {
  PeeringProvider milan;
  milan.start();
  milan.admit();
  const std::string first = milan.params().certificate_pem;
  kube::Object renew = kube::Object::make(kinds::renews, {milan.ns, "controlplane-milan"});
  renew.set_label(api::labels::replicated, "true");
  renew.set_label(api::labels::replication_origin, "rome");
  renew.mutable_spec()["consumerClusterID"] = "rome";
  renew.mutable_spec()["identityType"] = "ControlPlane";
  milan.apply(kinds::renews, renew);
  const auto answer = [&] {
    const auto params =
        api::read_auth_params(kube::object_at(milan.find(kinds::renews, renew.key())->status(), {"authParams"}));
    return params ? params->certificate_pem : "";
  };
  CHECK(milan.reaches([&] { return answer() == first; }));
  milan.pass(1h + 55min);
  CHECK(milan.params().certificate_pem == first);
  milan.pass(10min);
  const std::string second = milan.params().certificate_pem;
  CHECK(second != first);
  CHECK(answer() == second);
  CHECK(milan.signer.signed_requests == 2);
}

}  // namespace liqo::testing
