#include "serving_certificate.hpp"

#include <doctest/doctest.h>

#include "kube/async/task_group.hpp"
#include "kube/testing/sim/simulator.hpp"

using namespace kube;
using namespace std::chrono_literals;

TEST_CASE("a server that runs for days shows a certificate that is valid, by the authority that callers know") {
  testing::Simulator simulator(1);
  int applied = 0;
  example::ServingCertificate certificate(simulator.clock(), {.common_name = "example", .ip_addresses = {"10.0.0.1"}},
                                          [&applied](const net::TlsContext&) { ++applied; });
  REQUIRE(certificate.begin().has_value());
  const std::string authority = certificate.authority_pem();
  async::TaskGroup group(simulator.executor());
  group.spawn(certificate.keep());
  for (int day = 0; day < 5; ++day) {
    REQUIRE(simulator.run_for(23h) == testing::Simulator::End::reached);
    const auto shown = net::read_certificate(certificate.certificate_pem());
    REQUIRE(shown.has_value());
    CHECK(shown->not_after > simulator.clock().wall() + 8h);
    CHECK(net::is_signed_by(certificate.certificate_pem(), authority).value());
  }
  CHECK(certificate.authority_pem() == authority);
  CHECK(applied == 14);
  simulator.run(group.stop());
}
