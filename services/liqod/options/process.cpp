#include "kube/telemetry/log.hpp"
#include "options/groups.hpp"

namespace liqod {

void add_process_options(cli::Command app, Options& options, Texts& texts) {
  app.flag("--leader-elect", options.leader_elect,
           "Run as one of several replicas: only the holder of the lease writes");
  add_preset(app, "--stop-delay", texts.stop_delay,
             "How long webhooks are still served after a signal to stop, while /readyz fails and the API server turns "
             "to another replica; 0: not at all");
  app.option("--identity", options.identity,
             "Name of this replica in the lease; by default $POD_NAME, or the host's name and the process ID");
  using kube::LogFormat, kube::LogLevel;
  app.choice(
      "--log-level",
      {{"debug", int(LogLevel::debug)},
       {"info", int(LogLevel::info)},
       {"warn", int(LogLevel::warn)},
       {"error", int(LogLevel::error)}},
      [&options](int number) { options.log_level = LogLevel(number); }, "debug, info (default), warn or error");
  app.choice(
      "--log-format", {{"text", int(LogFormat::text)}, {"json", int(LogFormat::json)}},
      [&options](int number) { options.log_format = LogFormat(number); }, "text (default) or json");
}

}  // namespace liqod
