// The handshake by hand, where nobody may reach both clusters: each side prints what the other one is to be given.
//   provider: create nonce -> consumer: generate tenant --nonce -> provider: create tenant -f
//   provider: generate identity -> consumer: create identity -f
#include <fstream>
#include <iostream>
#include <sstream>

#include "command_line.hpp"
#include "commands/commands.hpp"
#include "find_one.hpp"
#include "kube/base/text.hpp"
#include "kube/wire/yaml.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/peering/forge.hpp"
#include "liqo/core/peering/names.hpp"
#include "model/advice.hpp"
#include "model/handed_over.hpp"
#include "peering/addresses.hpp"
#include "peering/handshake.hpp"
#include "print_object.hpp"
#include "wait.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;
using kube::Errc;

struct Flags {
  std::string peer, nonce, remote_namespace, file, name;
  bool replace = false;
  AddressFlags addresses;
};

void tell_left_out(Session& session, const Flags& flags, const std::vector<std::string>& fields) {
  if (fields.empty()) return;
  session.output().warn("", "left out of what " + flags.file +
                                " says, because it is not for the other cluster to set: " + kube::join(fields, ", "));
}

/// The first object of that kind in a file ("-" = standard input).
Result<Object> read_object(const std::string& path, const kube::Resource& resource) {
  std::stringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream file(path);
    text << file.rdbuf();
    if (!file) return kube::fail(Errc::missing, model::unreadable(path));
  }
  auto documents = kube::wire::read_yaml(text.str());
  if (!documents) return kube::fail(std::move(documents.error()), path);
  for (kube::json::value& document : *documents)
    if (kube::string_at(document, {"kind"}) == resource.kind) return Object::from(std::move(document));
  return kube::fail(Errc::invalid_input, path + " has no " + std::string(resource.kind));
}

asio::awaitable<Result<void>> create_nonce(Session& session, const Flags& flags) {
  auto cluster = co_await session.local();
  if (!cluster) co_return std::unexpected(std::move(cluster.error()));
  if (session.flags().output != Format::none && !session.flags().dry_run) {
    auto ns = co_await (*cluster)->tenant_namespace(flags.peer);
    if (!ns) co_return std::unexpected(std::move(ns.error()));
    print_objects(session,
                  {core::forge_tenant_namespace(flags.peer, ns->name), core::forge_nonce_secret(ns->name, flags.peer)});
    co_return Result<void>();
  }
  auto ns = co_await ensure_tenant_namespace(session, **cluster, flags.peer);
  if (!ns) co_return std::unexpected(std::move(ns.error()));
  auto nonce = co_await obtain_nonce(session, **cluster, *ns, flags.peer);
  if (!nonce) co_return std::unexpected(std::move(nonce.error()));
  if (!session.flags().dry_run) session.output().print(*nonce + "\n");
  co_return Result<void>();
}

asio::awaitable<Result<void>> get_nonce(Session& session, const Flags& flags) {
  auto cluster = co_await session.local();
  if (!cluster) co_return std::unexpected(std::move(cluster.error()));
  auto ns = co_await (*cluster)->existing_tenant_namespace(flags.peer);
  if (!ns) co_return std::unexpected(std::move(ns.error()));
  auto secret = co_await (*cluster)->find(kube::resources::secrets, {*ns, std::string(core::nonce_secret)});
  if (!secret) co_return std::unexpected(std::move(secret.error()));
  const std::string nonce = *secret ? core::secret_bytes(**secret, "nonce") : "";
  if (nonce.empty())
    co_return kube::fail(Errc::missing, "there is no nonce for " + flags.peer +
                                            " (liqoctl create nonce --remote-cluster-id " + flags.peer + ")");
  session.output().print(nonce);
  co_return Result<void>();
}

