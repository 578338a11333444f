// liqoctl exclude daemonsets: gives DaemonSets that tolerate everything an affinity that keeps them off virtual nodes.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/offloading/daemon_sets.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "model/check/daemon_sets.hpp"
#include "session/daemon_sets.hpp"
#include "session/session.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;

struct ExcludeFlags {
  std::vector<std::string> names;  ///< "namespace/name", or the name alone; {} = all on virtual nodes
  bool undo = false;
};

/// A DaemonSet, and its changed version.
struct Planned {
  Object before, after;
};

bool is_named(const Object& set, const std::vector<std::string>& names) {
  return std::ranges::any_of(
      names, [&set](const std::string& name) { return name == set.name() || name == set.key().text(); });
}

/// The DaemonSets to change. Those that another program manages are reported, and left alone. Errors: Errc::missing for
/// a name that no DaemonSet has.
Result<std::vector<Planned>> plan(Cluster& cluster, const DaemonSetSnapshot& snapshot, const ExcludeFlags& flags) {
  for (const std::string& name : flags.names)
    if (std::ranges::none_of(snapshot.all, [&name](const Object& set) { return is_named(set, {name}); }))
      return kube::fail(kube::Errc::missing, "there is no DaemonSet " + name);
  std::vector<Planned> planned;
  for (const Object& set : flags.names.empty() && !flags.undo ? snapshot.sitting : snapshot.all) {
    if (!flags.names.empty() && !is_named(set, flags.names)) continue;
    Planned one{set, set};
    if (!(flags.undo ? core::let_onto_virtual_nodes(one.after) : core::keep_off_virtual_nodes(one.after))) continue;
    if (const std::string keeper = core::who_keeps(set); !keeper.empty()) {
      cluster.output().warn(cluster.scope(),
                            "DaemonSet " + kube::printable(set.key().text()) + " stays as it is, because " +
                                kube::printable(keeper) +
                                " and would undo the change: set the affinity where that is configured");
      continue;
    }
    planned.push_back(std::move(one));
  }
  return planned;
}

asio::awaitable<Result<void>> change(Session& session, Cluster& cluster, Planned one, bool undo) {
  const std::function<bool(Object&)> edit = [undo](Object& set) {
    return undo ? core::let_onto_virtual_nodes(set) : core::keep_off_virtual_nodes(set);
  };
  KUBE_CO_TRY(done, co_await update(cluster, core::daemon_sets, one.before.key(), edit),
              "DaemonSet " + one.before.key().text());
  if (done == Ensured::changed)
    session.output().success(cluster.scope(),
                             "DaemonSet " + kube::printable(one.before.key().text()) +
                                 (undo ? " may be on virtual nodes again" : " keeps off virtual nodes") +
                                 "; kubectl rollout status shows how its pods follow");
  co_return Result<void>();
}

asio::awaitable<Result<void>> exclude(Session& session, const ExcludeFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local_without_id());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(snapshot, co_await look_at_daemon_sets(cluster));
  KUBE_CO_TRY(planned, plan(cluster, snapshot, flags));
  if (planned.empty()) {
    session.output().info(cluster.scope(), flags.undo ? "no DaemonSet that can be changed is kept off virtual nodes"
                                                      : "no DaemonSet that can be changed sits on virtual nodes");
    co_return Result<void>();
  }
  std::vector<std::string> names;
  for (const Planned& one : planned) {
    names.push_back(kube::printable(one.before.key().text()));
    session.output().print("DaemonSet " + names.back() + ": " + model::roll_in_words(one.before) + "\n" +
                           model::affinity_diff(one.before, one.after));
  }
  if (session.flags().dry_run) co_return Result<void>();
  if (auto yes =
          co_await session.confirm("The pods of " + kube::join(names, ", ") + " will be replaced, as said above.");
      !yes)
    co_return yes;
  for (Planned& one : planned) KUBE_CO_TRYV(co_await change(session, cluster, std::move(one), flags.undo));
  co_return Result<void>();
}

}  // namespace

void add_exclude(CommandLine& line) {
  auto flags = std::make_shared<ExcludeFlags>();
  const cli::Command app = line.command(
      line.verb("exclude"), {"daemonsets", "Keep DaemonSets that tolerate everything off virtual nodes"},
      {.namespaces = Namespaces::none,
       .writes = true,
       .aliases = {"daemonset", "ds"},
       .examples =
           "  liqoctl exclude daemonsets --dry-run\n"
           "  liqoctl exclude daemonsets kube-system/kube-proxy\n"
           "  liqoctl exclude daemonsets kube-proxy --undo\n"
           "Without a name: all that have a pod on a virtual node, or would have one, but for those of offloaded\n"
           "namespaces. The template gets a node affinity, so all pods of the DaemonSet are replaced, as its update\n"
           "strategy says. What an operator or an addon manager keeps is named, and not changed."},
      [flags](Session& session) { return exclude(session, *flags); });
  app.list("names", flags->names, "NAMESPACE/NAME, or the name alone").type_name("NAME");
  app.flag("--undo", flags->undo, "Take the affinity out again");
}

}  // namespace liqoctl
