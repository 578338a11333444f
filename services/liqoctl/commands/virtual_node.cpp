// liqoctl create|generate|delete virtualnode: further virtual nodes of a slice, or ones made of a kubeconfig Secret
// alone.
#include "command_line/checked_flags.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/resource_slice.hpp"
#include "model/objects.hpp"
#include "peering/removal.hpp"
#include "peering/slices.hpp"
#include "session/find_one.hpp"
#include "session/print_object.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
using kube::Errc;

struct NodeFlags {
  model::VirtualNodeRequest request;
  model::ResourceFlags resources;
  std::string slice, secret;
  std::vector<std::string> labels, node_selector;
  bool create_node = true, disable_network_check = false;
  std::optional<cli::Option> create_node_flag, network_check_flag;
  bool wait = true;
};

/// Follows slice -> Identity -> Secret, and reports which link is missing.
asio::awaitable<Result<void>> take_slice(Cluster& cluster, model::VirtualNodeRequest& request, std::string name) {
  KUBE_CO_TRY(slice, co_await cluster.find(kinds::resource_slices, {request.ns, name}));
  if (!slice)
    co_return kube::fail(Errc::missing, "there is no ResourceSlice " + name + " in " + request.ns +
                                            " (liqoctl get resourceslice lists what there is)");
  if (!liqo::api::ResourceSlice(*slice).is_accepted(liqo::api::slice_conditions::resources))
    co_return kube::fail(Errc::missing, "the provider has not accepted ResourceSlice " + name +
                                            ": liqoctl describe resourceslice " + name + " shows why");
  KUBE_CO_TRY(identity, co_await cluster.find(kinds::identities, {request.ns, "resourceslice-" + name}));
  if (!identity)
    co_return kube::fail(
        Errc::missing, "ResourceSlice " + name + " has no Identity resourceslice-" + name + " yet: is liqod running?");
  request.kubeconfig_secret = kube::string_at(identity->status(), {"kubeconfigSecretRef", "name"});
  if (request.kubeconfig_secret.empty())
    co_return kube::fail(Errc::missing,
                         "Identity resourceslice-" + name + " has no kubeconfig Secret yet: is liqod running?");
  model::take_from_slice(request, *slice);
  co_return Result<void>();
}

Result<void> take_flags(model::VirtualNodeRequest& request, const NodeFlags& flags) {
  KUBE_TRY(resources, model::resource_list(flags.resources));
  for (const auto& [key, amount] : {std::pair{"cpu", "2"}, std::pair{"memory", "4Gi"}, std::pair{"pods", "110"}})
    if (!resources.contains(key)) resources[key] = amount;
  request.resources = std::move(resources);
  request.kubeconfig_secret = flags.secret;
  KUBE_TRY(labels, model::pairs(flags.labels, "--labels"));
  request.labels = std::move(labels);
  KUBE_TRY(selector, model::pairs(flags.node_selector, "--node-selector"));
  request.node_selector = std::move(selector);
  return {};
}

asio::awaitable<Result<Object>> forge(Cluster& cluster, const NodeFlags& flags) {
  model::VirtualNodeRequest request = flags.request;
  // Flags that are not given are left to the VkOptionsTemplate.
  if (flags.create_node_flag->given()) request.create_node = flags.create_node;
  if (flags.network_check_flag->given()) request.disable_network_check = flags.disable_network_check;
  KUBE_CO_TRY(ns, co_await find_tenant_namespace(cluster, request.provider));
  request.ns = std::move(ns);
  Result<void> taken;
  if (flags.slice.empty()) {
    taken = take_flags(request, flags);
  } else {
    taken = co_await take_slice(cluster, request, flags.slice);
  }
  if (!taken) co_return std::unexpected(std::move(taken.error()));
  co_return model::forge_virtual_node(request);
}

asio::awaitable<Result<void>> create_node(Session& session, const NodeFlags& flags, bool only_print) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(wanted, co_await forge(cluster, flags));
  if (only_print || (session.flags().output != Format::none && !session.flags().dry_run)) {
    print_object(session, wanted);
    co_return Result<void>();
  }
  auto namesakes = co_await cluster.list(kinds::virtual_nodes, "", {}, kube::name_is(wanted.name()));
  // If the user may not list VirtualNodes in all namespaces, admission reports namesakes.
  if (!namesakes && !namesakes.error().is_forbidden()) co_return std::unexpected(std::move(namesakes.error()));
  if (std::string refusal = namesakes ? model::refuse_namesakes(wanted, *namesakes) : ""; !refusal.empty())
    co_return kube::fail(Errc::unsupported, std::move(refusal));
  KUBE_CO_TRY(done, co_await ensure(cluster, kinds::virtual_nodes, wanted, {"resourceQuota"}));
  session.output().success(cluster.scope(), "VirtualNode " + wanted.key().text() + " " + std::string(in_words(done)));
  if (done == Ensured::dry_run || !flags.wait) co_return Result<void>();
  co_return co_await wait_for_node(session, cluster, wanted.key());
}

