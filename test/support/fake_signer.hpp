// The signer of a simulated cluster: what kube-controller-manager does with approved requests for client certificates.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/sim/simulator.hpp"

struct evp_pkey_st;  // of OpenSSL

namespace liqo::testing {

/// A key that signs certificates. Throws where a request cannot be read: tests make only such as can.
class CertificateIssuer {
 public:
  explicit CertificateIssuer(kube::Random& random);
  /// A certificate (PEM) for subject and key of the request.
  std::string issue(std::string_view request_pem, kube::WallTime begin, kube::WallTime end, std::uint64_t serial) const;

 private:
  std::shared_ptr<evp_pkey_st> key_;
};

/// A certificate for what the request asks, of an issuer that nobody trusts.
std::string issue_certificate(std::string_view request_pem, kube::WallTime begin, kube::WallTime end);

struct FakeSignerOptions {
  std::uint64_t seed = 1;
  /// How long it takes, within.
  kube::Duration min_delay = std::chrono::milliseconds(30), max_delay = std::chrono::milliseconds(30);
  /// Of what is signed at most, and where a request does not say for how long.
  std::chrono::seconds validity = std::chrono::hours(3);
  /// How long before it is signed a certificate is valid already.
  std::chrono::seconds backdating{0};
};

/// Signs what is approved, after a while. Attached to its server for good; must live as long as the simulator runs.
class FakeSigner {
 public:
  static constexpr std::string_view actor = "signer";
  FakeSigner(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server, FakeSignerOptions options = {});

  double negligence = 0;  ///< the chance that a request stays without an answer
  bool silent = false;    ///< signs nothing
  std::string instead;    ///< a request (PEM) that is signed in place of what was asked for
  std::chrono::seconds clock_behind{0};
  int signed_requests = 0;

 private:
  void sign(const std::string& name);

  kube::testing::Simulator& simulator_;
  kube::testing::FakeApiServer& server_;
  FakeSignerOptions options_;
  kube::Random random_;
  CertificateIssuer issuer_;
};

}  // namespace liqo::testing
