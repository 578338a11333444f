// The surroundings of a session: real in main.cpp, simulated in tests.
#pragma once

#include <cstdint>

#include "command_line/terminal.hpp"
#include "kube/async/clock.hpp"
#include "session/connection.hpp"

namespace liqoctl {

/// The referenced objects outlive the Session.
struct SessionContext {
  kube::async::Clock& clock;
  Terminal& terminal;
  Connect connect;
  std::uint64_t seed;  ///< of all random numbers except for keys
};

}  // namespace liqoctl
