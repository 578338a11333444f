// Runs the example against a cluster: pod_counter KUBECONFIG
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "kube/net/http_client.hpp"
#include "pod_counter.hpp"

int main(int argc, char** argv) {
  std::stringstream text;
  if (argc == 2) text << std::ifstream(argv[1]).rdbuf();
  auto config = kube::wire::parse_kubeconfig(text.str(), {.origin = kube::wire::KubeconfigOrigin::file});
  kube::async::RealClock clock;
  auto credentials = config ? kube::net::Credentials::make(*config, clock) : std::unexpected(config.error());
  if (!credentials) {
    std::cerr << "pod_counter KUBECONFIG: " << credentials.error().text() << "\n";
    return 2;
  }
  boost::asio::io_context io(1);
  kube::net::HttpClient client(io.get_executor(), clock, *credentials);
  kube::Random random(std::random_device{}());
  kube::Metrics metrics;
  kube::Api api(client, clock, random, metrics, {.cluster = config->cluster});
  boost::asio::co_spawn(io, example::count_pods(api, clock, random, metrics), [](const std::exception_ptr& ended) {
    std::cerr << "ended: " << kube::async::describe(ended) << "\n";
  });
  io.run();
}
