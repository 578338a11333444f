#include "commands/commands.hpp"

namespace liqoctl {

void add_commands(CommandLine& line) {
  add_completion(line);
  add_info(line);
  add_version(line);
}

}  // namespace liqoctl
