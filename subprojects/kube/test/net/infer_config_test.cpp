// What a program reads of the files that its cluster's config names.
#include "kube/net/infer_config.hpp"

#include <doctest/doctest.h>

#include "support/temporary_directory.hpp"

namespace kube::test {

TEST_CASE("authorities are those of the config, or of the file that it names") {
  const TemporaryDirectory directory;
  directory.write("ca.crt", "of the file");
  wire::ClusterConfig config;
  CHECK(net::read_authorities(config).value() == "");
  config.ca_file = directory.at("ca.crt");
  CHECK(net::read_authorities(config).value() == "of the file");
  config.ca_file = directory.at("old.crt");
  const auto failed = net::read_authorities(config);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == Errc::missing);
  CHECK(failed.error().text() == config.ca_file + " cannot be read");
  config.ca_pem = "inline";
  CHECK(net::read_authorities(config).value() == "inline");
}

}  // namespace kube::test
