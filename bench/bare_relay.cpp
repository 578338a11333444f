// The limit that streams through liqod are measured against. It accepts an exec from the home API server as a kubelet
// does, and sends the provider a request of its own for the same. From then on it copies bytes both ways without
// reading them. It knows one pod, and does not authorize callers.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include "copy_bytes.hpp"
#include "kube/async/task_group.hpp"
#include "kube/net/http/http_client.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/net/read_file.hpp"
#include "read_credentials.hpp"
#include "run_to_end.hpp"

namespace {

namespace asio = boost::asio;

struct Options {
  std::string kubeconfig, certificate, key, twin, address;
  std::uint16_t port = 0;
};

/// Translates the kubelet's path and query into those of an API server.
std::string target_of(std::string_view target, const std::string& twin) {
  // /exec/NAMESPACE/POD/CONTAINER?...
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark);
  const std::size_t container = path.rfind('/'), pod = path.rfind('/', container - 1);
  std::string made = "/api/v1/namespaces/" + twin + "/pods/" + std::string(path.substr(pod + 1, container - pod - 1)) +
                     "/exec?container=" + std::string(path.substr(container + 1));
  std::string_view query = target.substr(mark);
  while (!query.empty()) {
    query.remove_prefix(1);
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size());
    if (pair == "input=1") made += "&stdin=true";
    if (pair == "output=1") made += "&stdout=true";
    if (pair == "error=1") made += "&stderr=true";
    if (pair == "tty=1") made += "&tty=true";
    if (pair.starts_with("command=")) made.append("&").append(pair);
  }
  return made;
}

class Relay {
 public:
  Relay(kube::net::HttpClient& provider, kube::async::Clock& clock, const Options& options)
      : provider_(provider), clock_(clock), options_(options) {}

  asio::awaitable<void> handle(const kube::net::ServerRequest& request, kube::net::ServerResponse& response) {
    kube::HttpRequest asked;
    asked.method = "POST";
    asked.target = target_of(request.target, options_.twin);
    for (const auto& [name, value] : request.headers)
      if (name == "upgrade" || name == "x-stream-protocol-version") asked.headers.emplace_back(name, value);
    auto remote = co_await provider_.upgrade(std::move(asked), clock_.deadline_in(std::chrono::seconds(30)));
    if (!remote || !remote->stream) {
      static_cast<void>(co_await response.send(502, {}, remote ? remote->refusal : remote.error().text()));
      co_return;
    }
    kube::net::ServerResponse::Headers headers;
    for (const auto& [name, value] : remote->head.headers)
      if (name == "upgrade" || name == "x-stream-protocol-version") headers.emplace_back(name, value);
    auto local = co_await response.upgrade(std::move(headers));
    if (!local) co_return;
    kube::async::TaskGroup group(co_await asio::this_coro::executor);
    group.spawn(liqo::bench::copy_bytes(**local, *remote->stream));
    group.spawn(liqo::bench::copy_bytes(*remote->stream, **local));
    co_await group.join();
  }

 private:
  kube::net::HttpClient& provider_;
  kube::async::Clock& clock_;
  const Options& options_;
};

asio::awaitable<kube::Result<void>> run(const Options& options) {
  const auto executor = co_await asio::this_coro::executor;
  kube::async::RealClock clock;
  KUBE_CO_TRY(credentials, liqo::bench::read_credentials(options.kubeconfig, clock));
  KUBE_CO_TRY(certificate, kube::net::read_file(options.certificate));
  KUBE_CO_TRY(key, kube::net::read_file(options.key));
  KUBE_CO_TRY(tls,
              kube::net::TlsContext::server({.certificate_pem = certificate, .key_pem = key, .client_ca_pem = {}}));
  kube::net::HttpClient provider(executor, clock, std::move(credentials));
  Relay relay(provider, clock, options);
  kube::net::HttpServerOptions serving;
  serving.address = options.address;
  serving.port = options.port;
  serving.tls = std::move(tls);
  kube::net::HttpServer server(executor, clock, std::move(serving),
                               [&relay](const kube::net::ServerRequest& request, kube::net::ServerResponse& response) {
                                 return relay.handle(request, response);
                               });
  KUBE_CO_TRYV(server.listen());
  co_await server.serve();
  co_await provider.stop();
  co_return kube::Result<void>();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Relays exec to a provider and copies bytes: the limit for the rate of streams");
  app.add_option("--kubeconfig", options.kubeconfig, "of the provider")->required();
  app.add_option("--certificate", options.certificate, "to show to the API server at home")->required();
  app.add_option("--key", options.key, "of that certificate")->required();
  app.add_option("--twin", options.twin, "the provider's namespace of the pod")->required();
  app.add_option("--address", options.address, "to listen on")->required();
  app.add_option("--port", options.port, "to listen on")->required();
  CLI11_PARSE(app, argc, argv);

  asio::io_context io(1);
  return liqo::bench::run_to_end("bare_relay", io, run(options));
}
