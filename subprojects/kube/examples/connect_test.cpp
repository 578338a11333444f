#include "connect.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "support/temporary_directory.hpp"

using namespace kube;

namespace {

asio::awaitable<Result<void>> ask_nobody(example::Cluster cluster) {
  // Credentials come before a connection, of which there is none to be had here.
  HttpRequest request;
  request.target = "/version";
  const auto answer =
      co_await cluster.client.send(request, cluster.environment.clock.deadline_in(std::chrono::seconds(5)));
  CHECK_FALSE(answer.has_value());
  co_return Result<void>();
}

}  // namespace

TEST_CASE("the program that a kubeconfig names for credentials is run") {
  const test::TemporaryDirectory directory;
  directory.write("plugin", "#!/bin/sh\ntouch '" + directory.at("was-run") + "'\nexit 1\n");
  std::filesystem::permissions(directory.at("plugin"), std::filesystem::perms::owner_all);
  directory.write("config", R"(
current-context: cloud
contexts: [{name: cloud, context: {cluster: cloud, user: me}}]
clusters: [{name: cloud, cluster: {server: "https://127.0.0.1:1"}}]
users:
- name: me
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ")" +
                                directory.at("plugin") + "\"}}\n");
  setenv("KUBECONFIG", directory.at("config").c_str(), 1);
  const int code = example::run("connect_test", ask_nobody);
  unsetenv("KUBECONFIG");
  CHECK(code == 0);
  CHECK(std::filesystem::exists(directory.at("was-run")));
}
