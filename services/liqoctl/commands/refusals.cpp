// liqoctl get refusals: requests of consumers that this cluster has refused.
#include "model/tenant/refusals.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/base/duration.hpp"
#include "liqo/api/kinds.hpp"
#include "session/find_one.hpp"
#include "session/session.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

namespace admission = liqo::core::admission;
namespace kinds = liqo::api::kinds;

struct RefusalFlags {
  std::string peer;
  std::optional<kube::Duration> since;
};

/// The ConfigMaps of one peer, or of all.
asio::awaitable<Result<std::vector<Object>>> read_maps(Cluster& cluster, std::string peer) {
  std::string ns;
  if (!peer.empty()) {
    KUBE_CO_TRY(named, co_await find_tenant_namespace(cluster, peer));
    ns = std::move(named);
  }
  co_return co_await cluster.list(kube::resources::config_maps, ns, "", kube::name_is(admission::refusals_config_map));
}

asio::awaitable<Result<void>> get_refusals(Session& session, const RefusalFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(tenants, co_await cluster.list(kube::resources::namespaces, "",
                                             liqo::core::marked_tenant_namespaces().label_selector));
  KUBE_CO_TRY(maps, co_await read_maps(cluster, flags.peer));
  const kube::WallTime now = session.clock().wall();
  const kube::WallTime since =
      flags.since ? now - std::chrono::duration_cast<kube::WallTime::duration>(*flags.since) : kube::WallTime{};
  const auto refusals = model::refusals_since(tenants, maps, since);
  if (session.flags().output == Format::json) {
    session.output().print(text::pretty_json(model::refusal_list(refusals)));
  } else if (session.flags().output == Format::yaml) {
    session.output().print(text::yaml(model::refusal_list(refusals)));
  } else if (refusals.empty()) {
    const auto deployment = co_await cluster.find(kinds::deployments, {cluster.liqo_namespace(), "liqod"});
    session.output().info("", model::no_refusals(deployment && *deployment ? &**deployment : nullptr));
  } else {
    session.output().print(model::refusal_table(refusals, now));
  }
  co_return Result<void>();
}

}  // namespace

void add_refusals(CommandLine& line) {
  auto flags = std::make_shared<RefusalFlags>();
  const cli::Command app =
      line.command(line.verb("get"), {"refusals", "List what this cluster has refused its consumers, and why"},
                   {.namespaces = Namespaces::liqo,
                    .prints = Prints::objects,
                    .aliases = {"refusal"},
                    .examples = "  liqoctl get refusals\n"
                                "  liqoctl get refusals --remote-cluster-id rome --since 1h"},
                   [flags](Session& session) { return get_refusals(session, *flags); });
  app.option("--remote-cluster-id", flags->peer, "Only those of this consumer").type_name("ID");
  const auto read = [flags](const std::string& text) -> kube::Result<void> {
    KUBE_TRY(parsed, kube::parse_duration(text));
    flags->since = parsed;
    return {};
  };
  app.option("--since", read, "Only what was refused within this time, e.g. 1h").type_name("TIME");
}

}  // namespace liqoctl
