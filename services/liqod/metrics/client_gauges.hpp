// Gauges of the open connections and streams of a client of an API server.
// Tested by test/cluster/namespaces/test_many_namespaces.py.
#pragma once

#include "kube/net/http/http_client.hpp"
#include "kube/telemetry/metrics.hpp"

namespace liqod {

/// While it lives, it adds the connections and streams of its client to those of the other clients of the same cluster.
class ClientGauges {
 public:
  /// `client` outlives it.
  ClientGauges(kube::Metrics& metrics, const std::string& cluster, const kube::net::HttpClient& client);
  ~ClientGauges();
  ClientGauges(const ClientGauges&) = delete;
  ClientGauges& operator=(const ClientGauges&) = delete;

 private:
  using Use = kube::net::HttpClientCounters::Use;
  struct Shown {
    kube::Gauge connections, streams;
    Use use;
    void show(const Use& now);
  };

  const kube::net::HttpClient& client_;
  Shown requests_, watches_;
  kube::Metrics::Reading reading_;
};

}  // namespace liqod
