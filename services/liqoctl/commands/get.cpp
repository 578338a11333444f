// liqoctl get and describe: objects of peerings as tables, documents, or one in full.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "model/get/listing.hpp"
#include "model/objects.hpp"
#include "model/selectors.hpp"
#include "model/tenant/tenant_policy.hpp"
#include "session/find_one.hpp"
#include "session/print_object.hpp"
#include "text/yaml.hpp"

namespace liqoctl {
namespace {

using kube::Errc;
using model::ListedKind;

struct GetFlags {
  std::vector<std::string> names;
  std::string peer, selector;
  bool all_namespaces = false;
};

/// The objects of a peer, or of all peers if none is named.
asio::awaitable<Result<std::vector<Object>>> list_of(Cluster& cluster, const ListedKind& kind, const GetFlags& flags) {
  const std::string ns = kind.resource.namespaced && !flags.all_namespaces ? cluster.flags().ns : "";
  if (flags.peer.empty()) co_return co_await cluster.list(kind.resource, ns, flags.selector);
  if (kind.resource == liqo::api::kinds::quotas) {
    // They have no label of their consumer, but they are in its tenant namespace.
    KUBE_CO_TRY(tenant_namespace, co_await find_tenant_namespace(cluster, flags.peer));
    if (!ns.empty() && ns != tenant_namespace) co_return std::vector<Object>();
    co_return co_await cluster.list(kind.resource, tenant_namespace, flags.selector);
  }
  KUBE_CO_TRYV(co_await check_peer(cluster, flags.peer));
  co_return co_await cluster.list(kind.resource, ns,
                                  flags.selector + (flags.selector.empty() ? "" : ",") + model::about(flags.peer));
}

asio::awaitable<Result<std::vector<Object>>> choose(Cluster& cluster, const ListedKind& kind, const GetFlags& flags) {
  auto found = co_await list_of(cluster, kind, flags);
  if (!found || flags.names.empty()) co_return found;
  std::vector<Object> chosen;
  for (const std::string& name : flags.names) {
    const std::size_t before = chosen.size();
    for (const Object& object : *found)
      if (object.name() == name) chosen.push_back(object);
    if (chosen.size() == before)
      co_return kube::fail(Errc::missing, "there is no " + std::string(kind.resource.kind) + " " + name +
                                              " in cluster " + cluster.api().cluster() + " (liqoctl get " + kind.name +
                                              " lists what there is)");
  }
  co_return chosen;
}

/// Adds their policies to Tenants that are shown. A user who may not see the policies gets one line about that.
asio::awaitable<void> read_policies(Session& session, Cluster& cluster, const ListedKind& kind,
                                    std::vector<Object>& objects) {
  if (kind.resource != liqo::api::kinds::tenants || objects.empty()) co_return;
  const auto namespaces =
      co_await cluster.list(kube::resources::namespaces, "", liqo::core::marked_tenant_namespaces().label_selector);
  if (namespaces) {
    model::add_policies(objects, *namespaces);
  } else {
    model::add_policies(objects, {});
    session.output().warn(cluster.scope(), "the policies are not shown: " + namespaces.error().text());
  }
}

/// Adds their consumers to Quotas that are shown. A user who may not see the consumers gets one line about that.
asio::awaitable<void> read_consumers(Session& session, Cluster& cluster, const ListedKind& kind,
                                     std::vector<Object>& objects) {
  if (kind.resource != liqo::api::kinds::quotas) co_return;
  const auto tenants = co_await cluster.list(liqo::api::kinds::tenants, "");
  if (tenants) {
    model::add_consumers(objects, *tenants);
  } else {
    session.output().warn(cluster.scope(), "the consumers are not shown: " + tenants.error().text());
  }
}

asio::awaitable<Result<void>> get(Session& session, const ListedKind& kind, const GetFlags& flags) {
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(objects, co_await choose(*cluster, kind, flags));
  switch (session.flags().output) {
    case Format::json:
    case Format::yaml:
      if (flags.names.size() == 1 || session.flags().output == Format::yaml) {
        print_objects(session, objects);
      } else {
        kube::json::array items;
        for (const Object& object : objects) items.push_back(object.tree());
        print_object(session, Object(model::forge_list(std::move(items))));
      }
      break;
    case Format::name:
      for (const Object& object : objects) session.output().print(kind.name + "/" + std::string(object.name()) + "\n");
      break;
    default:
      if (objects.empty()) {
        session.output().info("", "there are no " + kind.plural);
      } else {
        co_await read_policies(session, *cluster, kind, objects);
        co_await read_consumers(session, *cluster, kind, objects);
        session.output().print(
            model::listing(kind, objects, session.flags().output == Format::wide, session.clock().wall()));
      }
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> describe(Session& session, const ListedKind& kind, const GetFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(objects, co_await choose(cluster, kind, flags));
  const bool is_tenant = kind.resource == liqo::api::kinds::tenants;
  std::vector<Object> with_policies = objects;
  co_await read_policies(session, cluster, kind, with_policies);
  std::vector<std::string> described;
  kube::json::array documents;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Object& object = objects[i];
    const std::string ns = kind.resource.namespaced ? std::string(object.ns()) : "default";
    auto events = co_await cluster.list(kube::resources::events, ns, "",
                                        "involvedObject.name=" + std::string(object.name()) +
                                            ",involvedObject.kind=" + std::string(kind.resource.kind));
    if (!events) {
      session.output().warn("", events.error().text());
      events = std::vector<Object>();
    }
    if (session.flags().output == Format::none)
      described.push_back(
          model::description(with_policies[i], *events, session.clock().wall(), session.output().palette()));
    else
      documents.push_back(model::forge_description(
          object, *events, is_tenant ? with_policies[i].annotation(liqo::api::annotations::pod_policy) : ""));
  }
  if (session.flags().output == Format::none) {
    session.output().print(kube::join(described, "\n"));
    co_return Result<void>();
  }
  const kube::json::value shown = flags.names.size() == 1 && documents.size() == 1
                                      ? documents.front()
                                      : kube::json::value(model::forge_list(std::move(documents)));
  session.output().print(session.flags().output == Format::json ? text::pretty_json(shown) : text::yaml(shown));
  co_return Result<void>();
}

Candidates candidates_of(const ListedKind& kind) {
  if (kind.name == "resourceslice") return Candidates::slices;
  if (kind.name == "virtualnode") return Candidates::virtual_nodes;
  if (kind.name == "tenant") return Candidates::tenants;
  if (kind.name == "identity") return Candidates::identities;
  if (kind.name == "peer") return Candidates::peers;
  return Candidates::none;
}

/// The flags that choose objects of the kind.
void add_choice(cli::Command app, const ListedKind& kind, const std::shared_ptr<GetFlags>& flags) {
  app.option("name", flags->names, "Names; all if none is given").type_name("NAME");
  // A namespace, and what is in it, may be offloaded to several peers.
  const bool is_of_many = kind.resource == liqo::api::kinds::namespace_offloadings ||
                          kind.resource == kube::resources::services || kind.resource == liqo::api::kinds::ingresses;
  if (!is_of_many) app.option("--remote-cluster-id", flags->peer, "Only those of this peer").type_name("ID");
  app.option("-l,--selector", flags->selector, "Only those with these labels").type_name("SELECTOR");
  app.flag("-A,--all-namespaces", flags->all_namespaces, "All namespaces, as without --namespace");
}

}  // namespace

void add_get(CommandLine& line) {
  for (const ListedKind& kind : model::listed_kinds()) {
    auto flags = std::make_shared<GetFlags>();
    const cli::Command app =
        line.command(line.verb("get"), {kind.name, "List " + kind.what},
                     {.prints = Prints::tables, .argument = candidates_of(kind), .aliases = kind.aliases},
                     [flags, &kind](Session& session) { return get(session, kind, *flags); });
    add_choice(app, kind, flags);

    auto described = std::make_shared<GetFlags>();
    const cli::Command full =
        line.command(line.verb("describe"), {kind.name, "Show " + kind.what + ", in full"},
                     {.prints = Prints::objects, .argument = candidates_of(kind), .aliases = kind.aliases},
                     [described, &kind](Session& session) { return describe(session, kind, *described); });
    add_choice(full, kind, described);
  }
}

}  // namespace liqoctl
