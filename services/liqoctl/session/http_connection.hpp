// The connection to an API server over the network.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "kube/async/clock.hpp"
#include "session/connection.hpp"

namespace liqoctl {

/// Connects over HTTP. The clock outlives the connections.
Connect connect_over_http(asio::any_io_executor executor, kube::async::Clock& clock);

}  // namespace liqoctl
