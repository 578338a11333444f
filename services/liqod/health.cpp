#include "health.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "kube/base/url.hpp"
#include "kube/net/plain_text.hpp"
#include "liqo/telemetry/families.hpp"

namespace liqod {
namespace families = liqo::families;

ProcessMetrics::ProcessMetrics(kube::Metrics& metrics)
    : resident_(metrics.gauge(families::resident)), cpu_(metrics.counter(families::cpu)) {
  metrics.gauge(families::build, {{"version", LIQOD_VERSION}}).set(1);
}

void ProcessMetrics::refresh() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  if (statm >> total >> resident) resident_.set(resident * double(sysconf(_SC_PAGESIZE)));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  cpu_.add(seconds(usage.ru_utime) + seconds(usage.ru_stime) - cpu_.value());
}

ServerMetrics::ServerMetrics(kube::Metrics& metrics, const std::string& server)
    : connections_(metrics.gauge(families::connections, {{"server", server}})),
      held_(metrics.gauge(families::server_held, {{"server", server}})),
      accepted_(metrics.counter(families::connections_accepted, {{"server", server}})),
      refused_(metrics.counter(families::connections_refused, {{"server", server}})),
      evicted_(metrics.counter(families::connections_evicted, {{"server", server}})),
      without_room_(metrics.counter(families::requests_without_room, {{"server", server}})),
      handshake_failures_(metrics.counter(families::handshake_failures, {{"server", server}})),
      requests_(metrics.counter(families::server_requests, {{"server", server}})) {}

void ServerMetrics::show(const kube::net::HttpServerCounters& counters) {
  const auto grow = [](kube::Counter& counter, std::uint64_t to) { counter.add(double(to) - counter.value()); };
  connections_.set(double(counters.connections));
  held_.set(double(counters.held));
  grow(accepted_, counters.accepted);
  grow(refused_, counters.refused);
  grow(evicted_, counters.evicted);
  grow(without_room_, counters.without_room);
  grow(handshake_failures_, counters.handshake_failures);
  grow(requests_, counters.requests);
}

kube::net::HttpHandler serve_health(std::function<std::string()> waiting_for, PeerNames names) {
  using kube::net::ServerRequest;
  using kube::net::ServerResponse;
  // The server keeps its handler for as long as any request is served.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  return [waiting_for = std::move(waiting_for), names](const ServerRequest& request,
                                                       ServerResponse& response) -> boost::asio::awaitable<void> {
    const std::string path(kube::path_of(request.target));
    int status = 200;
    std::string body = "ok";
    if (request.method != "GET" && request.method != "HEAD") {
      status = 405;
      body = "only GET is served here";
    } else if (path == "/readyz") {
      const std::string waiting = waiting_for();
      if (!waiting.empty()) status = 503;
      // The reason may name a peer.
      if (!waiting.empty()) body = names == PeerNames::numbered ? "not ready" : "not ready: " + waiting;
    } else if (path != "/healthz") {
      status = 404;
      body = "not found; there are /healthz and /readyz";
    }
    co_await kube::net::say(response, status, std::move(body));
  };
}

}  // namespace liqod
