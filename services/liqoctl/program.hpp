// The program liqoctl.
#pragma once

namespace liqoctl {

/// Runs the command that the command line names.
/// \return what the process ends with (docs/liqoctl.md has the codes)
int run_program(int argc, char** argv);

}  // namespace liqoctl
