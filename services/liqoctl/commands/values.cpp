// liqoctl get values: the values that an installation was given, and those in force.
#include "template/values.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "installation/chart.hpp"
#include "installation/daemon.hpp"
#include "installation/given_values.hpp"
#include "installation/installed.hpp"
#include "model/install/install.hpp"
#include "model/install/secret_values.hpp"
#include "session/session.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
using kube::Errc;

/// Warns if the installed version is not this program's, whose chart has the defaults.
asio::awaitable<Result<void>> warn_of_version(Cluster& cluster) {
  KUBE_CO_TRY(version, co_await read_liqod_version(cluster));
  if (!version.empty() && version != LIQOCTL_VERSION && version != "v" LIQOCTL_VERSION)
    cluster.output().warn(cluster.scope(), "liqod is of version " + version +
                                               ", and the defaults shown are those of " LIQOCTL_VERSION
                                               ": use the liqoctl of the same release");
  co_return Result<void>();
}

asio::awaitable<Result<void>> get_values(Session& session) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(there, co_await look_for_installation(cluster));
  KUBE_CO_TRYV(check_installers(there, session.flags().liqo(), "get values"));
  if (there.ns.empty())
    co_return kube::fail(Errc::missing, "Liqo is not installed in cluster " + cluster.api().cluster());
  KUBE_CO_TRY(given, co_await read_given_values(cluster));
  KUBE_CO_TRY(defaults, model::default_values(chart_files()));
  if (!given.is_recorded)
    session.output().warn(cluster.scope(),
                          "was installed before values were recorded: what was given is what its Deployment and "
                          "ConfigMap show; liqoctl upgrade records it");
  KUBE_CO_TRYV(co_await warn_of_version(cluster));
  json::object in_force = chart::with_defaults(given.values, defaults);
  const json::value shown = json::object{{"given", model::without_secrets(std::move(given.values))},
                                         {"inForce", model::without_secrets(std::move(in_force))}};
  session.output().print(session.flags().output == Format::json ? text::pretty_json(shown) : text::yaml(shown));
  co_return Result<void>();
}

}  // namespace

void add_values(CommandLine& line) {
  line.command(line.verb("get"),
               {"values", "Show the values that Liqo was given by install and upgrade, and those in force"},
               {.namespaces = Namespaces::liqo,
                .prints = Prints::objects,
                .examples = "  liqoctl get values\n"
                            "  liqoctl get values -o json | jq .inForce.storage\n"
                            "In force are the defaults of the chart with what was given over them. liqoctl upgrade\n"
                            "keeps what was given. Of tokens, passwords, keys and certificates it is only shown that\n"
                            "they are set."},
               [](Session& session) { return get_values(session); });
}

}  // namespace liqoctl