asio::awaitable<Result<void>> delete_nodes(Session& session, const DeleteFlags& flags) {
  return delete_objects(
      session, kinds::virtual_nodes, flags,
      {.question = "the pods on it are moved", .waiting = "it is still there, its pods may be moving"});
}

void add_node_flags(CommandLine& line, cli::Command app, const std::shared_ptr<NodeFlags>& flags) {
  auto& request = flags->request;
  check_names(
      app.option("name", request.name, "Name of the virtual node and of its Node").required().type_name("NAME"));
  add_remote_cluster_id(app, request.provider, "ID of the provider");
  const std::string source = "Source (one of them)";
  app.option("--resource-slice-name", flags->slice, "An accepted ResourceSlice; its nodes share its quota")
      .group(source)
      .type_name("NAME");
  app.option("--kubeconfig-secret-name", flags->secret, "A Secret with the key kubeconfig, beside the node")
      .group(source)
      .type_name("NAME");
  line.check(app, [flags]() -> Result<void> {
    if (flags->slice.empty() != flags->secret.empty()) return {};
    return kube::fail(Errc::invalid_input, "give either --resource-slice-name or --kubeconfig-secret-name");
  });
  flags->create_node_flag = app.flag("--create-node", flags->create_node,
                                     "Make a Node; false serves reflection only (default: the template's, else true)");
  flags->network_check_flag =
      app.flag("--disable-network-check", flags->disable_network_check,
               "Be Ready whatever the network module says (default: the template's, else false)");
  app.option("--vk-options-template", request.options_template, "Options, as namespace/name")
      .type_name("NAME")
      .check([](std::string_view key) { return key.empty() ? kube::Result<void>() : model::check_key(key); });
  app.option("--runtime-class-name", request.runtime_class, "RuntimeClass of the pods at the provider")
      .type_name("NAME");
  const std::string group = "With a Secret";
  add_resource_flags(app, flags->resources, group, {"2", "4Gi", "110"});
  app.list("--labels", flags->labels, "Labels of the Node").group(group).type_name("K=V,...");
  app.list("--node-selector", flags->node_selector, "Nodes at the provider for its pods")
      .group(group)
      .type_name("K=V,...");
  for (const auto& [name, into] : {std::pair{"--storage-classes", &request.storage_classes},
                                   std::pair{"--ingress-classes", &request.ingress_classes},
                                   std::pair{"--load-balancer-classes", &request.load_balancer_classes}})
    app.list(name, *into, "Classes of the provider; the first is the default")
        .delimiter(',')
        .group(group)
        .type_name("NAME,...");
}

}  // namespace

void add_virtual_node(CommandLine& line) {
  const std::vector<std::string> aliases{"vn", "virtualnodes"};
  auto create = std::make_shared<NodeFlags>();
  const cli::Command app =
      line.command(line.verb("create"), {"virtualnode", "Make a virtual node"},
                   {.writes = true,
                    .creates = true,
                    .prints = Prints::objects,
                    .timeout = std::chrono::minutes(2),
                    .aliases = aliases,
                    .examples = "  liqoctl create virtualnode second --remote-cluster-id cool-firefly \\\n"
                                "    --resource-slice-name gpu-pool"},
                   [create](Session& session) { return create_node(session, *create, false); });
  add_node_flags(line, app, create);
  app.flag("--wait", create->wait, "Wait until the Node is Ready (default true)");

  auto generate = std::make_shared<NodeFlags>();
  const cli::Command printed =
      line.command(line.verb("generate"), {"virtualnode", "Print a VirtualNode to be applied later"},
                   {.prints = Prints::objects, .aliases = aliases},
                   [generate](Session& session) { return create_node(session, *generate, true); });
  add_node_flags(line, printed, generate);

  auto removal = std::make_shared<DeleteFlags>();
  const cli::Command removed = line.command(
      line.verb("delete"), {"virtualnode", "Delete a virtual node after its pods were moved"},
      {.writes = true, .timeout = std::chrono::minutes(2), .argument = Candidates::virtual_nodes, .aliases = aliases},
      [removal](Session& session) { return delete_nodes(session, *removal); });
  removed.option("name", removal->names, "Names of virtual nodes").required().type_name("NAME");
  removed.option("--remote-cluster-id", removal->provider, "ID of the provider, if the name is not unique")
      .type_name("ID");
  removed.flag("--wait", removal->wait, "Wait until it is gone (default true)");
}

}  // namespace liqoctl
