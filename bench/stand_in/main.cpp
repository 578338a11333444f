// Stands in for a provider, of which a bench needs many: an API server in memory behind a real socket, which may be
// stuck, lie, flood, be crowded, or answer in dense JSON.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <fstream>
#include <iterator>
#include <map>

#include "../run_to_end.hpp"
#include "http2_port.hpp"
#include "kube/async/task_group.hpp"
#include "provider.hpp"

namespace {

namespace asio = boost::asio;
using liqo::bench::Manner;

struct Options {
  std::string address, certificate, key;
  std::uint16_t port = 0;
  Manner manner = Manner::well;
  std::size_t flood = 2000;
  std::string dense;
};

std::string contents_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

asio::awaitable<kube::Result<void>> run(const Options& options) {
  const auto executor = co_await asio::this_coro::executor;
  liqo::bench::Provider provider(executor, options.manner, options.flood, contents_of(options.dense));
  liqo::bench::Http2Port port(executor, {asio::ip::make_address(options.address), options.port}, options.certificate,
                              options.key,
                              [&provider](kube::HttpRequest request, std::shared_ptr<liqo::bench::Answer> answer) {
                                provider.handle(std::move(request), std::move(answer));
                              });
  kube::async::TaskGroup group(executor);
  group.spawn(provider.keep_time());
  group.spawn(port.serve());
  co_await group.join();
  co_return kube::Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Manner> manners{{"well", Manner::well},       {"stuck", Manner::stuck},
                                              {"lying", Manner::lying},     {"flooding", Manner::flooding},
                                              {"crowded", Manner::crowded}, {"dense", Manner::dense}};
  Options options;
  CLI::App app("The API server of a provider that runs no pods, in memory, until it is killed");
  app.add_option("--address", options.address, "to listen on")->required();
  app.add_option("--port", options.port, "to listen on")->required();
  app.add_option("--certificate", options.certificate, "to show, a file")->required();
  app.add_option("--key", options.key, "of that certificate, a file")->required();
  app.add_option("--manner", options.manner, "well, stuck, lying, flooding, crowded or dense")
      ->transform(CLI::CheckedTransformer(manners));
  app.add_option("--flood", options.flood, "events a second of one that floods")->capture_default_str();
  app.add_option("--dense", options.dense, "what one that is dense answers lists with, a file of gzip");
  CLI11_PARSE(app, argc, argv);

  asio::io_context io(1);
  return liqo::bench::run_to_end("provider_stand_in", io, run(options));
}
