// liqoctl create|generate|get|delete nonce: the provider's part of a manual handshake (commands/tenant.cpp).
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/peer_names.hpp"
#include "core/common/secret_bytes.hpp"
#include "core/peering/forge.hpp"
#include "peering/handshake.hpp"
#include "session/print_object.hpp"

namespace liqoctl {
namespace {

namespace core = liqo::core;
using kube::Errc;

struct Flags {
  std::string peer;
};

asio::awaitable<Result<void>> create_nonce(Session& session, const Flags& flags) {
  KUBE_CO_TRY(cluster, co_await session.local());
  if (session.flags().output != Format::none && !session.flags().dry_run) {
    KUBE_CO_TRY(ns, co_await cluster->tenant_namespace(flags.peer));
    print_objects(session,
                  {core::forge_tenant_namespace(flags.peer, ns.name), core::forge_nonce_secret(ns.name, flags.peer)});
    co_return Result<void>();
  }
  KUBE_CO_TRY(ns, co_await ensure_tenant_namespace(session, *cluster, flags.peer));
  KUBE_CO_TRY(nonce, co_await obtain_nonce(session, *cluster, ns, flags.peer));
  if (!session.flags().dry_run) session.output().print(nonce + "\n");
  co_return Result<void>();
}

asio::awaitable<Result<void>> get_nonce(Session& session, const Flags& flags) {
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(ns, co_await cluster->existing_tenant_namespace(flags.peer));
  KUBE_CO_TRY(secret, co_await cluster->find(kube::resources::secrets, {ns, std::string(core::nonce_secret)}));
  const std::string nonce = secret ? core::secret_bytes(*secret, "nonce") : "";
  if (nonce.empty())
    co_return kube::fail(Errc::missing, "there is no nonce for " + flags.peer +
                                            " (liqoctl create nonce --remote-cluster-id " + flags.peer + ")");
  session.output().print(nonce);
  co_return Result<void>();
}

asio::awaitable<Result<void>> delete_nonce(Session& session, const Flags& flags) {
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(ns, co_await cluster->existing_tenant_namespace(flags.peer));
  for (const std::string_view name : {core::nonce_secret, core::signed_nonce_secret}) {
    KUBE_CO_TRY(removed, co_await cluster->remove(kube::resources::secrets, {ns, std::string(name)}));
    if (removed && !session.flags().dry_run)
      session.output().success(cluster->scope(), "Secret " + std::string(name) + " deleted");
  }
  co_return Result<void>();
}

}  // namespace

void add_nonce(CommandLine& line) {
  const auto add = [&line](const std::string& verb, std::string_view what, const CommandTraits& traits,
                           asio::awaitable<Result<void>> (*run)(Session&, const Flags&)) {
    auto flags = std::make_shared<Flags>();
    const cli::Command app = line.command(line.verb(verb), {"nonce", what}, traits,
                                          [flags, run](Session& session) { return run(session, *flags); });
    add_remote_cluster_id(app, flags->peer, verb == "delete" ? "ID of the other cluster" : "ID of the consumer");
  };
  const CommandTraits making{
      .writes = true, .creates = true, .prints = Prints::objects, .timeout = std::chrono::minutes(2)};
  add("create", "Provider: make the nonce that a consumer is to sign, and print it", making, create_nonce);
  add("generate", "Provider: the same as create nonce", making, create_nonce);
  add("get", "Provider: print the nonce for a consumer, without a line break", {}, get_nonce);
  add("delete", "Forget the nonce, or its signature", {.writes = true}, delete_nonce);
}

}  // namespace liqoctl
