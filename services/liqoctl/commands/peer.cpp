// liqoctl peer and unpeer: from two clusters to a Ready node, and back.
#include "command_line/checked_flags.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "model/selectors.hpp"
#include "peering/addresses.hpp"
#include "peering/foreign_cluster.hpp"
#include "peering/handshake.hpp"
#include "peering/progress.hpp"
#include "peering/removal.hpp"
#include "peering/slices.hpp"
#include "peering/unauthenticate.hpp"
#include "session/daemon_sets.hpp"
#include "session/find_one.hpp"
#include "session/miscounted.hpp"
#include "session/topology_hints.hpp"
#include "session/wait.hpp"
#include "volumes/kept_twins.hpp"
#include "volumes/remote_data.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
namespace json = kube::json;
using kube::Errc;

struct PeerFlags {
  std::string wait = "node";  ///< slice, node, none
  bool in_band = false, replace = false, create_slice = true;
  std::optional<bool> create_node;
  std::string slice_class;  ///< "" = unchanged, or the default one for a new slice
  model::ResourceFlags resources;
  std::vector<std::string> twin_names;
  AddressFlags addresses;
  // Of the network module: known, and without effect.
  bool networking_disabled = false, skip_validation = false;
  std::string server_location, server_type, server_port, server_node_port, server_ip, client_address, client_port, mtu;

  bool names_networking() const {
    for (const std::string* flag : {&server_location, &server_type, &server_port, &server_node_port, &server_ip,
                                    &client_address, &client_port, &mtu})
      if (!flag->empty()) return true;
    return skip_validation || in_band;
  }
};

/// Warns if the provider's nodes have less than it has granted. A provider grants the whole request even then, and pods
/// would wait there without any explanation.
asio::awaitable<void> warn_of_more_than_there_is(Session& session, Session::Pair pair, json::object named) {
  if (named.empty()) co_return;
  auto nodes = co_await pair.provider->list(kube::resources::nodes, "");
  if (!nodes) {
    // A peering user may not list Nodes.
    if (nodes.error().is_forbidden())
      session.output().info(pair.provider->scope(),
                            "whether its nodes have that much is not shown to this user; pods that find no room there "
                            "stay Pending");
    co_return;
  }
  if (const std::string more = model::beyond_nodes(named, *nodes); !more.empty())
    session.output().warn(pair.provider->scope(),
                          "granted more than the cluster has: " + more + "; pods that find no room there stay Pending");
}

/// Peering again leaves an existing slice as it is, except for the amounts that are named now.
asio::awaitable<Result<void>> offload(Session& session, const PeerFlags& flags, Session::Pair pair) {
  Cluster& consumer = *pair.consumer;
  KUBE_CO_TRY(ns, co_await consumer.existing_tenant_namespace(pair.provider_id));
  model::SliceRequest request{.name = pair.provider_id,
                              .ns = ns,
                              .provider = pair.provider_id,
                              .slice_class = flags.slice_class,
                              .create_virtual_node = flags.create_node};
  KUBE_CO_TRY(resources, model::resource_list(flags.resources));
  request.resources = std::move(resources);
  const kube::ObjectKey key{request.ns, request.name};
  const json::object named = request.resources;
  KUBE_CO_TRY(done, co_await ensure_slice(session, consumer, std::move(request)));
  if (done.done == Ensured::dry_run || session.flags().dry_run || flags.wait == "none") co_return Result<void>();
  const bool wants_node = done.wants_node;
  KUBE_CO_TRYV(co_await wait_for_slice(session, consumer, key, std::move(done)));
  co_await warn_of_more_than_there_is(session, pair, named);
  if (flags.wait != "node" || !wants_node) co_return Result<void>();
  KUBE_CO_TRY(node, co_await wait_for_virtual_node(session, consumer, key));
  auto ready = co_await wait_for_node(session, consumer, node, key.name);
  if (ready) {
    co_await warn_of_daemon_sets(consumer);
    co_await warn_of_lost_hints(consumer);
    co_await warn_of_miscounts(consumer);
  }
  co_return ready;
}

/// Adds the names to the consumer's policy at the provider. This comes before the Tenant, which is checked against the
/// policy. The rest of the policy stays.
asio::awaitable<Result<void>> allow_twin_names(Session& session, Session::Pair pair, std::vector<std::string> names) {
  Cluster& provider = *pair.provider;
  KUBE_CO_TRY(ns, co_await ensure_tenant_namespace(session, provider, pair.consumer_id), provider.scope());
  // The namespace is missing only with --dry-run.
  if (provider.would_be_new(kube::resources::namespaces, {"", ns})) co_return Result<void>();
  std::string unreadable;
  const auto allow = [&](Object& object) {
    auto policy =
        model::with_twin_names(object.annotation(liqo::api::annotations::pod_policy), pair.consumer_id, names);
    unreadable = policy ? "" : policy.error().text();
    if (!policy || *policy == object.annotation(liqo::api::annotations::pod_policy)) return false;
    object.set_annotation(liqo::api::annotations::pod_policy, *policy);
    return true;
  };
  KUBE_CO_TRY(done, co_await update(provider, kube::resources::namespaces, {"", ns}, allow),
              provider.scope() + ": allowing names of twins");
  if (!unreadable.empty())
    co_return kube::fail(Errc::invalid_input, provider.scope() + ": the annotation liqo.io/pod-policy of namespace " +
                                                  ns + " cannot be understood: " + unreadable);
  if (done == Ensured::changed)
    session.output().success(provider.scope(), "names of twins allowed in the policy of tenant namespace " + ns);
  co_return Result<void>();
}

