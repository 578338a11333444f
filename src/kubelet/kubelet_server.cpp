#include "kubelet/kubelet_server.hpp"

#include "kube/base/url.hpp"
#include "kube/client/port_forward.hpp"
#include "kubelet/ask_provider.hpp"
#include "kubelet/exec_server.hpp"
#include "kubelet/log_server.hpp"
#include "kubelet/plain_text.hpp"
#include "kubelet/port_forward_server.hpp"
#include "telemetry/families.hpp"

namespace liqo::kubelet {
namespace {

using kube::net::ServerRequest;
using kube::net::ServerResponse;
using Headers = ServerResponse::Headers;

asio::awaitable<void> answer(ServerResponse& response, Refusal refusal, Headers more = {}) {
  Headers headers = plain_text_headers(std::move(more));
  if (refusal.status == 401) headers.emplace_back("www-authenticate", "Bearer");
  // A caller that is gone needs no answer.
  static_cast<void>(co_await response.send(refusal.status, std::move(headers), refusal.sentence + "\n"));
}

/// For upgrades, a kubelet's 400 and 404 are a Status, of which kubectl shows only the message.
asio::awaitable<void> answer_with_status(ServerResponse& response, Refusal refusal) {
  const kube::json::object status{{"kind", "Status"},
                                  {"apiVersion", "v1"},
                                  {"metadata", kube::json::object()},
                                  {"status", "Failure"},
                                  {"message", refusal.sentence},
                                  {"reason", refusal.status == 404 ? "NotFound" : "BadRequest"},
                                  {"code", refusal.status}};
  Headers headers{{"content-type", "application/json"}, {"x-content-type-options", "nosniff"}};
  static_cast<void>(co_await response.send(refusal.status, std::move(headers), kube::json::serialize(status) + "\n"));
}

/// Why no request about the pod is possible. An API server passes on the message of a 400, and drops that of a 404.
Refusal refuse_pod(const kube::Failure& failure) {
  return {failure.code() == kube::Errc::missing ? 404 : 400, failure.text()};
}

/// Why the request of the path cannot be passed on to the provider, as a sentence; "" = it can.
std::string why_not(const PodRoute& pod, const Route& route) {
  if (!pod.obstacles) return {};
  core::PodObstacles found = pod.obstacles(route.container);
  if (!found.pod.empty() || route.endpoint == Endpoint::port_forward) return std::move(found.pod);
  if (!found.refused.empty()) return std::move(found.refused);
  // A waiting container may have run before: the provider answers for its log.
  return route.endpoint == Endpoint::logs ? std::string() : std::move(found.waiting);
}

}  // namespace

KubeletServer::Streams::Streams(kube::Metrics& metrics, const char* kind)
    : open(metrics.gauge(families::streams, {{"kind", kind}})),
      opened(metrics.counter(families::streams_opened, {{"kind", kind}})) {}

KubeletServer::KubeletServer(const kube::Environment& environment, Authorizer& authorizer, FindPod find,
                             kube::net::TlsContext tls, KubeletServerSettings settings, NodeApi nodes)
    : clock_(environment.clock),
      authorizer_(authorizer),
      find_(std::move(find)),
      nodes_(std::move(nodes)),
      settings_(std::move(settings)),
      logs_(environment.metrics, "logs"),
      execs_(environment.metrics, "exec"),
      attaches_(environment.metrics, "attach"),
      forwards_(environment.metrics, "port-forward"),
      log_("kubelet"),
      server_(environment.executor, environment.clock,
              {.address = settings_.address,
               .port = settings_.port,
               .tls = std::move(tls),
               .max_connections = settings_.max_connections,
               .max_body = settings_.max_body,
               .max_held = settings_.max_held,
               .on_handler_failure =
                   [this](std::string_view line, std::string_view what) {
                     log_.error("a request failed unexpectedly", {{"request", line}, {"error", what}});
                   }},
              [this](const ServerRequest& request, ServerResponse& response) { return handle(request, response); }) {}

asio::awaitable<std::expected<void, Refusal>> KubeletServer::admit(const ServerRequest& request, const Route& route,
                                                                   std::string node) {
  KUBE_CO_TRY(caller, co_await authorizer_.authenticate(request));
  co_return co_await authorizer_.authorize(
      caller,
      {.verb = route.verb, .subresource = route.subresource, .node = std::move(node), .narrower = route.narrower});
}

void KubeletServer::log_refusal(const ServerRequest& request, const Refusal& refusal) {
  // Any client that reaches the port can cause any number of refusals.
  const auto held_back = refusals_.note(refusal.sentence, clock_.now());
  if (!held_back) return;
  log_.warn("refused a request", {{"path", kube::path_of(request.target)},
                                  {"method", request.method},
                                  {"address", request.peer_address},
                                  {"status", refusal.status},
                                  {"reason", refusal.sentence},
                                  {"others_since", *held_back}});
}

kube::Result<PodRoute> KubeletServer::find_again(const Route& route, const std::string& admitted_node) const {
  auto pod = find_(route.ns, route.pod);
  if (pod && !admitted_node.empty() && pod->node != admitted_node)
    return kube::fail(kube::Errc::missing,
                      "pod " + route.ns + "/" + route.pod + " has left node " + admitted_node + "; ask once more");
  if (std::string why = pod ? why_not(*pod, route) : ""; !why.empty())
    return kube::fail(kube::Errc::unsupported, std::move(why));
  return pod;
}

kube::Result<PodRoute> KubeletServer::find_at(const PortOwners& owners, const Route& route) const {
  auto pod = find_(route.ns, route.pod);
  // A caller with the right on one node learns nothing about other nodes.
  const bool is_elsewhere = pod ? !owners.has(pod->node) : !owners.only().empty();
  if (is_elsewhere) return owners.refuse_pod(route.ns + "/" + route.pod);
  return pod;
}

asio::awaitable<void> KubeletServer::handle(const ServerRequest& request, ServerResponse& response) {
  const auto route = read_route(request.method, request.target);
  // A path that does not exist is authorised, too, as kubelets do: unknown callers do not even learn that.
  Route nowhere;
  nowhere.verb = "get";
  nowhere.subresource = "proxy";
  const PortOwners owners = nodes_.owners_of(request.port);
  const bool has_pod = route && names_pod(route->endpoint);
  auto pod = has_pod ? find_at(owners, *route) : kube::fail(kube::Errc::missing, "no pod is named");
  // Only a caller with the right on the node whose port this is, or on every node if the port is that of several, may
  // learn that a pod does not exist.
  std::string node = !owners.only().empty() ? owners.only() : pod ? pod->node : std::string();
  auto admitted = co_await admit(request, route ? *route : nowhere, node);
  if (!admitted) {
    log_refusal(request, admitted.error());
    co_await answer(response, std::move(admitted.error()));
    co_return;
  }
  if (!route) {
    co_await answer(response, route.error());
    co_return;
  }
  if (!has_pod) {
    auto served = co_await nodes_.serve(*route, owners, response);
    if (!served) co_await answer(response, std::move(served.error()));
    co_return;
  }
  // During the review the session with the provider may have been replaced, or the pod by another one.
  pod = find_at(owners, *route);
  if (pod) pod = find_again(*route, node);
  if (route->endpoint == Endpoint::logs) {
    if (pod)
      co_await serve_logs(*route, std::move(*pod), response);
    else
      co_await answer(response, refuse_pod(pod.error()));
  } else if (!pod) {
    co_await answer_with_status(response, refuse_pod(pod.error()));
  } else if (route->endpoint == Endpoint::port_forward) {
    co_await serve_forward(request, *route, std::move(node), response);
  } else {
    co_await serve_command(request, *route, std::move(node), response);
  }
}

asio::awaitable<void> KubeletServer::serve_logs(const Route& route, PodRoute pod, ServerResponse& response) {
  auto log = co_await open_log(route, pod, clock_, settings_.provider_timeout);
  if (!log) {
    co_await answer(response, std::move(log.error()));
    co_return;
  }
  // From here on a caller that goes away cancels this, and with the body also the provider's stream.
  const OpenStream open(logs_);
  const auto served = co_await serve_log(std::move(*log), response);
  if (!served) log_.warn("a log ended early", {{"pod", route.ns + "/" + route.pod}, {"error", served.error()}});
}

asio::awaitable<void> KubeletServer::serve_command(const ServerRequest& request, const Route& route,
                                                   std::string admitted_node, ServerResponse& response) {
  const auto query = read_query(route.query);
  const auto options = query ? read_command_options(*query, route.endpoint) : std::unexpected(query.error());
  if (!options) {
    co_await answer(response, options.error());
    co_return;
  }
  auto upgrade = read_exec_upgrade(request);
  if (!upgrade) {
    co_await answer(response, std::move(upgrade.error().refusal), std::move(upgrade.error().headers));
    co_return;
  }
  auto stream = co_await response.upgrade(std::move(upgrade->headers));
  if (!stream) co_return;
  const OpenStream open(route.endpoint == Endpoint::exec ? execs_ : attaches_);
  ConnectCommand connect = [this, &route, &admitted_node, &options] {
    return connect_command(route, admitted_node, *options);
  };
  CommandCaller caller{
      .stream = std::move(*stream), .codec = upgrade->make_codec(options->streams), .streams = options->streams};
  co_await serve_exec(std::move(caller), std::move(connect), clock_);
}

asio::awaitable<kube::Result<std::unique_ptr<kube::RemoteCommand>>> KubeletServer::connect_command(
    const Route& route, const std::string& admitted_node, const CommandOptions& options) const {
  // The caller had 30 s to open its streams, so the earlier route may be stale.
  KUBE_CO_TRY(pod, find_again(route, admitted_node));
  if (!pod.upgrader)
    co_return kube::fail(kube::Errc::unsupported, "the connection to the provider cannot carry exec and attach");
  // `pod` keeps its share in the upgrader over all attempts, each at the provider's pace.
  auto connecting = kube::connect_remote_command(*pod.upgrader, clock_,
                                                 {.ns = pod.remote_namespace,
                                                  .pod = pod.remote_pod,
                                                  .container = route.container,
                                                  .command = options.command,
                                                  .streams = options.streams},
                                                 {});
  co_return co_await ask_provider({pod.provider, pod.upgrader}, clock_, {}, std::move(connecting));
}

asio::awaitable<void> KubeletServer::serve_forward(const ServerRequest& request, const Route& route,
                                                   std::string admitted_node, ServerResponse& response) {
  // The query may name ports: those of the streams count, as with kubelets.
  auto upgrade = read_port_forward_upgrade(request);
  if (!upgrade) {
    co_await answer(response, std::move(upgrade.error().refusal), std::move(upgrade.error().headers));
    co_return;
  }
  auto stream = co_await response.upgrade(std::move(*upgrade));
  if (!stream) co_return;
  const OpenStream open(forwards_);
  ForwardedPod pod{.name = route.ns + "/" + route.pod,
                   .connect = [this, &route, &admitted_node] { return connect_forward(route, admitted_node); }};
  co_await serve_port_forward(std::move(*stream), std::move(pod), clock_);
}

asio::awaitable<kube::Result<std::unique_ptr<kube::net::ByteStream>>> KubeletServer::connect_forward(
    const Route& route, const std::string& admitted_node) const {
  // The first connection may come hours after the request, so the earlier route may be stale.
  KUBE_CO_TRY(pod, find_again(route, admitted_node));
  if (!pod.upgrader)
    co_return kube::fail(kube::Errc::unsupported, "the connection to the provider cannot carry port-forward");
  auto connecting =
      kube::connect_port_forward(*pod.upgrader, clock_, {.ns = pod.remote_namespace, .pod = pod.remote_pod});
  KUBE_CO_TRY(stream, co_await ask_provider({pod.provider, pod.upgrader}, clock_, {}, std::move(connecting)),
              "asking the provider of node " + pod.node);
  co_return std::move(stream);
}

}  // namespace liqo::kubelet
