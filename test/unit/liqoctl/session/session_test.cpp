// The clusters and users that a command connects to, and the questions that it asks its user.
#include "session/session.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <optional>
#include <set>

#include "../peered_clusters.hpp"
#include "kube/net/tls/x509.hpp"

namespace liqoctl::test {
namespace {

using namespace std::chrono_literals;

/// Sets a variable of the environment, for as long as this lives.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_CASE("credentials of home are not sent to a remote server") {
  CommandWorld world;
  TestCluster rome(world, "rome"), milan(world, "milan");
  rome.write_kubeconfig(R"({"token": "of-home"})");
  const EnvironmentVariable kubeconfig("KUBECONFIG", rome.kubeconfig());
  const Done nobody = world.run("unpeer --remote-server http://" + milan.address());
  CHECK(nobody.code == 2);
  CHECK_MESSAGE(nobody.err.contains("--remote-server does not say as whom to ask"), nobody.err);
  CHECK(rome.tokens.empty());
  CHECK(milan.tokens.empty());
  world.run("unpeer --skip-confirm --remote-token of-milan --remote-server http://" + milan.address());
  CHECK(rome.tokens == std::set<std::string>{"of-home"});
  CHECK(milan.tokens == std::set<std::string>{"of-milan"});
}

TEST_CASE("a certificate that has expired says since when") {
  CommandWorld world;
  TestCluster rome(world, "rome");
  rome.is_locked = true;
  const Done unknown = world.run("get rs", rome);
  CHECK(unknown.code == 1);
  CHECK_FALSE(unknown.err.contains("expired"));
  const kube::WallTime now = world.simulator().clock().wall();
  const auto pair = kube::net::make_self_signed({.common_name = "tim"}, now - 48h, 24h);
  REQUIRE(pair.has_value());
  world.files().write("certificate", pair->certificate_pem);
  world.files().write("key", pair->key_pem);
  rome.write_kubeconfig(R"({"client-certificate": ")" + world.files().at("certificate") + R"(", "client-key": ")" +
                        world.files().at("key") + R"("})");
  const Done expired = world.run("get rs", rome);
  CHECK(expired.code == 1);
  CHECK_MESSAGE(
      has_line(
          expired.err,
          R"(ERRO: the client certificate of user "rome" expired at 2025-12-31T00:00:00Z \(24h ago\): a new kubeconfig is needed)"),
      expired.err);
}

TEST_CASE("a file that is not there is told as such") {
  CommandWorld world;
  const std::string missing = world.files().at("milan.yaml");
  const Done done = world.run("info --kubeconfig " + missing);
  CHECK(done.code == 1);
  CHECK(done.err == "ERRO: there is no file " + missing + "\n");
}

TEST_CASE("who can be asked is asked, and any answer but yes changes nothing") {
  CommandWorld world;
  world.traits.can_be_asked = true;
  TestCluster milan(world, "milan");
  add_consumer_rome(milan);
  const std::string question =
      "Tenant rome: new slices and new pods will be refused; pods that run stay. Go on? [y/N] ";
  for (const char* answer : {"no\n", "\n", "", "yesterday\n"}) {
    CAPTURE(answer);
    world.typed = answer;
    const Done done = world.run("cordon tenant rome", milan);
    CHECK(done.code == 1);
    CHECK(done.err == question + "ERRO: not confirmed: nothing was changed\n");
    CHECK(milan.writes() == 0);
  }
  world.typed = " Yes \n";
  const Done done = world.run("cordon tenant rome", milan);
  CHECK(done.code == 0);
  CHECK(done.err == question + "INFO: milan: Tenant rome cordoned\n");
}

TEST_CASE("a remote kubeconfig that runs a program is not followed unasked") {
  CommandWorld world;
  TestCluster rome(world, "rome"), milan(world, "milan");
  milan.write_kubeconfig(R"({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/false",
      "interactiveMode": "Never"}})");
  const Done done = world.run("peer", rome, milan);
  CHECK(done.code == 1);
  CHECK_MESSAGE(done.err.contains("ERRO: the remote cluster's kubeconfig "), done.err);
  CHECK_MESSAGE(done.err.ends_with("Give --remote-allow-exec if you trust whoever wrote it.\n"), done.err);
  CHECK(milan.asked.empty());
}

}  // namespace
}  // namespace liqoctl::test
