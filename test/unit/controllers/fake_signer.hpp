// The signer of a simulated cluster: what kube-controller-manager does with approved certificate signing requests.
#pragma once

#include <string>

#include "../../../src/core/authentication/der.hpp"
#include "../../../src/core/authentication/pem.hpp"
#include "kube/base/base64.hpp"
#include "kube/testing/fake_api_server.hpp"
#include "kube/testing/simulator.hpp"
#include "liqo/core/authentication/csr.hpp"

namespace liqo::testing {

/// A certificate (RFC 5280 section 4.1) for what the request asks, with the subject as it stands in the request.
inline std::string issue_certificate(std::string_view request_pem, kube::WallTime begin, kube::WallTime end) {
  namespace der = core::der;
  using namespace std::string_literals;
  const auto time = [](kube::WallTime at) {
    std::string digits;
    for (char c : kube::format_time(at))
      if (c >= '0' && c <= '9') digits += c;
    return der::element(der::utc_time, digits.substr(2) + "Z");
  };
  const auto block = core::read_pem(request_pem);
  der::Reader outer(block->der);
  der::Reader request(outer.take(der::sequence)->content);
  der::Reader info(request.take(der::sequence)->content);
  static_cast<void>(info.take(der::integer));
  const std::string subject(info.take(der::sequence)->whole);
  const std::string key(info.take(der::sequence)->whole);
  const std::string algorithm = "\x30\x05\x06\x03\x2b\x65\x70"s;
  const std::string body =
      der::element(der::sequence, der::element(der::context_0, der::element(der::integer, "\x02")) +
                                      der::element(der::integer, "\x05") + algorithm + der::element(der::sequence, "") +
                                      der::element(der::sequence, time(begin) + time(end)) + subject + key);
  const auto authority = core::PrivateKey::make_ed25519(
      [](std::size_t size) -> kube::Result<std::string> { return std::string(size, '\3'); });
  const std::string signature = der::element(der::bit_string, "\0"s + *authority->sign(body));
  return core::write_pem("CERTIFICATE", der::element(der::sequence, body + algorithm + signature));
}

/// Signs what is approved, after 30 ms. Attached to its server for good; must live as long as the simulator runs.
class FakeSigner {
 public:
  FakeSigner(kube::testing::Simulator& simulator, kube::testing::FakeApiServer& server)
      : simulator_(simulator), server_(server) {
    server_.store().on_change([this](const kube::testing::FakeChange& change) {
      if (change.kind->plural != "certificatesigningrequests" || change.type == kube::testing::ChangeType::deleted)
        return;
      simulator_.clock().call_in(std::chrono::milliseconds(30), [this, key = change.key] { sign(key); });
    });
  }

  bool silent = false;                                        ///< signs nothing
  kube::WallTime::duration validity = std::chrono::hours(3);  ///< of what is signed, from now on
  int signed_requests = 0;

 private:
  void sign(const kube::ObjectKey& key) {
    constexpr kube::Resource requests = kube::resources::certificate_signing_requests;
    const auto request = server_.get(requests, key);
    if (silent || !request || !kube::string_at(*request, {"status", "certificate"}).empty()) return;
    bool approved = false;
    for (const auto& condition : kube::array_at(*request, {"status", "conditions"}))
      approved = approved || kube::string_at(condition, {"type"}) == "Approved";
    if (!approved) return;
    ++signed_requests;
    const std::string pem = *kube::decode_base64(kube::string_at(*request, {"spec", "request"}));
    const kube::WallTime now = simulator_.clock().wall();
    static_cast<void>(server_.update(
        requests, key, "status",
        [&](kube::json::object& next) {
          kube::ensure_object(next, "status")["certificate"] =
              kube::encode_base64(issue_certificate(pem, now, now + validity));
        },
        "signer"));
  }

  kube::testing::Simulator& simulator_;
  kube::testing::FakeApiServer& server_;
};

}  // namespace liqo::testing
