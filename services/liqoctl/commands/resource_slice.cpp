// liqoctl create|generate|delete resourceslice: capacity that a consumer asks a provider for.
#include "command_line/checked_flags.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/slices/request.hpp"
#include "liqo/api/kinds.hpp"
#include "model/objects.hpp"
#include "model/selectors.hpp"
#include "peering/removal.hpp"
#include "peering/slices.hpp"
#include "session/find_one.hpp"
#include "session/print_object.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;

struct SliceFlags {
  model::SliceRequest request;
  model::ResourceFlags resources;
  std::optional<bool> no_virtual_node;
  bool wait = true;
};

/// The request, completed with the values that only the cluster knows.
asio::awaitable<Result<model::SliceRequest>> complete(Cluster& cluster, const SliceFlags& flags) {
  model::SliceRequest request = flags.request;
  KUBE_CO_TRY(resources, model::resource_list(flags.resources));
  request.resources = std::move(resources);
  if (flags.no_virtual_node) request.create_virtual_node = !*flags.no_virtual_node;
  KUBE_CO_TRY(ns, co_await find_tenant_namespace(cluster, request.provider));
  request.ns = std::move(ns);
  co_return request;
}

/// Fails if there are no credentials by which the request would reach the provider.
asio::awaitable<Result<void>> check_credentials(Cluster& cluster, const model::SliceRequest& request) {
  auto secrets = co_await cluster.list(kube::resources::secrets, request.ns,
                                       model::about(request.provider) + "," + model::control_plane_secrets());
  // If the user may not list Secrets, the wait for the answer shows the problem instead.
  if (!secrets || !secrets->empty()) co_return Result<void>();
  co_return kube::fail(kube::Errc::missing, "cluster " + cluster.scope() + " has no credentials at " +
                                                request.provider +
                                                " yet: run liqoctl peer, which goes on where it was interrupted");
}

asio::awaitable<Result<void>> create_slice(Session& session, const SliceFlags& flags) {
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(request, co_await complete(*cluster, flags));
  if (session.flags().output != Format::none && !session.flags().dry_run) {
    print_object(session, model::forge_resource_slice(request));
    co_return Result<void>();
  }
  if (flags.wait && !session.flags().dry_run) KUBE_CO_TRYV(co_await check_credentials(*cluster, request));
  KUBE_CO_TRY(done, co_await ensure_slice(session, *cluster, request));
  if (done.done == Ensured::dry_run || !flags.wait) co_return Result<void>();
  const bool is_share = done.slice_class == liqo::core::share_class;
  auto accepted = co_await wait_for_slice(session, *cluster, {request.ns, request.name}, std::move(done));
  // A share is taken from what is free, so it needs no warning.
  if (accepted && !request.resources.empty() && !is_share)
    session.output().info(cluster->scope(),
                          "whether the nodes of " + request.provider +
                              " have that much is not shown here: pods that find no room there stay Pending");
  co_return accepted;
}

asio::awaitable<Result<void>> generate_slice(Session& session, const SliceFlags& flags) {
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(request, co_await complete(*cluster, flags));
  print_object(session, model::forge_resource_slice(request));
  co_return Result<void>();
}

asio::awaitable<Result<void>> delete_slices(Session& session, const DeleteFlags& flags) {
  return delete_objects(session, kinds::resource_slices, flags,
                        {.question = "its virtual node is drained and goes with it",
                         .waiting = "it is still there, its virtual node may be draining"});
}

void add_request_flags(cli::Command app, const std::shared_ptr<SliceFlags>& flags, std::string_view default_class) {
  check_names(app.option("name", flags->request.name, "Name of the slice").required().type_name("NAME"),
              liqo::core::max_slice_name);
  add_remote_cluster_id(app, flags->request.provider, "ID of the provider");
  app.option("--class", flags->request.slice_class,
             "Class: who decides at the provider (" + std::string(default_class) + ")")
      .type_name("NAME");
  add_resource_flags(app, flags->resources);
  app.flag("--no-virtual-node", flags->no_virtual_node, "Make no virtual node of the slice");
}

}  // namespace

void add_resource_slice(CommandLine& line) {
  const std::vector<std::string> aliases{"rs", "resourceslices"};
  auto create = std::make_shared<SliceFlags>();
  const cli::Command app = line.command(
      line.verb("create"), {"resourceslice", "Ask a provider for capacity, or change what is asked for"},
      {.writes = true,
       .creates = true,
       .prints = Prints::objects,
       .timeout = std::chrono::minutes(2),
       .aliases = aliases,
       .examples = "  liqoctl create resourceslice gpu-pool --remote-cluster-id cool-firefly \\\n"
                   "    --cpu 4 --memory 8Gi --pods 30 --resource nvidia.com/gpu=2\n"
                   "Amounts that a new slice does not name are the provider's defaults; those of a slice\n"
                   "that is there already stay, and so does whether it has a virtual node. To leave an\n"
                   "amount to the provider again, take it out of spec.resources (kubectl edit rslice NAME\n"
                   "-n NAMESPACE), or make a new slice."},
      [create](Session& session) { return create_slice(session, *create); });
  add_request_flags(app, create, "a slice keeps its own; a new one gets default");
  app.flag("--wait", create->wait, "Wait for the provider's answer (default true)");

  auto generate = std::make_shared<SliceFlags>();
  const cli::Command printed =
      line.command(line.verb("generate"), {"resourceslice", "Print a ResourceSlice to be applied later"},
                   {.prints = Prints::objects, .aliases = aliases},
                   [generate](Session& session) { return generate_slice(session, *generate); });
  add_request_flags(printed, generate, "default default");

  auto removal = std::make_shared<DeleteFlags>();
  const cli::Command removed = line.command(
      line.verb("delete"), {"resourceslice", "Give capacity back: the slice and its virtual node go"},
      {.writes = true, .timeout = std::chrono::minutes(2), .argument = Candidates::slices, .aliases = aliases},
      [removal](Session& session) { return delete_slices(session, *removal); });
  removed.option("name", removal->names, "Names of slices").required().type_name("NAME");
  removed.option("--remote-cluster-id", removal->provider, "ID of the provider, if the name is not unique")
      .type_name("ID");
  removed.flag("--wait", removal->wait, "Wait until it is gone (default true)");
}

}  // namespace liqoctl
