// The files that the configuration of a cluster names, and what a program reads of them.
#include "kube/net/auth/infer_config.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

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
  CHECK(failed.error().text() == "there is no file " + config.ca_file);
  config.ca_pem = "inline";
  CHECK(net::read_authorities(config).value() == "inline");
}

TEST_CASE("a pod's cluster is that of its service account, and the namespace is its own") {
  const TemporaryDirectory directory;
  setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  CHECK(net::pod_config(directory.path()).value().ns == "");
  directory.write("namespace", "shop\n");
  const auto config = net::pod_config(directory.path());
  unsetenv("KUBERNETES_SERVICE_HOST");
  unsetenv("KUBERNETES_SERVICE_PORT");
  REQUIRE(config.has_value());
  CHECK(config->ns == "shop");
  CHECK(config->server.host == "10.0.0.1");
  CHECK(config->token_file == directory.at("token"));
}

TEST_CASE("the first file of KUBECONFIG that has the context decides, also where it is wrong") {
  const TemporaryDirectory directory;
  const auto file = [](std::string_view context, std::string_view user) {
    return "current-context: " + std::string(context) + "\ncontexts: [{name: " + std::string(context) +
           ", context: {cluster: " + std::string(context) + ", user: u}}]\nclusters: [{name: " + std::string(context) +
           ", cluster: {server: \"https://" + std::string(context) +
           ".example.org\"}}]\nusers: [{name: u, user: " + std::string(user) + "}]\n";
  };
  directory.write("rome", file("rome", "{token: t}"));
  directory.write("milan", file("milan", "{auth-provider: {name: oidc}}"));
  directory.write("users", "users: []\n");
  const auto infer = [&directory](const std::vector<std::string>& files, const net::ConfigChoice& choice = {}) {
    std::string list;
    for (const std::string& name : files) list += (list.empty() ? "" : ":") + directory.at(name);
    setenv("KUBECONFIG", list.c_str(), 1);
    return net::infer_config(choice);
  };
  CHECK(infer({"users", "rome", "milan"}).value().cluster == "rome");
  CHECK(infer({"milan", "rome"}, {.context = "rome"}).value().cluster == "rome");
  const auto wrong = infer({"milan", "rome"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code() == Errc::unsupported);
  CHECK(infer({"users"}).error().code() == Errc::invalid_input);
  // The system finds no file of so long a name, and does not say that there is none.
  CHECK(infer({std::string(5000, 'n'), "rome"}).error().code() == Errc::invalid_input);
  const auto none = infer({"nobody"});
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == Errc::missing);
  CHECK(none.error().text() == "there is no kubeconfig: correct KUBECONFIG, which names " + directory.at("nobody"));
  unsetenv("KUBECONFIG");
}

}  // namespace kube::test
