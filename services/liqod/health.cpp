#include "health.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace liqod {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

ProcessMetrics::ProcessMetrics(kube::Metrics& metrics)
    : resident_(metrics.gauge("process_resident_memory_bytes", "Resident memory.")),
      cpu_(metrics.gauge("process_cpu_seconds_total", "User and system CPU time.")) {}

void ProcessMetrics::refresh() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  if (statm >> total >> resident) resident_.set(resident * double(sysconf(_SC_PAGESIZE)));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  cpu_.set(seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

ServerMetrics::ServerMetrics(kube::Metrics& metrics, const std::string& server)
    : connections_(metrics.gauge("liqod_server_connections", "Connections that are open.", {{"server", server}})),
      accepted_(metrics.counter("liqod_server_connections_total", "Connections that were accepted or refused.",
                                {{"server", server}})),
      refused_(metrics.counter("liqod_server_connections_refused_total", "Connections over the limit, closed at once.",
                               {{"server", server}})),
      handshake_failures_(metrics.counter("liqod_server_tls_handshake_failures_total",
                                          "TLS handshakes that failed or took too long.", {{"server", server}})),
      requests_(metrics.counter("liqod_server_requests_total", "Requests that were read.", {{"server", server}})) {}

void ServerMetrics::show(const kube::net::HttpServerCounters& counters) {
  const auto grow = [](kube::Counter& counter, std::uint64_t to) { counter.add(double(to) - counter.value()); };
  connections_.set(double(counters.connections));
  grow(accepted_, counters.accepted);
  grow(refused_, counters.refused);
  grow(handshake_failures_, counters.handshake_failures);
  grow(requests_, counters.requests);
}

kube::net::HttpHandler serve_health(kube::Metrics& metrics, std::function<std::string()> waiting_for,
                                    std::function<void()> refresh) {
  using kube::net::ServerRequest;
  using kube::net::ServerResponse;
  // The server keeps its handler for as long as any request is served.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  return [&metrics, waiting_for = std::move(waiting_for), refresh = std::move(refresh)](
             const ServerRequest& request, ServerResponse& response) -> boost::asio::awaitable<void> {
    const std::string path = request.target.substr(0, request.target.find('?'));
    int status = 200;
    std::string body, type = "text/plain; charset=utf-8";
    if (request.method != "GET" && request.method != "HEAD") {
      status = 405;
      body = "only GET is served here\n";
    } else if (path == "/metrics") {
      refresh();
      body = metrics.text();
      type = "text/plain; version=0.0.4; charset=utf-8";
    } else if (path == "/healthz") {
      body = "ok\n";
    } else if (path == "/readyz") {
      const std::string waiting = waiting_for();
      status = waiting.empty() ? 200 : 503;
      body = waiting.empty() ? "ok\n" : "not ready: " + waiting + "\n";
    } else {
      status = 404;
      body = "not found; there are /metrics, /healthz and /readyz\n";
    }
    ServerResponse::Headers headers{{"content-type", type}};
    // A client that has gone needs no answer.
    [[maybe_unused]] auto sent = co_await response.send(status, std::move(headers), std::move(body));
  };
}

}  // namespace liqod
