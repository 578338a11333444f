// Runs one command to its end, and prints in one line why it failed.
#pragma once

#include "command_line/command_line.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// Shows the spinner meanwhile, and closes the connections afterwards. Returns the exit code. An exception of the
/// command ends like a failure, in one line.
asio::awaitable<int> run_command(Session& session, Run command);

}  // namespace liqoctl
