// Certificates for tests, made on the spot.
#pragma once

#include <doctest/doctest.h>

#include "kube/async/clock.hpp"
#include "kube/net/tls/x509.hpp"

namespace kube::test {

/// A certificate of its own making for 127.0.0.1 and "localhost"; it is its own authority.
inline net::KeyAndCertificate self_signed(std::string name = "server", std::vector<std::string> groups = {},
                                          std::vector<std::string> addresses = {"127.0.0.1"},
                                          Duration age = std::chrono::seconds(0),
                                          Duration validity = std::chrono::hours(1)) {
  auto made = net::make_self_signed(
      {.common_name = std::move(name),
       .organizations = std::move(groups),
       .ip_addresses = std::move(addresses),
       .dns_names = {"localhost"}},
      async::RealClock().wall() - std::chrono::duration_cast<std::chrono::microseconds>(age), validity);
  REQUIRE(made.has_value());
  return std::move(*made);
}

}  // namespace kube::test