asio::awaitable<Result<void>> delete_nonce(Session& session, const Flags& flags) {
  auto cluster = co_await session.local();
  if (!cluster) co_return std::unexpected(std::move(cluster.error()));
  auto ns = co_await (*cluster)->existing_tenant_namespace(flags.peer);
  if (!ns) co_return std::unexpected(std::move(ns.error()));
  for (const std::string_view name : {core::nonce_secret, core::signed_nonce_secret}) {
    auto removed = co_await (*cluster)->remove(kube::resources::secrets, {*ns, std::string(name)});
    if (!removed) co_return std::unexpected(std::move(removed.error()));
    if (*removed && !session.flags().dry_run)
      session.output().success((*cluster)->scope(), "Secret " + std::string(name) + " deleted");
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> generate_tenant(Session& session, const Flags& flags) {
  auto opened = co_await session.local();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  Cluster& cluster = **opened;
  auto id = co_await cluster.id();
  if (!id) co_return std::unexpected(std::move(id.error()));
  auto key = co_await read_key(cluster);
  if (!key) co_return std::unexpected(std::move(key.error()));
  auto ns = co_await ensure_tenant_namespace(session, cluster, flags.peer);
  if (!ns) co_return std::unexpected(std::move(ns.error()));
  std::string nonce = flags.nonce;
  if (nonce.empty()) {
    // The one of the last time, so that the same Tenant can be printed again.
    auto secret = co_await cluster.find(kube::resources::secrets, {*ns, std::string(core::signed_nonce_secret)});
    if (!secret) co_return std::unexpected(std::move(secret.error()));
    if (*secret) nonce = core::secret_bytes(**secret, "nonce");
    if (nonce.empty())
      co_return kube::fail(Errc::missing,
                           "the provider's nonce is needed: give --nonce (liqoctl get nonce there prints it)");
  }
  auto signature =
      co_await obtain_signature(session, cluster, {.tenant_namespace = *ns, .provider = flags.peer, .nonce = nonce});
  if (!signature) co_return std::unexpected(std::move(signature.error()));
  const core::TenantOrder order{.tenant_namespace = flags.remote_namespace, .consumer = *id, .signature = *signature};
  auto tenant = core::forge_tenant(order, *key);
  if (!tenant) co_return std::unexpected(std::move(tenant.error()));
  print_object(session, *tenant);
  co_return Result<void>();
}

asio::awaitable<Result<void>> create_tenant(Session& session, const Flags& flags) {
  auto tenant = read_object(flags.file, kinds::tenants);
  if (!tenant) co_return std::unexpected(std::move(tenant.error()));
  auto opened = co_await session.local();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  Cluster& cluster = **opened;
  const std::string consumer(kube::string_at(tenant->spec(), {"clusterID"}));
  if (!core::is_cluster_id(consumer) || (!flags.peer.empty() && flags.peer != consumer))
    co_return kube::fail(Errc::invalid_input, "the Tenant in " + flags.file + " is of cluster '" + consumer + "'" +
                                                  (flags.peer.empty() ? "" : ", not of " + flags.peer));
  auto ns = co_await ensure_tenant_namespace(session, cluster, consumer);
  if (!ns) co_return std::unexpected(std::move(ns.error()));
  auto taken = model::tenant_to_admit(*tenant, *ns);
  if (!taken) co_return kube::fail(std::move(taken.error()), flags.file);
  tell_left_out(session, flags, taken->left_out);
  auto done = co_await admit_tenant(session, cluster, std::move(taken->object));
  if (!done) co_return std::unexpected(std::move(done.error()));
  co_return Result<void>();
}

asio::awaitable<Result<void>> delete_tenant(Session& session, const Flags& flags) {
  auto opened = co_await session.local();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  Cluster& cluster = **opened;
  auto key = co_await find_one(cluster, kinds::tenants, flags.name);
  if (!key) co_return std::unexpected(std::move(key.error()));
  if (auto yes =
          co_await session.confirm("Tenant " + key->text() + " will be deleted: its credentials, grants and pods go.");
      !yes)
    co_return yes;
  auto removed = co_await cluster.remove(kinds::tenants, *key);
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  if (!session.flags().dry_run) session.output().success(cluster.scope(), "Tenant " + key->name + " deleted");
  co_return Result<void>();
}

asio::awaitable<Result<void>> generate_identity(Session& session, const Flags& flags) {
  auto opened = co_await session.local();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  Cluster& cluster = **opened;
  auto id = co_await cluster.id();
  if (!id) co_return std::unexpected(std::move(id.error()));
  auto tenants = co_await cluster.list(kinds::tenants, "");
  if (!tenants) co_return std::unexpected(std::move(tenants.error()));
  for (const Object& tenant : *tenants) {
    if (kube::string_at(tenant.spec(), {"clusterID"}) != flags.peer) continue;
    const auto& params = kube::object_at(tenant.status(), {"authParams"});
    if (params.empty()) {
      const std::string why = co_await last_warning(cluster, kinds::tenants, tenant.key(), std::string(tenant.uid()));
      co_return kube::fail(Errc::missing, "Tenant " + std::string(tenant.name()) + " has no credentials yet" +
                                              (why.empty() ? "" : " (" + why + ")"));
    }
    const std::string home = flags.remote_namespace.empty() ? core::tenant_namespace_name(*id) : flags.remote_namespace;
    const core::IdentityOrder order{
        .tenant_namespace = home,
        .provider = *id,
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

asio::awaitable<Result<void>> create_identity(Session& session, const Flags& flags) {
  auto identity = read_object(flags.file, kinds::identities);
  if (!identity) co_return std::unexpected(std::move(identity.error()));
  auto opened = co_await session.local();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  const std::string provider(kube::string_at(identity->spec(), {"clusterID"}));
  if (!core::is_cluster_id(provider) || (!flags.peer.empty() && flags.peer != provider))
    co_return kube::fail(Errc::invalid_input, "the Identity in " + flags.file + " is of cluster '" + provider + "'" +
                                                  (flags.peer.empty() ? "" : ", not of " + flags.peer));
  auto ranges = co_await choose_pod_ranges(session, {.consumer = *opened, .provider_id = provider}, flags.addresses);
  if (!ranges) co_return std::unexpected(std::move(ranges.error()));
  auto ns = co_await ensure_tenant_namespace(session, **opened, provider);
  if (!ns) co_return std::unexpected(std::move(ns.error()));
  auto taken = model::identity_to_adopt(*identity, *ns);
  if (!taken) co_return kube::fail(std::move(taken.error()), flags.file);
  tell_left_out(session, flags, taken->left_out);
  auto adopted = co_await adopt_identity(session, **opened, std::move(taken->object), flags.replace);
  if (!adopted) co_return adopted;
  co_return co_await declare_pod_ranges(session, **opened, provider, std::move(*ranges));
}

asio::awaitable<Result<void>> delete_identity(Session& session, const Flags& flags) {
  auto opened = co_await session.local();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  Cluster& cluster = **opened;
  auto key = co_await find_one(cluster, kinds::identities, flags.name, flags.peer);
  if (!key) co_return std::unexpected(std::move(key.error()));
  if (auto yes =
          co_await session.confirm("Identity " + key->text() + " will be deleted, and what works with it stops.");
      !yes)
    co_return yes;
  auto removed = co_await cluster.remove(kinds::identities, *key);
  if (!removed) co_return std::unexpected(std::move(removed.error()));
  if (!session.flags().dry_run) session.output().success(cluster.scope(), "Identity " + key->name + " deleted");
  co_return Result<void>();
}

asio::awaitable<Result<void>> get_kubeconfig(Session& session, const Flags& flags) {
  auto opened = co_await session.local();
  if (!opened) co_return std::unexpected(std::move(opened.error()));
  Cluster& cluster = **opened;
  auto key = co_await find_one(cluster, kinds::identities, flags.name, flags.peer);
  if (!key) co_return std::unexpected(std::move(key.error()));
  auto identity = co_await cluster.api().get(kinds::identities, *key);
  if (!identity) co_return std::unexpected(std::move(identity.error()));
  const std::string name(kube::string_at(identity->status(), {"kubeconfigSecretRef", "name"}));
  if (name.empty()) co_return kube::fail(Errc::missing, "Identity " + flags.name + " has no kubeconfig Secret yet");
  auto secret = co_await cluster.api().get(kube::resources::secrets, {key->ns, name});
  if (!secret) co_return std::unexpected(std::move(secret.error()));
  session.output().print(core::secret_bytes(*secret, "kubeconfig"));
  co_return Result<void>();
}

Run with(std::shared_ptr<Flags> flags, asio::awaitable<Result<void>> (*run)(Session&, const Flags&)) {
  return [flags = std::move(flags), run](Session& session) { return run(session, *flags); };
}

void add_file(cli::Command app, Flags& flags, const std::string& what) {
  app.option("-f,--filename", flags.file, what).required().type_name("FILE");
  app.option("--remote-cluster-id", flags.peer, "Refuse the file if it is not of this cluster").type_name("ID");
}

}  // namespace

void add_manual(CommandLine& line) {
  const auto minutes = std::chrono::minutes(2);
  auto flags = std::make_shared<Flags>();
  add_remote_cluster_id(
      line.command(line.verb("create"), {"nonce", "Provider: make the nonce that a consumer is to sign, and print it"},
                   {.writes = true, .creates = true, .prints = true, .timeout = minutes}, with(flags, create_nonce)),
      flags->peer, "ID of the consumer");
  flags = std::make_shared<Flags>();
  add_remote_cluster_id(
      line.command(line.verb("generate"), {"nonce", "Provider: the same as create nonce"},
                   {.writes = true, .creates = true, .prints = true, .timeout = minutes}, with(flags, create_nonce)),
      flags->peer, "ID of the consumer");
  flags = std::make_shared<Flags>();
  add_remote_cluster_id(
      line.command(line.verb("get"), {"nonce", "Provider: print the nonce for a consumer, without a line break"}, {},
                   with(flags, get_nonce)),
      flags->peer, "ID of the consumer");
  flags = std::make_shared<Flags>();
  add_remote_cluster_id(line.command(line.verb("delete"), {"nonce", "Forget the nonce, or its signature"},
                                     {.writes = true}, with(flags, delete_nonce)),
                        flags->peer);

  flags = std::make_shared<Flags>();
  cli::Command app =
      line.command(line.verb("generate"), {"tenant", "Consumer: print the Tenant that the provider is to be given"},
                   {.prints = true,
                    .timeout = minutes,
                    .aliases = {"tenants"},
                    .examples = "  liqoctl generate tenant --remote-cluster-id milan --nonce \"$NONCE\" > tenant.yaml"},
                   with(flags, generate_tenant));
  add_remote_cluster_id(app, flags->peer, "ID of the provider");
  app.option("--nonce", flags->nonce, "The provider's nonce; that of the last time where none is given")
      .type_name("TEXT");
  app.option("--remote-tenant-namespace", flags->remote_namespace, "Our tenant namespace at the provider")
      .type_name("NAME");
  flags = std::make_shared<Flags>();
  add_file(line.command(line.verb("create"), {"tenant", "Provider: admit the consumer whose Tenant is in a file"},
                        {.writes = true, .creates = true, .timeout = minutes, .aliases = {"tenants"}},
                        with(flags, create_tenant)),
           *flags, "What generate tenant printed; - is standard input");
  flags = std::make_shared<Flags>();
  line.command(line.verb("delete"), {"tenant", "Provider: take a consumer's credentials, grants and pods away"},
               {.writes = true, .argument = Candidates::tenants, .aliases = {"tenants"}}, with(flags, delete_tenant))
      .option("name", flags->name, "Name of the Tenant: the consumer's ID")
      .required()
      .type_name("NAME");

  flags = std::make_shared<Flags>();
  app =
      line.command(line.verb("generate"), {"identity", "Provider: print the Identity that the consumer is to be given"},
                   {.prints = true, .aliases = {"identities"}}, with(flags, generate_identity));
  add_remote_cluster_id(app, flags->peer, "ID of the consumer");
  app.option("--remote-tenant-namespace", flags->remote_namespace, "Our tenant namespace at the consumer")
      .type_name("NAME");
  flags = std::make_shared<Flags>();
  app = line.command(line.verb("create"), {"identity", "Consumer: take the credentials that are in a file"},
                     {.writes = true, .creates = true, .timeout = minutes, .aliases = {"identities"}},
                     with(flags, create_identity));
  add_file(app, *flags, "What generate identity printed; - is standard input");
  add_replace(app, flags->replace);
  add_address_flags(app, flags->addresses);
  flags = std::make_shared<Flags>();
  app = line.command(line.verb("delete"), {"identity", "Consumer: forget credentials"},
                     {.writes = true, .argument = Candidates::identities, .aliases = {"identities"}},
                     with(flags, delete_identity));
  app.option("name", flags->name, "Name of the Identity").required().type_name("NAME");
  app.option("--remote-cluster-id", flags->peer, "ID of the provider").type_name("ID");
  flags = std::make_shared<Flags>();
  app = line.command(line.verb("get"), {"kubeconfig", "Consumer: print the kubeconfig of an Identity"},
                     {.argument = Candidates::identities, .aliases = {"kc"}}, with(flags, get_kubeconfig));
  app.option("name", flags->name, "Name of the Identity").required().type_name("NAME");
  app.option("--remote-cluster-id", flags->peer, "ID of the provider").type_name("ID");
}

}  // namespace liqoctl