asio::awaitable<Result<void>> peer(Session& session, const PeerFlags& flags) {
  KUBE_CO_TRYV(model::resource_list(flags.resources));
  if (flags.names_networking())
    session.output().warn("",
                          "flags of the network module have no effect: pods of both clusters must reach each other "
                          "by other means");
  KUBE_CO_TRY(pair, co_await session.both());
  if (!flags.twin_names.empty()) {
    KUBE_CO_TRYV(co_await allow_twin_names(session, pair, flags.twin_names));
  }
  KUBE_CO_TRY(ranges, co_await choose_pod_ranges(session, pair, flags.addresses));
  KUBE_CO_TRYV(co_await authenticate(session, pair, flags.replace), "authentication");
  KUBE_CO_TRYV(co_await declare_pod_ranges(session, *pair.consumer, pair.provider_id, std::move(ranges)), "addresses");
  KUBE_CO_TRYV(co_await declare_remote_namespace(session, pair));
  if (flags.create_slice) {
    KUBE_CO_TRYV(co_await offload(session, flags, pair), "offloading");
  }
  if (!session.flags().dry_run)
    session.output().success("", pair.consumer_id + " is peered with " + pair.provider_id +
                                     co_await find_step_after_peering(*pair.consumer, pair.provider_id));
  co_return Result<void>();
}

struct UnpeerFlags {
  bool wait = true;
  bool delete_volumes = false;
  DeleteNamespaces delete_namespaces;
};

/// Asks the user before pods lose their node.
asio::awaitable<Result<void>> confirm_ending(Session& session, Cluster& consumer, std::string provider) {
  KUBE_CO_TRY(nodes, co_await consumer.list(kinds::virtual_nodes, "", model::about(provider)));
  std::vector<Object> pods;
  for (const Object& node : nodes) {
    auto found = co_await consumer.list(kube::resources::pods, "", "", "spec.nodeName=" + std::string(node.name()));
    if (!found && found.error().is_forbidden())
      co_return co_await session.confirm("Pods that run in " + provider +
                                         " will end there; which they are, this user may not see.");
    if (!found) co_return std::unexpected(std::move(found.error()));
    for (Object& pod : *found) pods.push_back(std::move(pod));
  }
  const std::string moving = model::pods_in_words(pods);
  if (moving.empty()) co_return Result<void>();
  co_return co_await session.confirm("Pods that run in " + provider + " will end there: " + moving + ".");
}

