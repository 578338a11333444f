#include "health.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>

#include "liqo/telemetry/families.hpp"

namespace liqod {
namespace {

namespace families = liqo::families;

/// Puts numbers where metrics name a peer, its node, or the host of its API server.
class PeerNumbers {
 public:
  std::string hide(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    ++round_;
    while (!text.empty()) {
      const auto [begin, end] = find_name(text);
      out += text.substr(0, begin);
      if (begin < text.size()) out += number_of(text.substr(begin, end - begin));
      text.remove_prefix(end);
    }
    // A consumer can have slices by ever new names.
    std::erase_if(numbers_, [this](const auto& entry) { return entry.second.round != round_; });
    return out;
  }

 private:
  /// Where the next value of such a label begins and ends; both at the end where there is none.
  static std::pair<std::size_t, std::size_t> find_name(std::string_view text) {
    static constexpr std::array<std::string_view, 6> labels = {"cluster=\"",   "cluster_id=\"", "host=\"",
                                                               "node_name=\"", "slice=\"",      "identity=\""};
    for (std::size_t at = text.find_first_of("{,"); at != std::string_view::npos; at = text.find_first_of("{,", at + 1))
      for (const std::string_view label : labels) {
        if (!text.substr(at + 1).starts_with(label)) continue;
        const std::size_t begin = at + 1 + label.size();
        // Names of clusters, nodes and hosts have nothing that is escaped.
        return {begin, std::min(text.find('"', begin), text.size())};
      }
    return {text.size(), text.size()};
  }
  std::string number_of(std::string_view name) {
    if (name.empty()) return {};
    const auto [entry, is_new] = numbers_.try_emplace(std::string(name), Number{.number = next_ + 1});
    if (is_new) ++next_;
    entry->second.round = round_;
    return "peer-" + std::to_string(entry->second.number);
  }

  struct Number {
    std::size_t number = 0, round = 0;
  };
  std::map<std::string, Number> numbers_;  // of the names that the last text had
  std::size_t next_ = 0, round_ = 0;
};

}  // namespace

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

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

kube::net::HttpHandler serve_health(kube::Metrics& metrics, std::function<std::string()> waiting_for,
                                    std::function<void()> refresh, PeerNames names) {
  using kube::net::ServerRequest;
  using kube::net::ServerResponse;
  // The server keeps its handler for as long as any request is served.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  return [&metrics, waiting_for = std::move(waiting_for), refresh = std::move(refresh),
          numbers = names == PeerNames::numbered ? std::make_shared<PeerNumbers>() : nullptr](
             const ServerRequest& request, ServerResponse& response) -> boost::asio::awaitable<void> {
    const std::string path = request.target.substr(0, request.target.find('?'));
    int status = 200;
    std::string body, type = "text/plain; charset=utf-8";
    if (request.method != "GET" && request.method != "HEAD") {
      status = 405;
      body = "only GET is served here\n";
    } else if (path == "/metrics") {
      refresh();
      body = numbers ? numbers->hide(metrics.text()) : metrics.text();
      type = "text/plain; version=0.0.4; charset=utf-8";
    } else if (path == "/healthz") {
      body = "ok\n";
    } else if (path == "/readyz") {
      const std::string waiting = waiting_for();
      status = waiting.empty() ? 200 : 503;
      // The reason may name a peer.
      body = waiting.empty() ? "ok\n" : numbers ? "not ready\n" : "not ready: " + waiting + "\n";
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
