// liqod as a whole: the real network, clock and signals around the controllers.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "kube/base/failure.hpp"
#include "options/options.hpp"

namespace liqod {

/// Runs until SIGTERM or SIGINT and returns the exit code: 0 after a graceful stop, 1 if it could not start, lost one
/// of its parts or did not stop in time. The reason is one line on standard error or in the log.
int run_daemon(Options options);

}  // namespace liqod
