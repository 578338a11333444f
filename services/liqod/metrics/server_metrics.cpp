#include "server_metrics.hpp"

#include "telemetry/families.hpp"

namespace liqod {
namespace families = liqo::families;

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

}  // namespace liqod
