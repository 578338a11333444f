// The certificate by which servers of these tests serve.
#pragma once

#include "kubelet/serving_certificate.hpp"

namespace liqo::test {

/// For 127.0.0.1; the certificate is made once.
inline kube::net::TlsContext make_tls() {
  static const auto pair =
      kubelet::make_temporary_certificate("127.0.0.1", kube::WallTime(std::chrono::seconds(1767225600))).value();
  return kube::net::TlsContext::server({.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem}).value();
}

}  // namespace liqo::test
