// liqoctl generate|create|delete tenant. In a manual handshake, for users who may not reach both clusters, each side
// prints the object that the other side needs:
//   provider: create nonce -> consumer: generate tenant --nonce -> provider: create tenant -f
//   provider: generate identity -> consumer: create identity -f
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/forge.hpp"
#include "core/peering/handshake.hpp"
#include "liqo/api/kinds.hpp"
#include "model/peer/handed_over.hpp"
#include "peering/handed_file.hpp"
#include "peering/handshake.hpp"
#include "peering/removal.hpp"
#include "session/print_object.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
namespace kinds = liqo::api::kinds;
using kube::Errc;

struct GenerateFlags {
  std::string peer, nonce, remote_namespace;
};

asio::awaitable<Result<void>> generate_tenant(Session& session, const GenerateFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(id, co_await cluster.id());
  KUBE_CO_TRY(key, co_await read_key(cluster));
  KUBE_CO_TRY(ns, co_await ensure_tenant_namespace(session, cluster, flags.peer));
  std::string nonce = flags.nonce;
  if (nonce.empty()) {
    // The nonce of the previous run, so that the same Tenant can be printed again.
    KUBE_CO_TRY(secret, co_await cluster.find(kube::resources::secrets, {ns, std::string(core::signed_nonce_secret)}));
    if (secret) nonce = core::secret_bytes(*secret, "nonce");
    if (nonce.empty())
      co_return kube::fail(Errc::missing,
                           "the provider's nonce is needed: give --nonce (liqoctl get nonce there prints it)");
  }
  KUBE_CO_TRY(signature, co_await obtain_signature(session, cluster,
                                                   {.tenant_namespace = ns, .provider = flags.peer, .nonce = nonce}));
  const core::TenantOrder order{.tenant_namespace = flags.remote_namespace, .consumer = id, .signature = signature};
  KUBE_CO_TRY(tenant, core::forge_tenant(order, key));
  print_object(session, tenant);
  co_return Result<void>();
}

asio::awaitable<Result<void>> create_tenant(Session& session, const HandedFile& file) {
  KUBE_CO_TRY(tenant, read_object(session, file, kinds::tenants));
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(consumer, read_peer(file, tenant));
  KUBE_CO_TRY(ns, co_await ensure_tenant_namespace(session, cluster, consumer));
  KUBE_CO_TRY(taken, model::tenant_to_admit(tenant, ns), file.path);
  report_left_out(session, file, taken.left_out);
  KUBE_CO_TRYV(co_await admit_tenant(session, cluster, std::move(taken.object)));
  co_return Result<void>();
}

}  // namespace

void add_tenant(CommandLine& line) {
  auto flags = std::make_shared<GenerateFlags>();
  const cli::Command printed =
      line.command(line.verb("generate"), {"tenant", "Consumer: print the Tenant that the provider is to be given"},
                   {.prints = Prints::objects,
                    .timeout = std::chrono::minutes(2),
                    .aliases = {"tenants"},
                    .examples = "  liqoctl generate tenant --remote-cluster-id milan --nonce \"$NONCE\" > tenant.yaml"},
                   [flags](Session& session) { return generate_tenant(session, *flags); });
  add_remote_cluster_id(printed, flags->peer, "ID of the provider");
  printed.option("--nonce", flags->nonce, "The provider's nonce; that of the last time if none is given")
      .type_name("TEXT")
      .check([](const std::string& text) -> Result<void> {
        if (core::is_nonce(text)) return {};
        return kube::fail(Errc::invalid_input,
                          "is no nonce, which has 88 characters of base64: give it as liqoctl get nonce prints it at "
                          "the provider");
      });
  printed.option("--remote-tenant-namespace", flags->remote_namespace, "Our tenant namespace at the provider")
      .type_name("NAME");

  auto file = std::make_shared<HandedFile>();
  const cli::Command made =
      line.command(line.verb("create"), {"tenant", "Provider: admit the consumer whose Tenant is in a file"},
                   {.writes = true, .creates = true, .timeout = std::chrono::minutes(2), .aliases = {"tenants"}},
                   [file](Session& session) { return create_tenant(session, *file); });
  add_handed_file(made, *file, "What generate tenant printed; - is standard input");

  auto name = std::make_shared<std::string>();
  const cli::Command removed =
      line.command(line.verb("delete"), {"tenant", "Provider: take a consumer's credentials, grants and pods away"},
                   {.writes = true, .argument = Candidates::tenants, .aliases = {"tenants"}}, [name](Session& session) {
                     return delete_object(session, kinds::tenants, {*name}, ": its credentials, grants and pods go.");
                   });
  removed.option("name", *name, "Name of the Tenant: the consumer's ID").required().type_name("NAME");
}

}  // namespace liqoctl
