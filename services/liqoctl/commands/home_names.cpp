// liqoctl enable home-names: lets names of Services at home resolve at this provider, by lines in CoreDNS' Corefile.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/names.hpp"
#include "kube/base/printable.hpp"
#include "model/names/corefile.hpp"
#include "session/session.hpp"

namespace liqoctl {
namespace {

using kube::Errc;

struct HomeNamesFlags {
  bool undo = false;
  bool print = false;
  std::string domain = "cluster.local";  ///< of the lines that are printed
};

const kube::ObjectKey key{std::string(model::corefile_namespace), std::string(model::corefile_map)};

std::string_view corefile_of(const Object& map) { return kube::string_at(map.tree(), {"data", model::corefile_key}); }

Result<model::ChangedCorefile> changed(std::string_view corefile, bool undo) {
  return undo ? model::without_home_names(corefile) : model::with_home_names(corefile);
}

/// The ConfigMap, if it is one that may be changed here.
asio::awaitable<Result<Object>> read_map(Cluster& cluster) {
  const std::string name = "ConfigMap " + key.text();
  KUBE_CO_TRY(found, co_await cluster.find(kube::resources::config_maps, key));
  if (!found || corefile_of(*found).empty())
    co_return kube::fail(Errc::missing,
                         "there is no " + name + " with a " + std::string(model::corefile_key) +
                             ", so somebody else manages the name server of this cluster: nothing is changed; "
                             "\"liqoctl enable home-names --print\" prints the lines for a CoreDNS");
  if (const std::string keeper = model::who_keeps_corefile(*found); !keeper.empty())
    co_return kube::fail(Errc::invalid_input,
                         name + " is not changed, because " + kube::printable(keeper) +
                             " and would undo the change: put the lines of \"liqoctl enable home-names --print\" where "
                             "that is configured, or take them out there");
  co_return std::move(*found);
}

asio::awaitable<Result<void>> write(Cluster& cluster, bool undo) {
  kube::Result<void> failure;
  // The Corefile may have changed since it was shown.
  const std::function<bool(Object&)> edit = [undo, &failure](Object& map) {
    auto next = changed(corefile_of(map), undo);
    failure = {};
    if (!next) {
      failure = std::unexpected(std::move(next.error()));
      return false;
    }
    if (next->text == corefile_of(map)) return false;
    kube::ensure_object(map.tree(), "data")[model::corefile_key] = next->text;
    return true;
  };
  KUBE_CO_TRYV(co_await update(cluster, kube::resources::config_maps, key, edit), "ConfigMap " + key.text());
  co_return failure;
}

asio::awaitable<Result<void>> enable_home_names(Session& session, const HomeNamesFlags& flags) {
  if (flags.print) {
    session.output().print(model::home_names_lines(flags.domain, ""));
    co_return Result<void>();
  }
  KUBE_CO_TRY(opened, co_await session.local_without_id());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(map, co_await read_map(cluster));
  KUBE_CO_TRY(next, changed(corefile_of(map), flags.undo));
  if (next.text == corefile_of(map)) {
    session.output().info(cluster.scope(), flags.undo ? "CoreDNS has no lines of home-names"
                                                      : "CoreDNS has the lines of home-names already");
    co_return Result<void>();
  }
  session.output().print("ConfigMap " + key.text() + ", key " + std::string(model::corefile_key) + ":\n" +
                         model::changed_lines(corefile_of(map), next.text));
  if (session.flags().dry_run) co_return Result<void>();
  KUBE_CO_TRYV(co_await session.confirm("The name server of the whole cluster will be changed, as said above."));
  KUBE_CO_TRYV(co_await write(cluster, flags.undo));
  session.output().success(
      cluster.scope(),
      (flags.undo ? "the lines of home-names are taken out of the Corefile"
                  : "the lines of home-names are in the Corefile") +
          std::string(next.reloads ? "; CoreDNS reads it within two minutes"
                                   : "; for CoreDNS to read it: kubectl rollout restart -n kube-system "
                                     "deployment coredns") +
          (flags.undo
               ? ""
               : ", and pods that are made after that find names of home, and read their namespace's name there"));
  co_return Result<void>();
}

}  // namespace

void add_home_names(CommandLine& line) {
  auto flags = std::make_shared<HomeNamesFlags>();
  const cli::Command app = line.command(
      line.verb("enable"),
      {"home-names", "Provider: let consumers' pods find Services by the names that they have at home"},
      {.namespaces = Namespaces::none,
       .writes = true,
       .aliases = {"homenames"},
       .examples =
           "  liqoctl enable home-names --dry-run\n"
           "  liqoctl enable home-names\n"
           "  liqoctl enable home-names --undo\n"
           "Under the strategy DefaultName namespace shop of cluster rome is called shop-rome here, so db.shop and\n"
           "db.shop.svc.cluster.local lead nowhere. This adds lines to CoreDNS (ConfigMap kube-system/coredns) by\n"
           "which names under rome.home.liqo.internal lead there. Once they do, liqod lets the pods of consumers\n"
           "search that domain. A CoreDNS that somebody else manages is named, and not changed."},
      [flags](Session& session) { return enable_home_names(session, *flags); });
  app.flag("--undo", flags->undo, "Take the lines out again: the Corefile is what it was, byte for byte");
  app.flag("--print", flags->print, "Print the lines for a server block of CoreDNS, and change nothing");
  app.option("--domain", flags->domain, "Domain of the cluster in the lines of --print (default cluster.local)")
      .type_name("DOMAIN")
      .check([](const std::string& given) -> kube::Result<void> {
        if (liqo::core::is_dns_subdomain(given)) return {};
        return kube::fail(Errc::invalid_input, "'" + given + "' is no DNS domain");
      });
}

}  // namespace liqoctl
