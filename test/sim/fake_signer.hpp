// The signer of a simulated cluster: what kube-controller-manager does with requests for client certificates.
#pragma once

#include <memory>

#include "kube/testing/fake_api_server.hpp"
#include "kube/testing/simulator.hpp"

struct evp_pkey_st;  // of OpenSSL

namespace liqo::sim {

/// Signs what is approved, after a while, and overlooks a request now and then. Attached to its server for good; must
/// live as long as the simulator runs.
class FakeSigner {
 public:
  static constexpr std::string_view actor = "signer";
  FakeSigner(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server, std::uint64_t seed);

  /// The chance that a request stays without an answer.
  void set_negligence(double chance) { negligence_ = chance; }

 private:
  void sign(const std::string& name);
  std::string certificate_for(const std::string& csr_pem, std::int64_t seconds) const;

  kube::testing::Simulator& simulator_;
  kube::testing::FakeApiServer& server_;
  kube::Random random_;
  std::shared_ptr<evp_pkey_st> key_;
  double negligence_ = 0;
};

}  // namespace liqo::sim
