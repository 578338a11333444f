// The set-up that the examples share: the cluster that kubectl would take, and an end by SIGINT or SIGTERM.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string_view>

#include "kube/net/http/http_client.hpp"
#include "kube/runtime/environment.hpp"

namespace example {

namespace asio = boost::asio;

/// What a program is given; it outlives the program.
struct Cluster {
  kube::Environment environment;
  kube::net::HttpClient& client;
  std::string name;  ///< of the cluster, as the kubeconfig has it
};

/// Runs the program until it ends or a signal comes, which cancels it; returns the exit code of main().
int run(std::string_view name, const std::function<asio::awaitable<kube::Result<void>>(Cluster)>& program);

}  // namespace example
