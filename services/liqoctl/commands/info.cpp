// liqoctl info: the state of this cluster, and with `peer` of each peering, for people (sections) and programs (-o,
// --get).
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/namespaces/belonging.hpp"
#include "installation/daemon.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "model/check/check.hpp"
#include "model/info/local_info.hpp"
#include "model/info/peer_info.hpp"
#include "model/selectors.hpp"
#include "model/tenant/tenant_policy.hpp"
#include "session/find_one.hpp"
#include "session/session.hpp"
#include "text/path.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
namespace kinds = liqo::api::kinds;
namespace labels = liqo::api::labels;

struct InfoFlags {
  std::string get;
  std::vector<std::string> peers;
};

/// Prints a document, or the part of it that --get names.
Result<void> show(Session& session, const json::value& document, const std::string& path,
                  const std::function<std::string(const json::value&)>& render) {
  KUBE_TRY(part, text::pick(document, path), "--get " + path);
  switch (session.flags().output) {
    case Format::json:
      session.output().print(text::pretty_json(part));
      break;
    case Format::yaml:
      session.output().print(text::yaml(part));
      break;
    default:
      session.output().print(render(part));
  }
  return {};
}

/// The reason why something could not be read, in one word if that is enough.
std::string why_unread(const kube::Failure& failure) {
  return failure.is_forbidden() ? "forbidden" : kube::printable(failure.text().substr(0, 200));
}

asio::awaitable<Result<void>> info(Session& session, const InfoFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(id, co_await cluster.id());
  model::LocalObjects objects;
  objects.cluster_id = id;
  objects.server = cluster.config().server.host_port();
  auto version = co_await read_liqod_version(cluster);
  objects.version = version ? std::move(*version) : "unknown (" + why_unread(version.error()) + ")";
  std::vector<std::string> unread;
  if (!version) unread.emplace_back("the version of liqod");
  const auto deployment = co_await cluster.find(kinds::deployments, {cluster.liqo_namespace(), "liqod"});
  if (deployment && *deployment) objects.daemon_alert = model::daemon_alert(&**deployment);
  struct Part {
    const kube::Resource& resource;
    std::string ns, selector;
    std::vector<Object>& into;
    const char* section;
    const char* name;
  };
  const std::string of_ours = kube::label_is(labels::type, labels::type_virtual_node);
  std::vector<Object> tenant_namespaces;
  for (const Part& part :
       {Part{kube::resources::pods, cluster.liqo_namespace(), "", objects.pods, "health", "pods of Liqo"},
        Part{kinds::foreign_clusters, "", "", objects.foreign_clusters, "peerings", "ForeignClusters"},
        Part{kinds::virtual_nodes, "", "", objects.lending.virtual_nodes, "peerings", "VirtualNodes"},
        Part{kube::resources::nodes, "", of_ours, objects.lending.nodes, "peerings", "Nodes"},
        Part{kinds::resource_slices, "", "", objects.lending.slices, "peerings", "ResourceSlices"},
        Part{kinds::tenants, "", "", objects.lending.tenants, "peerings", "Tenants"},
        Part{kinds::quotas, "", "", objects.lending.quotas, "peerings", "Quotas"},
        Part{kube::resources::namespaces, "", liqo::core::marked_tenant_namespaces().label_selector, tenant_namespaces,
             "peerings", "tenant namespaces"}}) {
    auto found = co_await cluster.list(part.resource, part.ns, part.selector);
    if (found) {
      part.into = std::move(*found);
    } else {
      objects.unknown.try_emplace(part.section, why_unread(found.error()));
      unread.emplace_back(part.name);
    }
  }
  model::add_policies(objects.lending.tenants, tenant_namespaces);
  const std::string path = kube::lower_case(flags.get) == "clusterid" ? "local.clusterid" : flags.get;
  const text::Palette& palette = session.output().palette();
  auto shown = show(session, model::local_info(objects), path,
                    [&](const json::value& part) { return model::render_local(part, path, palette); });
  // Only the whole document names the parts that could not be read; --get asks for one part.
  if (!shown || unread.empty() || !path.empty()) co_return shown;
  co_return kube::fail(kube::Errc::missing, "not everything could be read: " + kube::join(unread, ", "));
}

