// The limit that reflection is measured against: the same objects in as many namespaces, each by one POST, 64 in
// flight. Nothing is read, compared or remembered. It also creates the objects at home that are reflected.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include "kube/async/task_group.hpp"
#include "kube/client/api.hpp"
#include "kube/net/http/http_client.hpp"
#include "read_credentials.hpp"
#include "run_to_end.hpp"

namespace {

namespace asio = boost::asio;
namespace json = kube::json;
namespace resources = kube::resources;

constexpr std::size_t in_flight = 64;
constexpr std::size_t config_maps = 5, secrets = 5, services = 2;
constexpr std::size_t of_namespace = config_maps + secrets + services;
/// The size of the content: with its envelope, an object has about 1 KB.
constexpr std::size_t content_bytes = 700;

struct Options {
  std::string kubeconfig;
  std::string prefix, suffix;  ///< around the number of a namespace
  std::size_t namespaces = 0;
};

/// Base64 of some bytes, which is also valid text.
std::string content_of(std::size_t number) {
  std::string text = "namespace" + std::to_string(number) + "/";
  text.resize(content_bytes, 'A');
  return text;
}

/// Object `place` of a namespace.
kube::Object forge(const Options& options, std::size_t number, std::size_t place) {
  const std::string ns = options.prefix + std::to_string(number) + options.suffix;
  if (place < config_maps) {
    auto object = kube::Object::make(resources::config_maps, {ns, "config-" + std::to_string(place)});
    object.tree()["data"] = json::object{{"settings", content_of(number)}};
    return object;
  }
  place -= config_maps;
  if (place < secrets) {
    auto object = kube::Object::make(resources::secrets, {ns, "secret-" + std::to_string(place)});
    object.set_annotation("liqo.io/allow-reflection", "true");
    object.tree()["type"] = "Opaque";
    object.tree()["data"] = json::object{{"token", content_of(number)}};
    return object;
  }
  place -= secrets;
  auto object = kube::Object::make(resources::services, {ns, "service-" + std::to_string(place)});
  object.set_annotation("bench/content", content_of(number));
  object.mutable_spec() = {{"ports", {{{"name", "http"}, {"port", 80}, {"protocol", "TCP"}}}}};
  return object;
}

class BareCopies {
 public:
  BareCopies(const asio::any_io_executor& executor, const Options& options, kube::Api& api)
      : options_(options), api_(api), tasks_(executor) {}

  asio::awaitable<kube::Result<void>> run() {
    for (std::size_t i = 0; i < in_flight; ++i) tasks_.spawn(post_next());
    co_await tasks_.join();
    if (failure_) co_return std::unexpected(std::move(*failure_));
    co_return kube::Result<void>();
  }

 private:
  asio::awaitable<void> post_next() {
    while (!failure_ && next_ < options_.namespaces * of_namespace) {
      const std::size_t number = next_++;
      const std::size_t place = number % of_namespace;
      const kube::Resource& resource = place < config_maps             ? resources::config_maps
                                       : place < config_maps + secrets ? resources::secrets
                                                                       : resources::services;
      auto made = co_await api_.create(resource, forge(options_, number / of_namespace, place));
      if (!made && !failure_) failure_ = std::move(made.error());
    }
  }

  const Options& options_;
  kube::Api& api_;
  kube::async::TaskGroup tasks_;
  std::size_t next_ = 0;
  std::optional<kube::Failure> failure_;
};

asio::awaitable<kube::Result<void>> run(const Options& options) {
  auto executor = co_await asio::this_coro::executor;
  kube::async::RealClock clock;
  KUBE_CO_TRY(credentials, liqo::bench::read_credentials(options.kubeconfig, clock));
  kube::Random random(1);
  kube::Metrics metrics;
  kube::net::HttpClient client(executor, clock, std::move(credentials));
  kube::Api api(client, clock, random, metrics, {.cluster = "bench"});
  BareCopies copies(executor, options, api);
  auto ended = co_await copies.run();
  co_await client.stop();
  co_return ended;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("POSTs ConfigMaps, Secrets and Services: the limit for the rate of reflection");
  app.add_option("--kubeconfig", options.kubeconfig, "of the cluster where they are made")->required();
  app.add_option("--prefix", options.prefix, "of the namespaces' names, before their number")->required();
  app.add_option("--suffix", options.suffix, "of the namespaces' names, after their number");
  app.add_option("--namespaces", options.namespaces, "how many there are")->required();
  CLI11_PARSE(app, argc, argv);

  asio::io_context io(1);
  return liqo::bench::run_to_end("bare_copies", io, run(options));
}
