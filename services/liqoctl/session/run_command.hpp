// Runs one command to its end, and says in one line why it failed.
#pragma once

#include "command_line/command_line.hpp"
#include "session/session.hpp"

namespace liqoctl {

/// Turns the spinner meanwhile, and closes the connections afterwards. Answers the exit code. What a command throws
/// ends as a failure does: in one line.
asio::awaitable<int> run_command(Session& session, Run command);

}  // namespace liqoctl
