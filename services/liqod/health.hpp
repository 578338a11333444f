// The answers to probes: /healthz and /readyz.
#pragma once

#include <functional>
#include <string>

#include "kube/net/http/http_server.hpp"
#include "metrics/metrics_text.hpp"

namespace liqod {

/// Serves the two paths. `waiting_for` returns what readiness still waits for, "" when ready.
kube::net::HttpHandler serve_health(std::function<std::string()> waiting_for, PeerNames names);

}  // namespace liqod
