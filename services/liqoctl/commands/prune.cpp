// liqoctl prune secrets: deletes Secrets that the Go version copied to a provider and that nothing uses.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/namespaces/namespace_mapping.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "model/peer/leftover_secrets.hpp"
#include "session/session.hpp"
#include "text/table.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
using kube::Errc;

/// Kinds whose objects, or whose pods, refer to Secrets.
constexpr kube::Resource referring[] = {kube::resources::pods,
                                        kinds::ingresses,
                                        kube::resources::service_accounts,
                                        kinds::deployments,
                                        {"apps", "v1", "statefulsets", "StatefulSet"},
                                        {"apps", "v1", "daemonsets", "DaemonSet"},
                                        {"apps", "v1", "replicasets", "ReplicaSet"},
                                        {"batch", "v1", "jobs", "Job"},
                                        {"batch", "v1", "cronjobs", "CronJob"}};

struct PruneFlags {
  std::string ns;  ///< at home; "" = all offloaded ones
};

struct Leftover {
  std::string local, twin, name, uid, version;
};

/// The twins of this consumer at the provider, from local to remote name.
asio::awaitable<Result<std::map<std::string, std::string>>> twins_of(Cluster& consumer, std::string provider) {
  KUBE_CO_TRY(tenant, co_await consumer.existing_tenant_namespace(provider));
  KUBE_CO_TRY(maps, co_await consumer.list(kinds::namespace_maps, tenant));
  std::map<std::string, std::string> out;
  for (const Object& map : maps) {
    const liqo::api::NamespaceMap view(map);
    if (!view.is_outgoing_to(provider)) continue;
    for (const auto& [local, remote] : liqo::core::NamespaceMapping::from(view).entries()) out.emplace(local, remote);
  }
  co_return out;
}

/// The Secrets that objects of a namespace refer to. A kind that this user may not list is an error: its Secrets
/// would look unused.
asio::awaitable<Result<std::set<std::string>>> read_references(Cluster& cluster, std::string ns) {
  std::set<std::string> referred;
  for (const kube::Resource& kind : referring) {
    KUBE_CO_TRY(found, co_await cluster.list(kind, ns),
                "nothing is deleted, because which Secrets the " + std::string(kind.plural) + " of namespace " + ns +
                    " use is not known");
    for (const Object& object : found) model::add_references(object, referred);
  }
  co_return referred;
}

/// The Secrets at home that are copied even if nothing refers to them.
asio::awaitable<Result<std::set<std::string>>> read_allowed(Cluster& consumer, std::string ns) {
  KUBE_CO_TRY(found, co_await consumer.list(kube::resources::secrets, ns));
  std::set<std::string> allowed;
  for (const Object& secret : found)
    if (secret.has_annotation(liqo::api::annotations::allow_reflection)) allowed.emplace(secret.name());
  co_return allowed;
}

/// Whether the pods of a namespace stay at home, so that its Secrets are there for workloads of the provider.
asio::awaitable<Result<bool>> keeps_pods(Cluster& consumer, std::string ns) {
  KUBE_CO_TRY(found, co_await consumer.find(kinds::namespace_offloadings,
                                            {std::move(ns), std::string(liqo::api::namespace_offloading_name)}));
  co_return found.has_value() &&
      liqo::api::NamespaceOffloading(*found).pod_strategy() == liqo::api::PodOffloadingStrategy::local;
}

