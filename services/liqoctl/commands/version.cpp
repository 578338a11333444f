// liqoctl version: the versions of this program and of the daemon in the cluster.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "installation/daemon.hpp"
#include "session/session.hpp"

namespace liqoctl {
namespace {

struct VersionFlags {
  bool client_only = false;
};

asio::awaitable<Result<void>> version(Session& session, const VersionFlags& flags) {
  session.output().print("Client version: " LIQOCTL_VERSION "\n");
  if (flags.client_only) co_return Result<void>();
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(found, co_await read_liqod_version(*cluster));
  session.output().print("Server version: " + (found.empty() ? "unknown" : found) + "\n");
  if (found.empty()) {
    session.output().warn("", "namespace " + cluster->liqo_namespace() + " has no Deployment of liqod");
  } else if (found != LIQOCTL_VERSION && found != "v" LIQOCTL_VERSION) {
    session.output().warn("", "liqoctl and liqod differ in version: use the liqoctl of the same release");
  }
  co_return Result<void>();
}

}  // namespace

void add_version(CommandLine& line) {
  auto flags = std::make_shared<VersionFlags>();
  const cli::Command app =
      line.command(line.root(), {"version", "Print the versions of this program and of the daemon"},
                   {.namespaces = Namespaces::liqo}, [flags](Session& session) { return version(session, *flags); });
  app.flag("--client", flags->client_only, "Only that of this program; no cluster is asked");
}

}  // namespace liqoctl
