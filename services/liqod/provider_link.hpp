// From the kubeconfig Secret of a provider to a connection.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "kube/async/clock.hpp"
#include "kube/telemetry/metrics.hpp"
#include "liqo/controllers/providers/provider_link.hpp"

namespace liqod {

/// Makes links over HTTP/2 and TLS. The Secret is written by another cluster, so it may name no file and run no
/// program.
liqo::controllers::ConnectProvider connect_over_network(boost::asio::any_io_executor executor,
                                                        kube::async::Clock& clock, kube::Metrics& metrics);

}  // namespace liqod
