// liqoctl generate|create|delete identity and get kubeconfig: the second half of a manual handshake
// (commands/tenant.cpp).
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/forge.hpp"
#include "liqo/api/kinds.hpp"
#include "model/peer/handed_over.hpp"
#include "peering/addresses.hpp"
#include "peering/handed_file.hpp"
#include "peering/handshake.hpp"
#include "peering/removal.hpp"
#include "session/find_one.hpp"
#include "session/print_object.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;
using kube::Errc;

struct GenerateFlags {
  std::string peer, remote_namespace;
};

struct CreateFlags {
  HandedFile file;
  bool replace = false;
  AddressFlags addresses;
};

asio::awaitable<Result<void>> generate_identity(Session& session, const GenerateFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(id, co_await cluster.id());
  KUBE_CO_TRY(tenants, co_await cluster.list(kinds::tenants, ""));
  for (const Object& tenant : tenants) {
    if (kube::string_at(tenant.spec(), {"clusterID"}) != flags.peer) continue;
    const auto& params = kube::object_at(tenant.status(), {"authParams"});
    if (params.empty()) {
      const std::string why =
          co_await last_warning(cluster, {.resource = kinds::tenants, .key = tenant.key()}, std::string(tenant.uid()));
      co_return kube::fail(Errc::missing, "Tenant " + std::string(tenant.name()) + " has no credentials yet" +
                                              (why.empty() ? "" : " (" + why + ")"));
    }
    const std::string home = flags.remote_namespace.empty() ? core::tenant_namespace_name(id) : flags.remote_namespace;
    const core::IdentityOrder order{
        .tenant_namespace = home,
        .provider = id,
        .auth_params = params,
        .remote_namespace = std::string(kube::string_at(tenant.status(), {"tenantNamespace"})),
        .slice = {}};
    print_object(session, core::forge_identity(order));
    co_return Result<void>();
  }
  co_return kube::fail(Errc::missing, "there is no Tenant of " + flags.peer +
                                          " here: the consumer's is applied first " +
                                          "(liqoctl generate tenant there)");
}

asio::awaitable<Result<void>> create_identity(Session& session, const CreateFlags& flags) {
  KUBE_CO_TRY(identity, read_object(session, flags.file, kinds::identities));
  KUBE_CO_TRY(opened, co_await session.local());
  KUBE_CO_TRY(provider, read_peer(flags.file, identity));
  KUBE_CO_TRY(ranges,
              co_await choose_pod_ranges(session, {.consumer = opened, .provider_id = provider}, flags.addresses));
  KUBE_CO_TRY(ns, co_await ensure_tenant_namespace(session, *opened, provider));
  KUBE_CO_TRY(taken, model::identity_to_adopt(identity, ns), flags.file.path);
  report_left_out(session, flags.file, taken.left_out);
  KUBE_CO_TRYV(co_await adopt_identity(session, *opened, std::move(taken.object), flags.replace));
  co_return co_await declare_pod_ranges(session, *opened, provider, std::move(ranges));
}

asio::awaitable<Result<void>> get_kubeconfig(Session& session, const NamedObject& named) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(key, co_await find_one(cluster, kinds::identities, named.name, named.peer));
  KUBE_CO_TRY(identity, co_await cluster.api().get(kinds::identities, key));
  const std::string name(kube::string_at(identity.status(), {"kubeconfigSecretRef", "name"}));
  if (name.empty()) co_return kube::fail(Errc::missing, "Identity " + named.name + " has no kubeconfig Secret yet");
  KUBE_CO_TRY(secret, co_await cluster.api().get(kube::resources::secrets, {key.ns, name}));
  session.output().print(core::secret_bytes(secret, "kubeconfig"));
  co_return Result<void>();
}

void add_named_identity(cli::Command app, NamedObject& named) {
  app.option("name", named.name, "Name of the Identity").required().type_name("NAME");
  app.option("--remote-cluster-id", named.peer, "ID of the provider").type_name("ID");
}

}  // namespace

void add_identity(CommandLine& line) {
  auto generate = std::make_shared<GenerateFlags>();
  const cli::Command printed =
      line.command(line.verb("generate"), {"identity", "Provider: print the Identity that the consumer is to be given"},
                   {.prints = Prints::objects, .aliases = {"identities"}},
                   [generate](Session& session) { return generate_identity(session, *generate); });
  add_remote_cluster_id(printed, generate->peer, "ID of the consumer");
  printed.option("--remote-tenant-namespace", generate->remote_namespace, "Our tenant namespace at the consumer")
      .type_name("NAME");

  auto create = std::make_shared<CreateFlags>();
  const cli::Command made =
      line.command(line.verb("create"), {"identity", "Consumer: take the credentials that are in a file"},
                   {.writes = true, .creates = true, .timeout = std::chrono::minutes(2), .aliases = {"identities"}},
                   [create](Session& session) { return create_identity(session, *create); });
  add_handed_file(made, create->file, "What generate identity printed; - is standard input");
  add_replace(made, create->replace);
  add_address_flags(made, create->addresses);

  auto removed = std::make_shared<NamedObject>();
  add_named_identity(line.command(line.verb("delete"), {"identity", "Consumer: forget credentials"},
                                  {.writes = true, .argument = Candidates::identities, .aliases = {"identities"}},
                                  [removed](Session& session) {
                                    return delete_object(session, kinds::identities, *removed,
                                                         ", and what works with it stops.");
                                  }),
                     *removed);
  auto shown = std::make_shared<NamedObject>();
  add_named_identity(line.command(line.verb("get"), {"kubeconfig", "Consumer: print the kubeconfig of an Identity"},
                                  {.argument = Candidates::identities, .aliases = {"kc"}},
                                  [shown](Session& session) { return get_kubeconfig(session, *shown); }),
                     *shown);
}

}  // namespace liqoctl
