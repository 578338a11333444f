#include "client_gauges.hpp"

#include "kube/telemetry/families.hpp"

namespace liqod {

ClientGauges::ClientGauges(kube::Metrics& metrics, const std::string& cluster, const kube::net::HttpClient& client)
    : client_(client) {
  const auto series_of = [&](std::string use) {
    const kube::Labels labels{{"host", cluster}, {"use", std::move(use)}};
    return Shown{.connections = metrics.gauge(kube::families::connections, labels),
                 .streams = metrics.gauge(kube::families::streams, labels),
                 .use = {}};
  };
  requests_ = series_of("requests");
  watches_ = series_of("watches");
  reading_ = metrics.on_scrape([this] {
    const kube::net::HttpClientCounters counters = client_.counters();
    requests_.show(counters.by_requests);
    watches_.show(counters.by_watches);
  });
}

ClientGauges::~ClientGauges() {
  requests_.show({});
  watches_.show({});
}

void ClientGauges::Shown::show(const Use& now) {
  connections.add(double(now.connections) - double(use.connections));
  streams.add(double(now.streams) - double(use.streams));
  use = now;
}

}  // namespace liqod
