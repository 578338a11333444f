// liqoctl uninstall: removes what liqoctl install put into the cluster.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "installation/chart.hpp"
#include "installation/installation.hpp"
#include "installation/installed.hpp"
#include "liqo/api/kinds.hpp"
#include "model/install/install.hpp"
#include "model/install/uses.hpp"
#include "model/names/corefile.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
using kube::Errc;

struct Flags {
  bool purge = false, check = false, prepare = false;
};

/// Refuses while Liqo is in use, and names each use with who can end it.
asio::awaitable<Result<void>> check_unused(Cluster& cluster) {
  model::Uses uses;
  for (const auto& [kind, objects] : {std::pair{kinds::namespace_offloadings, &uses.offloadings},
                                      {kinds::resource_slices, &uses.slices},
                                      {kinds::virtual_nodes, &uses.virtual_nodes},
                                      {kinds::tenants, &uses.tenants},
                                      {kinds::identities, &uses.identities},
                                      {kinds::foreign_clusters, &uses.peers}}) {
    auto found = co_await cluster.list(kind, "");
    if (!found && found.error().is_not_found()) continue;  // the CRD itself is missing
    if (!found) co_return std::unexpected(std::move(found.error()));
    *objects = std::move(*found);
  }
  const std::string told = model::describe_uses(uses);
  if (told.empty()) co_return Result<void>();
  co_return kube::fail(Errc::invalid_input, told);
}

/// Helm's hook runs this too, if Helm has installed Liqo. Its rights allow nothing else.
asio::awaitable<Result<void>> check_removal(Session& session, bool prepare) {
  KUBE_CO_TRY(opened, co_await session.local_without_id());
  KUBE_CO_TRYV(co_await check_unused(*opened));
  if (prepare) KUBE_CO_TRYV(co_await remove_usage_api(*opened));
  session.output().success("", "Liqo can be removed: there are no peers and no offloaded namespaces");
  co_return Result<void>();
}

/// The lines of home-names in CoreDNS are the administrator's, so they stay, and lead nowhere without liqod.
asio::awaitable<void> report_home_names(Session& session, Cluster& cluster) {
  const kube::ObjectKey key{std::string(model::corefile_namespace), std::string(model::corefile_map)};
  const auto map = co_await cluster.find(kube::resources::config_maps, key);
  if (!map || !*map) co_return;
  const std::string_view corefile = kube::string_at((*map)->tree(), {"data", model::corefile_key});
  if (corefile.empty()) co_return;
  const auto without = model::without_home_names(corefile);
  // If somebody has removed a part of them, --undo says what to do.
  if (without && without->text == corefile) co_return;
  session.output().warn(cluster.scope(), "CoreDNS keeps the lines of home-names (ConfigMap " + key.text() +
                                             "): \"liqoctl enable home-names --undo\" takes them out");
}

asio::awaitable<Result<void>> uninstall(Session& session, const Flags& flags) {
  if (flags.check || flags.prepare) co_return co_await check_removal(session, flags.prepare);
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(there, co_await look_for_installation(cluster));
  const std::string ns = session.flags().liqo();
  KUBE_CO_TRYV(check_installers(there, ns, "uninstall"));
  KUBE_CO_TRYV(co_await check_unused(cluster));
  const std::string more = flags.purge ? ", and its CRDs with it" : "";
  KUBE_CO_TRYV(co_await session.confirm("Liqo is removed from namespace " + ns + " of this cluster" + more + "."));
  KUBE_CO_TRYV(co_await remove_installation(session, cluster));
  if (flags.purge) {
    KUBE_CO_TRY(definitions, model::kinds_of_chart(chart_files()));
    KUBE_CO_TRYV(co_await remove_kinds(session, cluster, definitions));
  }
  co_await report_home_names(session, cluster);
  std::string stays;
  if (!flags.purge) {
    const auto left = co_await cluster.list(kinds::foreign_clusters, "");
    if (left || !left.error().is_not_found()) stays = "; its CRDs stay (--purge removes them)";
  }
  session.output().success("", "Liqo is removed" + stays);
  co_return Result<void>();
}

}  // namespace

void add_uninstall(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  const cli::Command app =
      line.command(line.root(), {"uninstall", "Remove what liqoctl install has put into the cluster"},
                   {.namespaces = Namespaces::liqo,
                    .timeout = std::chrono::minutes(10),
                    .examples = "  liqoctl uninstall\n"
                                "Refused while there are peers or offloaded namespaces, which are named.\n"
                                "It can be run again, and resumes."},
                   [flags](Session& session) { return uninstall(session, *flags); });
  app.flag("--check", flags->check, "Only look whether something stands in the way; nothing is removed");
  app.flag("--prepare", flags->prepare,
           "Check; if nothing stands in the way, remove the API metrics.liqo.io (for Helm)");
  app.flag("--purge", flags->purge, "Remove the CRDs (CustomResourceDefinitions), too");
}

}  // namespace liqoctl
