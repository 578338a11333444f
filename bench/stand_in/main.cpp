// Stands in for the many providers that a bench needs, and for the cluster of liqod itself. They are API servers in
// memory behind real sockets. They may be stuck, lie, flood, be crowded, or answer in dense JSON.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <map>
#include <memory>
#include <vector>

#include "../run_to_end.hpp"
#include "control.hpp"
#include "http2_port.hpp"
#include "kinds.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/read_file.hpp"
#include "provider.hpp"

namespace {

namespace asio = boost::asio;
using liqo::bench::Manner;

struct Options {
  std::string address, certificate, key;
  std::uint16_t port = 0, count = 1, control_port = 0;
  bool is_home = false;
  Manner manner = Manner::well;
  std::size_t flood = 2000;
  std::string dense;
};

/// The most bytes of the file of `--dense`.
constexpr std::size_t max_dense = std::size_t{64} << 20;

asio::awaitable<kube::Result<void>> run(const Options& options) {
  const auto executor = co_await asio::this_coro::executor;
  const auto kinds = options.is_home ? liqo::bench::kinds_of_home() : liqo::bench::kinds_of_provider();
  std::string dense;
  if (!options.dense.empty()) {
    KUBE_CO_TRY(read, kube::net::read_file(options.dense, max_dense));
    dense = std::move(read);
  }
  std::vector<std::unique_ptr<liqo::bench::Provider>> providers;
  std::vector<std::unique_ptr<liqo::bench::Http2Port>> ports;
  kube::async::RealClock clock;
  // Every port listens before a child is spawned: a failure would leave the group without a join.
  for (std::uint16_t number = 0; number < options.count; ++number) {
    auto& provider = *providers.emplace_back(
        std::make_unique<liqo::bench::Provider>(executor, kinds, options.manner, options.flood, dense));
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(options.address),
                                           static_cast<std::uint16_t>(options.port + number));
    ports.push_back(std::make_unique<liqo::bench::Http2Port>(
        executor, endpoint, options.certificate, options.key,
        [&provider](kube::HttpRequest request, std::shared_ptr<liqo::bench::Answer> answer) {
          provider.handle(std::move(request), std::move(answer));
        }));
  }
  liqo::bench::Control control(executor, clock, options.address, options.control_port, providers);
  if (options.control_port != 0) KUBE_CO_TRYV(control.listen());
  kube::async::TaskGroup group(executor);
  for (const auto& provider : providers) group.spawn(provider->keep_time());
  for (const auto& port : ports) group.spawn(port->serve());
  if (options.control_port != 0) group.spawn(control.serve());
  co_await group.join();
  co_return kube::Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Manner> manners{{"well", Manner::well},       {"stuck", Manner::stuck},
                                              {"lying", Manner::lying},     {"flooding", Manner::flooding},
                                              {"crowded", Manner::crowded}, {"dense", Manner::dense}};
  Options options;
  CLI::App app("API servers of clusters that run no pods, in memory, until the process is killed");
  app.add_option("--address", options.address, "to listen on")->required();
  app.add_option("--port", options.port, "to listen on")->required();
  app.add_option("--certificate", options.certificate, "to show, a file")->required();
  app.add_option("--key", options.key, "of that certificate, a file")->required();
  app.add_option("--count", options.count, "how many, each at the port behind that of the one before")
      ->capture_default_str();
  app.add_option("--control-port", options.control_port, "where a bench gives orders, over plain HTTP; 0 = nowhere");
  app.add_flag("--home", options.is_home, "serve what liqod asks of its own cluster, too");
  app.add_option("--manner", options.manner, "well, stuck, lying, flooding, crowded or dense")
      ->transform(CLI::CheckedTransformer(manners));
  app.add_option("--flood", options.flood, "events a second of one that floods")->capture_default_str();
  app.add_option("--dense", options.dense, "what one that is dense answers lists with, a file of gzip");
  CLI11_PARSE(app, argc, argv);

  asio::io_context io(1);
  return liqo::bench::run_to_end("provider_stand_in", io, run(options));
}