asio::awaitable<Result<std::vector<Leftover>>> find_leftovers(const Session::Pair& pair, const PruneFlags& flags) {
  KUBE_CO_TRY(twins, co_await twins_of(*pair.consumer, pair.provider_id));
  if (!flags.ns.empty() && !twins.contains(flags.ns))
    co_return kube::fail(Errc::missing, "namespace " + flags.ns + " has no twin in cluster " + pair.provider_id);
  std::vector<Leftover> out;
  for (const auto& [local, twin] : twins) {
    if (!flags.ns.empty() && flags.ns != local) continue;
    KUBE_CO_TRY(stays, co_await keeps_pods(*pair.consumer, local));
    if (stays) continue;
    KUBE_CO_TRY(used, co_await read_allowed(*pair.consumer, local));
    for (const auto& [cluster, ns] : {std::pair{pair.consumer, local}, std::pair{pair.provider, twin}}) {
      KUBE_CO_TRY(referred, co_await read_references(*cluster, ns));
      used.merge(referred);
    }
    KUBE_CO_TRY(secrets,
                co_await pair.provider->list(kube::resources::secrets, twin,
                                             kube::label_is(liqo::api::labels::reflection_origin, pair.consumer_id)));
    for (const Object& secret :
         model::leftover_secrets(secrets, used, {.local = pair.consumer_id, .remote = pair.provider_id}))
      out.push_back(
          {local, twin, std::string(secret.name()), std::string(secret.uid()), std::string(secret.resource_version())});
  }
  co_return out;
}

asio::awaitable<Result<void>> prune_secrets(Session& session, const PruneFlags& flags) {
  KUBE_CO_TRY(pair, co_await session.both());
  KUBE_CO_TRY(leftovers, co_await find_leftovers(pair, flags));
  Cluster& provider = *pair.provider;
  if (leftovers.empty()) {
    session.output().info(provider.scope(), "there is no Secret that the Go version has copied and nothing refers to");
    co_return Result<void>();
  }
  std::vector<text::Row> rows;
  rows.reserve(leftovers.size());
  for (const Leftover& one : leftovers) rows.push_back({one.local, one.twin, kube::printable(one.name)});
  session.output().print(text::table({"NAMESPACE", "TWIN", "SECRET"}, rows));
  if (session.flags().dry_run) co_return Result<void>();
  const std::string count = std::to_string(leftovers.size());
  KUBE_CO_TRYV(co_await session.confirm("Of the " + count + " Secrets above the copies in cluster " + pair.provider_id +
                                        " will be deleted; those at home stay."));
  std::size_t deleted = 0;
  for (const Leftover& one : leftovers) {
    // A Secret that has changed since may be in use by now.
    auto removed = co_await provider.remove(kube::resources::secrets, {one.twin, one.name},
                                            {.uid = one.uid, .resource_version = one.version});
    if (!removed && removed.error().is_conflict()) {
      session.output().warn(provider.scope(), "Secret " + one.twin + "/" + kube::printable(one.name) +
                                                  " has changed since it was looked at, and stays");
      continue;
    }
    if (!removed) co_return std::unexpected(std::move(removed.error()));
    if (*removed) ++deleted;
  }
  session.output().success(provider.scope(), std::to_string(deleted) + " copies of Secrets deleted");
  co_return Result<void>();
}

}  // namespace

void add_prune(CommandLine& line) {
  auto flags = std::make_shared<PruneFlags>();
  const cli::Command app = line.command(
      line.verb("prune"), {"secrets", "Delete copies of Secrets that the Go version made and nothing refers to"},
      {.namespaces = Namespaces::liqo,
       .clusters = Clusters::two,
       .writes = true,
       .examples =
           "  liqoctl prune secrets --kubeconfig=consumer.yaml --remote-kubeconfig=provider.yaml --dry-run\n"
           "  liqoctl prune secrets --remote-kubeconfig=provider.yaml --offloaded-namespace=demo\n"
           "The Go version copies all Secrets of an offloaded namespace. liqod goes on with those that\n"
           "something refers to, and leaves the others where they are. In use is what pods, templates of pods,\n"
           "ServiceAccounts and Ingresses of either side name, and all where pods stay at home."},
      [flags](Session& session) { return prune_secrets(session, *flags); });
  app.option("--offloaded-namespace", flags->ns, "Only of this namespace at home (default all that are offloaded)")
      .type_name("NAME");
}

}  // namespace liqoctl