/// Deletes the tenant namespaces of both clusters.
asio::awaitable<Result<void>> delete_namespaces(Session& session, Session::Pair pair, const UnpeerFlags& flags) {
  KUBE_CO_TRY(home, co_await delete_namespace(session, flags.delete_namespaces, *pair.consumer, pair.provider_id));
  KUBE_CO_TRY(away, co_await delete_namespace(session, flags.delete_namespaces, *pair.provider, pair.consumer_id));
  if (!flags.wait || session.flags().dry_run) co_return Result<void>();
  // Kubernetes removes a deleted namespace only after five seconds, so both clusters wait at the same time.
  for (const auto& [cluster, name] : {std::pair{pair.consumer, home}, std::pair{pair.provider, away}}) {
    if (name.empty()) continue;
    KUBE_CO_TRYV(co_await wait_for_namespace_to_go(*cluster, session.deadline(), name));
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> unpeer(Session& session, const UnpeerFlags& flags) {
  KUBE_CO_TRYV(co_await session.local());
  auto pair = co_await session.both();
  if (!pair && (pair.error().code() == Errc::connect || pair.error().code() == Errc::timeout))
    co_return kube::fail(pair.error().code(),
                         pair.error().text() + "; if the provider will not come back: liqoctl force unpeer ID");
  if (!pair) co_return std::unexpected(std::move(pair.error()));
  Cluster& consumer = *pair->consumer;
  KUBE_CO_TRY(peer, co_await find_peer(consumer, pair->provider_id));
  const bool both_ways = peer && kube::string_at(peer->status(), {"role"}) == "ConsumerAndProvider";
  if (both_ways && flags.delete_namespaces && *flags.delete_namespaces)
    co_return kube::fail(Errc::invalid_input, pair->provider_id + " also consumes from " + pair->consumer_id +
                                                  ": end that peering first, it uses the same tenant namespaces");
  KUBE_CO_TRYV(co_await confirm_ending(session, consumer, pair->provider_id));
  KUBE_CO_TRYV(co_await clear_volumes(consumer, {.ns = {}, .cluster = pair->provider_id}, flags.delete_volumes));
  KUBE_CO_TRY(kept, co_await find_kept_twins(consumer, "", pair->provider_id));
  if (!kept.empty() && !flags.delete_volumes)
    co_return kube::fail(Errc::invalid_input, kept.front().why + "; --delete-volumes of this command deletes it, too");
  KUBE_CO_TRYV(co_await give_up_twins(session, consumer, std::move(kept), flags.wait));
  KUBE_CO_TRYV(
      co_await remove_all(session, consumer,
                          {.resource = kinds::resource_slices, .label_selector = model::towards(pair->provider_id)},
                          flags.wait),
      "offloading");
  KUBE_CO_TRYV(co_await remove_all(
                   session, consumer,
                   {.resource = kinds::virtual_nodes, .label_selector = model::about(pair->provider_id)}, flags.wait),
               "offloading");
  // Volumes that were begun since the first look would be deleted with their twins.
  if (flags.wait && !flags.delete_volumes)
    KUBE_CO_TRYV(co_await clear_volumes(consumer, {.ns = {}, .cluster = pair->provider_id}, false));
  // Without --wait pods may still be ending, and liqod deletes the twins after them.
  if (flags.wait) KUBE_CO_TRYV(co_await release_twins(session, consumer, pair->provider_id), "offloading");
  KUBE_CO_TRYV(co_await unauthenticate(session, *pair), "authentication");
  if (!both_ways) KUBE_CO_TRYV(co_await delete_namespaces(session, *pair, flags));
  if (!session.flags().dry_run)
    session.output().success("", pair->consumer_id + " is no longer peered with " + pair->provider_id);
  co_return Result<void>();
}

}  // namespace

void add_peer(CommandLine& line) {
  auto flags = std::make_shared<PeerFlags>();
  const cli::Command app = line.command(
      line.root(), {"peer", "Peer with a provider: credentials, a slice of its resources, a virtual node"},
      {.namespaces = Namespaces::liqo,
       .clusters = Clusters::two,
       .writes = true,
       .creates = true,
       .timeout = std::chrono::minutes(10),
       .examples = "  liqoctl peer --kubeconfig=consumer.yaml --remote-kubeconfig=provider.yaml\n"
                   "  liqoctl peer --remote-kubeconfig=provider.yaml --cpu=8 --memory=16Gi --pods=200 \\\n"
                   "    --resource=nvidia.com/gpu=2\n"
                   "It can be run again at any time: it goes on where it was interrupted, changes the amounts that\n"
                   "are named, and leaves alone what operators have set (cordon, drain, other amounts)."},
      [flags](Session& session) { return peer(session, *flags); });
  app.option("--wait", flags->wait, "What to wait for (default node)").one_of({"slice", "node", "none"});
  app.flag("--create-resource-slice", flags->create_slice, "Ask for resources (default true)");
  app.option("--resource-slice-class", flags->slice_class, "Class of the slice: who decides at the provider")
      .type_name("NAME");
  app.flag("--create-virtual-node", flags->create_node, "Make a virtual node of the slice (default true)");
  add_replace(app, flags->replace);
  app.list("--allow-twin-names", flags->twin_names,
           "Other names for twins, the consumer's namespaces there; * is any text; may be repeated")
      .type_name("PATTERN");
  add_resource_flags(app, flags->resources);
  add_address_flags(app, flags->addresses);
  // Of the Go version's command line: accepted, without effect, and not shown.
  const std::string group;
  app.flag("--networking-disabled,--disable-networking", flags->networking_disabled, "No network module").group(group);
  app.flag("--in-band", flags->in_band, "API servers through the tunnel").group(group);
  app.flag("--skip-validation", flags->skip_validation, "No check of gateway templates").group(group);
  for (const auto& [name, into] : {std::pair{"--gw-server-service-location", &flags->server_location},
                                   std::pair{"--gw-server-service-type", &flags->server_type},
                                   std::pair{"--gw-server-service-port", &flags->server_port},
                                   std::pair{"--gw-server-service-nodeport", &flags->server_node_port},
                                   std::pair{"--gw-server-service-loadbalancerip", &flags->server_ip},
                                   std::pair{"--gw-client-address", &flags->client_address},
                                   std::pair{"--gw-client-port", &flags->client_port}, std::pair{"--mtu", &flags->mtu}})
    app.option(name, *into, "Gateways").group(group);

  auto undo = std::make_shared<UnpeerFlags>();
  const cli::Command back =
      line.command(line.root(), {"unpeer", "End a peering: slices, virtual nodes and credentials go"},
                   {.namespaces = Namespaces::liqo,
                    .clusters = Clusters::two,
                    .writes = true,
                    .timeout = std::chrono::minutes(2),
                    .examples = "  liqoctl unpeer --kubeconfig=consumer.yaml --remote-kubeconfig=provider.yaml"},
                   [undo](Session& session) { return unpeer(session, *undo); });
  back.flag("--wait", undo->wait, "Wait until everything is gone (default true); credentials are always waited for");
  back.flag("--delete-volumes", undo->delete_volumes,
            "Delete the claims whose data is at the provider, which is refused otherwise");
  add_delete_namespaces(back, undo->delete_namespaces);
}

}  // namespace liqoctl
