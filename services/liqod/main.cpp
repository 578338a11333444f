// liqod: resource sharing and workload offloading between Kubernetes clusters.
#include "daemon.hpp"
#include "options/options.hpp"

int main(int argc, char** argv) {
  liqod::ParsedOptions parsed = liqod::parse_options(argc, argv);
  return parsed.options ? liqod::run_daemon(std::move(*parsed.options)) : parsed.exit_code;
}
