// liqoctl force unpeer: makes the cluster at home forget a peer that will not come back.
#include <algorithm>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/peer_names.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "model/selectors.hpp"
#include "peering/removal.hpp"
#include "session/find_one.hpp"
#include "session/wait.hpp"
#include "volumes/remote_data.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
using kube::Errc;

struct Flags {
  std::string peer;
  bool wait = true;
  DeleteNamespaces delete_namespaces;
};

/// The objects of this cluster about the peer.
struct Stock {
  std::size_t slices = 0, nodes = 0, tenants = 0;
  std::vector<liqo::core::storage::RemoteData> data;  ///< of volumes at the peer, as far as this user may see them
};

asio::awaitable<Result<Stock>> count(Cluster& cluster, std::string peer) {
  KUBE_CO_TRY(slices, co_await cluster.list(kinds::resource_slices, "", model::towards(peer)));
  KUBE_CO_TRY(nodes, co_await cluster.list(kinds::virtual_nodes, "", model::about(peer)));
  KUBE_CO_TRY(tenants, co_await cluster.list(kinds::tenants, "", model::about(peer)));
  auto data = co_await find_remote_data(cluster, {.ns = {}, .cluster = peer});
  if (!data && !data.error().is_forbidden()) co_return std::unexpected(std::move(data.error()));
  co_return Stock{.slices = slices.size(),
                  .nodes = nodes.size(),
                  .tenants = tenants.size(),
                  .data = data ? std::move(*data) : std::vector<liqo::core::storage::RemoteData>()};
}

std::string question(const std::string& peer, const Stock& stock) {
  std::string out = peer + " is given up.";
  if (!stock.data.empty())
    out += " The data of " + liqo::core::storage::in_words(stock.data) + " is lost to this cluster.";
  if (stock.slices + stock.nodes > 0)
    out += " Here, " + std::to_string(stock.slices) + " ResourceSlices and " + std::to_string(stock.nodes) +
           " virtual nodes go with the pods on them, which may go on running in " + peer + ".";
  if (stock.tenants > 0) out += " As a consumer it loses what it was granted, and its pods here end.";
  return out;
}

/// Marks the ForeignCluster of the peer, so that the controllers no longer wait for that peer.
asio::awaitable<Result<void>> give_up(Cluster& cluster, kube::ObjectKey peer) {
  const std::function<bool(Object&)> mark = [](Object& object) {
    constexpr std::string_view lost = liqo::api::annotations::permanently_unreachable;
    if (object.annotation(lost) == "true") return false;
    object.set_annotation(lost, "true");
    return true;
  };
  auto marked = co_await update(cluster, kinds::foreign_clusters, std::move(peer), mark);
  if (marked || marked.error().is_not_found()) co_return Result<void>();
  co_return std::unexpected(std::move(marked.error()));
}

/// Prints what the peer keeps of this cluster, whose ID is `own`.
void report_what_stays(Output& output, const std::string& peer, const std::string& own, const Stock& stock) {
  if (stock.slices + stock.nodes > 0)
    output.warn("", "in " + peer + " the Tenant " + own + " stays, with its quotas, twin namespaces and " +
                        "the pods that run in them: whoever runs it ends them by liqoctl delete tenant " + own);
  if (stock.tenants > 0)
    output.warn("", "in " + peer + " its slices, virtual nodes and credentials of " + own +
                        " stay: liqoctl force unpeer " + own + " there ends them");
}

asio::awaitable<Result<void>> force_unpeer(Session& session, const Flags& flags) {
  if (!liqo::core::is_cluster_id(flags.peer))
    co_return kube::fail(Errc::invalid_input, "'" + kube::printable(flags.peer) + "' is no cluster ID");
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(id, co_await cluster.id());
  KUBE_CO_TRY(peer, co_await find_peer(cluster, flags.peer));
  KUBE_CO_TRY(ns, co_await cluster.tenant_namespace(flags.peer));
  if (!peer && !ns.exists)
    co_return kube::fail(Errc::missing, flags.peer + " is not a peer of " + id + " (liqoctl info lists the peers)");
  KUBE_CO_TRY(stock, co_await count(cluster, flags.peer));
  KUBE_CO_TRYV(co_await session.confirm(question(flags.peer, stock)));

  if (peer) {
    KUBE_CO_TRYV(co_await give_up(cluster, peer->key()));
  }
  KUBE_CO_TRYV(co_await remove_all(session, cluster,
                                   {.resource = kinds::resource_slices, .label_selector = model::towards(flags.peer)},
                                   flags.wait));
  KUBE_CO_TRYV(co_await remove_all(
      session, cluster, {.resource = kinds::virtual_nodes, .label_selector = model::about(flags.peer)}, flags.wait));
  KUBE_CO_TRYV(co_await release_twins(session, cluster, flags.peer));
  if (ns.exists) {
    KUBE_CO_TRYV(co_await forget_identity(session, cluster, flags.peer, ns.name));
    if (stock.tenants > 0) KUBE_CO_TRYV(co_await forget_tenant(session, cluster, flags.peer, ns.name));
    for (const bool provider : {false, true}) co_await sweep_secrets(cluster, flags.peer, ns.name, provider);
  }
  KUBE_CO_TRY(name, co_await delete_namespace(session, flags.delete_namespaces, cluster, flags.peer));
  if (flags.wait && !session.flags().dry_run && !name.empty()) {
    KUBE_CO_TRYV(co_await wait_for_namespace_to_go(cluster, session.deadline(), name));
  }
  if (session.flags().dry_run) co_return Result<void>();
  session.output().success("", id + " has forgotten " + flags.peer);
  report_what_stays(session.output(), flags.peer, id, stock);
  co_return Result<void>();
}

}  // namespace

void add_force(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  const cli::Command app = line.command(
      line.verb("force"),
      {"unpeer", "Forget a peer that does not answer and will not come back; needs this cluster alone"},
      {.namespaces = Namespaces::liqo,
       .writes = true,
       .timeout = std::chrono::minutes(2),
       .argument = Candidates::peers,
       .examples =
           "  liqoctl force unpeer milan\n"
           "What stays in the other cluster is said at the end. A peer that does answer lets go by itself of what\n"
           "this cluster has there; liqoctl unpeer is the better way then."},
      [flags](Session& session) { return force_unpeer(session, *flags); });
  app.option("id", flags->peer, "ID of the peer").required().type_name("ID");
  app.flag("--wait", flags->wait, "Wait until everything is gone (default true); credentials are always waited for");
  add_delete_namespaces(app, flags->delete_namespaces);
}

}  // namespace liqoctl
