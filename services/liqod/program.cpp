// liqod: resource sharing and workload offloading between Kubernetes clusters.
#include "program.hpp"

#include "daemon.hpp"
#include "options/options.hpp"

namespace liqod {

int run_program(int argc, char** argv) {
  ParsedOptions parsed = parse_options(argc, argv);
  return parsed.options ? run_daemon(std::move(*parsed.options)) : parsed.exit_code;
}

}  // namespace liqod
