#include "command_line/checked_flags.hpp"

#include <string>

#include "model/objects.hpp"

namespace liqoctl {

void add_resource_flags(cli::Command app, model::ResourceFlags& flags, std::string_view heading,
                        std::array<std::string_view, 3> defaults) {
  struct Amount {
    const char* flag;
    std::string& into;
    std::string what;
  };
  std::size_t next = 0;
  for (const Amount& amount :
       {Amount{"cpu", flags.cpu, "CPUs, e.g. 4 or 500m"}, Amount{"memory", flags.memory, "Memory, e.g. 8Gi"},
        Amount{"pods", flags.pods, "Number of pods"}}) {
    const std::string_view usual = defaults[next++];
    app.option(std::string("--") + amount.flag, amount.into,
               amount.what + (usual.empty() ? "" : " (default " + std::string(usual) + ")"))
        .group(heading)
        .type_name("AMOUNT")
        .check([resource = std::string(amount.flag)](const std::string& given) {
          return model::check_amount(resource, given);
        });
  }
  app.list("--resource", flags.others, "Any other resource, e.g. nvidia.com/gpu=2; may be repeated")
      .group(heading)
      .type_name("NAME=AMOUNT")
      .check([](const std::string& given) { return model::check_pair(given); });
}

cli::Option check_names(cli::Option option, std::size_t max_size) {
  return option.check([max_size](const std::string& given) { return model::check_name(given, max_size); });
}

}  // namespace liqoctl
