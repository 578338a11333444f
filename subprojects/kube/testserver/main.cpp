// kube-testserver: a Kubernetes API server in memory, for the tests of controllers in any language.
#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <iostream>

#include "crds.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/read_file.hpp"
#include "kube/wire/server_url.hpp"
#include "test_server.hpp"

namespace {

using kube::testserver::TestServerSettings;

/// The most bytes of a file with definitions: as many as read_yaml() takes.
constexpr std::size_t max_crds = std::size_t{8} << 20;

struct Options {
  TestServerSettings settings;
  std::vector<std::string> crd_files;
  std::string kubeconfig;
};

kube::Result<void> read_kinds(Options& options) {
  for (const std::string& path : options.crd_files) {
    KUBE_TRY(text, kube::net::read_file(path, max_crds));
    KUBE_TRY(kinds, kube::testserver::read_crds(text), path);
    for (kube::testing::FakeKind& kind : kinds) options.settings.kinds.push_back(std::move(kind));
  }
  return {};
}

/// Writes a file of another name and renames it, so that whoever waits for the file never reads a part of it.
bool write_kubeconfig(const std::string& path, const std::string& url) {
  const std::string part = path + ".part";
  std::ofstream file(part);
  file << "apiVersion: v1\nkind: Config\ncurrent-context: testserver\n"
          "clusters:\n- name: testserver\n  cluster:\n    server: "
       << url
       << "\ncontexts:\n- name: testserver\n  context:\n    cluster: testserver\n    user: test\n    namespace: "
          "default\n"
          "users:\n- name: test\n  user: {}\n";
  file.close();
  return file && std::rename(part.c_str(), path.c_str()) == 0;
}

int serve(const Options& options) {
  boost::asio::io_context io(1);
  kube::async::RealClock clock;
  kube::testserver::TestServer server(io.get_executor(), clock, options.settings);
  const auto port = server.listen();
  if (!port) {
    std::cerr << "kube-testserver: " << port.error().text() << "\n";
    return 1;
  }
  const std::string url =
      kube::wire::ServerUrl{.tls = false, .host = options.settings.address, .port = *port, .path = {}}.text();
  if (!options.kubeconfig.empty() && !write_kubeconfig(options.kubeconfig, url)) {
    std::cerr << "kube-testserver: " << options.kubeconfig << " cannot be written\n";
    return 1;
  }
  std::cout << url << std::endl;
  std::exception_ptr thrown;
  boost::asio::co_spawn(io, server.run(), [&thrown](std::exception_ptr how) { thrown = std::move(how); });
  io.run();
  if (!thrown) return 0;
  std::cerr << "kube-testserver: the server has ended by an exception: " << kube::async::describe(thrown) << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "A Kubernetes API server in memory, over plain HTTP, for tests. It prints its URL when it serves, keeps nothing, "
      "and ends by SIGINT or SIGTERM.",
      "kube-testserver");
  app.add_option("--address", options.settings.address, "IP address to listen on")->capture_default_str();
  app.add_option("--port", options.settings.port, "Port; 0: the system picks one")->capture_default_str();
  app.add_option("--kubeconfig", options.kubeconfig,
                 "File into which a kubeconfig for the server is written once it serves");
  app.add_option("--crd", options.crd_files, "File with CustomResourceDefinitions whose kinds are served, too")
      ->check(CLI::ExistingFile);
  app.add_flag(
      "--run-pods", options.settings.runs_pods,
      "Simulate a Node, a scheduler and a kubelet: a pod runs for as long as its annotation sim.kube/run-seconds "
      "says, and ends with the code in sim.kube/exit-code");
  app.add_option("--seed", options.settings.seed, "Seed of UIDs and of how long pods take")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (auto read = read_kinds(options); !read) {
    std::cerr << "kube-testserver: " << read.error().text() << "\n";
    return 2;
  }
  return serve(options);
}
