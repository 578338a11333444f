// liqoctl authenticate|unauthenticate: credentials of a consumer at a provider, without a request for resources.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "peering/addresses.hpp"
#include "peering/foreign_cluster.hpp"
#include "peering/handshake.hpp"
#include "peering/unauthenticate.hpp"
#include "volumes/remote_data.hpp"

namespace liqoctl {
namespace {

struct AuthenticateFlags {
  bool in_band = false, replace = false;
  AddressFlags addresses;
};

asio::awaitable<Result<void>> run_authenticate(Session& session, const AuthenticateFlags& flags) {
  if (flags.in_band)
    session.output().warn("",
                          "--in-band has no effect without the network module; the API servers must reach each other");
  KUBE_CO_TRY(pair, co_await session.both());
  KUBE_CO_TRY(ranges, co_await choose_pod_ranges(session, pair, flags.addresses));
  KUBE_CO_TRYV(co_await authenticate(session, pair, flags.replace), "authentication");
  KUBE_CO_TRYV(co_await declare_pod_ranges(session, *pair.consumer, pair.provider_id, std::move(ranges)), "addresses");
  KUBE_CO_TRYV(co_await declare_remote_namespace(session, pair));
  if (!session.flags().dry_run)
    session.output().success("", pair.consumer_id + " is authenticated at " + pair.provider_id);
  co_return Result<void>();
}

asio::awaitable<Result<void>> run_unauthenticate(Session& session) {
  KUBE_CO_TRY(pair, co_await session.both());
  auto done = co_await clear_volumes(
      *pair.consumer, {.ns = {}, .cluster = pair.provider_id, .way_out = "run liqoctl unpeer --delete-volumes"}, false);
  if (!done && !done.error().is_forbidden()) co_return done;
  done = co_await unauthenticate(session, pair);
  if (!done) co_return kube::fail(std::move(done.error()), "authentication");
  if (!session.flags().dry_run)
    session.output().success("", pair.consumer_id + " no longer has credentials at " + pair.provider_id);
  co_return done;
}

}  // namespace

void add_authenticate(CommandLine& line) {
  auto flags = std::make_shared<AuthenticateFlags>();
  const cli::Command app =
      line.command(line.root(), {"authenticate", "Get credentials at a provider"},
                   {.namespaces = Namespaces::liqo,
                    .clusters = Clusters::two,
                    .writes = true,
                    .creates = true,
                    .timeout = std::chrono::minutes(2),
                    .aliases = {"auth"},
                    .examples = "  liqoctl authenticate --kubeconfig=consumer.yaml --remote-kubeconfig=provider.yaml"},
                   [flags](Session& session) { return run_authenticate(session, *flags); });
  app.flag("--in-band", flags->in_band, "Accepted, without effect: needs the network module");
  add_replace(app, flags->replace);
  add_address_flags(app, flags->addresses);

  auto wait = std::make_shared<bool>(true);
  const cli::Command undo = line.command(line.root(), {"unauthenticate", "Withdraw the credentials at a provider"},
                                         {.namespaces = Namespaces::liqo,
                                          .clusters = Clusters::two,
                                          .writes = true,
                                          .timeout = std::chrono::minutes(2),
                                          .aliases = {"unauth"}},
                                         [wait](Session& session) { return run_unauthenticate(session); });
  undo.flag("--wait", *wait, "Accepted; it always waits");
}

}  // namespace liqoctl