asio::awaitable<Result<model::PeerObjects>> read_peer(Cluster& cluster, Object foreign_cluster, std::string peer) {
  model::PeerObjects objects{.foreign_cluster = std::move(foreign_cluster)};
  struct Wanted {
    const kube::Resource& resource;
    std::vector<Object>& into;
  };
  for (const Wanted& wanted :
       {Wanted{kinds::resource_slices, objects.slices}, Wanted{kinds::virtual_nodes, objects.virtual_nodes},
        Wanted{kube::resources::nodes, objects.nodes}, Wanted{kinds::tenants, objects.tenants}}) {
    KUBE_CO_TRY(found, co_await cluster.list(wanted.resource, "", model::about(peer)));
    wanted.into = std::move(found);
  }
  // Quotas are in the tenant namespace. The Go version puts no label on them.
  KUBE_CO_TRY(ns, co_await cluster.tenant_namespace(peer));
  if (ns.exists) {
    KUBE_CO_TRY(quotas, co_await cluster.list(kinds::quotas, ns.name));
    objects.quotas = std::move(quotas);
    KUBE_CO_TRY(tenant_namespace, co_await cluster.find(kube::resources::namespaces, {"", ns.name}));
    if (tenant_namespace) model::add_policies(objects.tenants, {*tenant_namespace});
  }
  co_return objects;
}

asio::awaitable<Result<void>> info_peer(Session& session, const InfoFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(known, co_await list_peers(cluster));
  const auto id_of = [](const Object& peer) { return std::string(kube::string_at(peer.spec(), {"clusterID"})); };
  std::map<std::string, Object> chosen;
  if (flags.peers.empty())
    for (const Object& peer : known) chosen.emplace(id_of(peer), peer);
  for (const std::string& wanted : flags.peers) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const Object& peer) { return id_of(peer) == wanted; });
    if (found == known.end()) co_return kube::fail(kube::Errc::missing, describe_unknown_peer(wanted, known));
    chosen.emplace(wanted, *found);
  }
  if (chosen.empty()) {
    session.output().info("", "there are no peers yet (liqoctl peer)");
    if (session.flags().output == Format::none) co_return Result<void>();
  }
  json::object document;
  for (auto& [id, peer] : chosen) {
    KUBE_CO_TRY(objects, co_await read_peer(cluster, peer, id));
    document[id] = model::peer_info(objects);
  }
  const text::Palette& palette = session.output().palette();
  if (!flags.get.empty()) {
    // With one cluster, the path may leave out the cluster's ID at its beginning.
    std::string path = flags.get.starts_with('.') ? flags.get.substr(1) : flags.get;
    json::value root = document;
    if (chosen.size() == 1) {
      const std::string prefix = chosen.begin()->first + ".";
      if (path.starts_with(prefix)) path = path.substr(prefix.size());
      root = document.begin()->value();
    }
    co_return show(session, root, path,
                   [&](const json::value& part) { return model::render_peer(part, path, palette); });
  }
  co_return show(session, document, "", [&](const json::value& all) {
    const auto render = [&palette](const auto& peer) { return model::render_peer(peer.value(), "", palette); };
    return kube::join(all.get_object() | std::views::transform(render), "\n\n");
  });
}

}  // namespace

void add_info(CommandLine& line) {
  auto flags = std::make_shared<InfoFlags>();
  const cli::Command info_app =
      line.command(line.root(), {"info", "Show the state of this cluster and its peerings"},
                   {.namespaces = Namespaces::liqo,
                    .prints = Prints::objects,
                    .examples = "  liqoctl info\n"
                                "  liqoctl info --get clusterid\n"
                                "  liqoctl info peer cool-firefly --get authentication.resourceslices\n"
                                "  liqoctl info peer -o json"},
                   [flags](Session& session) { return info(session, *flags); });
  info_app.require_commands(0, 1);
  info_app.option("-g,--get", flags->get, "Print only the part at this path, e.g. local.clusterid").type_name("PATH");
  auto peer_flags = std::make_shared<InfoFlags>();
  const cli::Command peer_app =
      line.command(info_app, {"peer", "Show peerings: all, or those with the named clusters"},
                   {.namespaces = Namespaces::liqo,
                    .prints = Prints::objects,
                    .argument = Candidates::peers,
                    .examples = "  liqoctl info peer\n"
                                "  liqoctl info peer cool-firefly\n"
                                "  liqoctl info peer cool-firefly --get authentication.resourceslices\n"
                                "  liqoctl info peer cool-firefly --get info.role"},
                   [peer_flags](Session& session) { return info_peer(session, *peer_flags); });
  peer_app.option("cluster", peer_flags->peers, "IDs of peers").type_name("ID");
  peer_app.option("-g,--get", peer_flags->get, "Print only the part at this path, e.g. authentication.resourceslices")
      .type_name("PATH");
}

}  // namespace liqoctl
