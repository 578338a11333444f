// Serves the HTTPS ports of this process's virtual nodes. Logs, exec, attach and port-forward of offloaded pods work as
// API servers expect of a kubelet; they are passed on to the provider's API server. Paths about the node itself are
// served, too.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "kube/client/remote_command.hpp"
#include "kube/net/http/http_server.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/telemetry/log.hpp"
#include "kube/telemetry/repeats.hpp"
#include "kubelet/authorizer.hpp"
#include "kubelet/node_api.hpp"
#include "kubelet/pod_route.hpp"
#include "kubelet/routes.hpp"

namespace liqo::kubelet {

/// Where the server listens, and how much it takes on.
struct KubeletServerSettings {
  std::string address;         ///< IP to listen on; "" = every address
  std::uint16_t port = 10250;  ///< 0 = the system picks one
  std::size_t max_connections = 1024;
  std::size_t max_body = 16U << 10;                            ///< of a request: none that is served has a body
  std::size_t max_held = 8U << 20;                             ///< bytes of all requests under way
  kube::Duration provider_timeout = std::chrono::seconds(30);  ///< until the provider answers a request for logs
};

/// Every request is authenticated, and then authorised on the node in question, before the response shows what exists.
/// Order of use: listen(), then run() in a task of the owner; cancelling run() ends every session. One thread.
class KubeletServer {
 public:
  /// `tls` must request client certificates if callers are to be identified by them.
  KubeletServer(const kube::Environment& environment, Authorizer& authorizer, FindPod find, kube::net::TlsContext tls,
                KubeletServerSettings settings = {}, NodeApi nodes = {});

  /// Opens the port and returns its number. Errors: Errc::invalid_input, Errc::connect ("address in use").
  kube::Result<std::uint16_t> listen() { return server_.listen(); }
  /// Opens, or closes, one more port for requests to a node, as HttpServer does.
  kube::Result<std::uint16_t> open(std::uint16_t port) { return server_.open(port); }
  void close(std::uint16_t port) { server_.close(port); }
  /// Serves the ports that are open. Ends only by cancellation.
  asio::awaitable<void> run() { return server_.serve(); }
  /// Makes new connections use this certificate and client CA.
  void replace_tls(kube::net::TlsContext tls) { server_.replace_tls(std::move(tls)); }
  /// Makes callers show their certificates again, because the client CA has changed; running commands go on.
  void forget_clients() { server_.forget_clients(); }
  /// The counters of the server.
  kube::net::HttpServerCounters counters() const { return server_.counters(); }

  /// Answers one request; public for tests without sockets.
  asio::awaitable<void> handle(const kube::net::ServerRequest& request, kube::net::ServerResponse& response);

 private:
  asio::awaitable<std::expected<void, Refusal>> admit(const kube::net::ServerRequest& request, const Route& route,
                                                      std::string node);
  void log_refusal(const kube::net::ServerRequest& request, const Refusal& refusal);
  /// The route to the pod, if it is on a node that is served at this port.
  kube::Result<PodRoute> find_at(const PortOwners& owners, const Route& route) const;
  /// The route to the pod as it is now, for a caller who was admitted. Fails if the pod is not on the node to which the
  /// caller was admitted ("" = every node), and if an obstacle prevents the request.
  kube::Result<PodRoute> find_again(const Route& route, const std::string& admitted_node) const;
  asio::awaitable<void> serve_logs(const Route& route, PodRoute pod, kube::net::ServerResponse& response);
  /// Serves exec and attach.
  asio::awaitable<void> serve_command(const kube::net::ServerRequest& request, const Route& route,
                                      std::string admitted_node, kube::net::ServerResponse& response);
  asio::awaitable<kube::Result<std::unique_ptr<kube::RemoteCommand>>> connect_command(
      const Route& route, const std::string& admitted_node, const CommandOptions& options) const;
  asio::awaitable<void> serve_forward(const kube::net::ServerRequest& request, const Route& route,
                                      std::string admitted_node, kube::net::ServerResponse& response);
  asio::awaitable<kube::Result<std::unique_ptr<kube::net::ByteStream>>> connect_forward(
      const Route& route, const std::string& admitted_node) const;

  kube::async::Clock& clock_;
  Authorizer& authorizer_;
  FindPod find_;
  NodeApi nodes_;
  KubeletServerSettings settings_;
  /// The metrics of the streams of one kind.
  struct Streams {
    Streams(kube::Metrics& metrics, const char* kind);
    kube::Gauge open;
    kube::Counter opened;
  };
  /// Counts as open for as long as it lives.
  class OpenStream {
   public:
    explicit OpenStream(Streams& streams) : streams_(streams) {
      streams_.open.add(1);
      streams_.opened.add();
    }
    OpenStream(const OpenStream&) = delete;
    OpenStream& operator=(const OpenStream&) = delete;
    ~OpenStream() { streams_.open.add(-1); }

   private:
    Streams& streams_;
  };
  Streams logs_, execs_, attaches_, forwards_;
  kube::Log log_;
  kube::Repeats refusals_;  ///< by their sentence
  kube::net::HttpServer server_;
};

}  // namespace liqo::kubelet
