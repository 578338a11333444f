// The program liqod.
#pragma once

namespace liqod {

/// Runs the daemon by its command line until a signal ends it.
/// \return what the process ends with
int run_program(int argc, char** argv);

}  // namespace liqod
