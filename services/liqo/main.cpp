// Both programs in one file, for the image: what they share is there once. It is the one by whose name it is started.
#include <string_view>

#include "liqoctl/program.hpp"
#include "liqod/program.hpp"

int main(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "liqoctl" || name.starts_with("kubectl-") ? liqoctl::run_program(argc, argv)
                                                           : liqod::run_program(argc, argv);
}
