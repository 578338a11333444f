// liqoctl set tenant: sets what a consumer may do here beyond the default, and how much it is granted at most.
#include "model/tenant/tenant_policy.hpp"
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/common/peer_names.hpp"
#include "core/namespaces/belonging.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "model/selectors.hpp"
#include "session/find_one.hpp"
#include "session/session.hpp"

namespace liqoctl {
namespace {

namespace json = kube::json;
using kube::Errc;

constexpr int max_attempts = 5;
constexpr std::string_view key = liqo::api::annotations::pod_policy;

struct PolicyFlags {
  std::string consumer;
  model::PolicyChange change;
};

/// Writes the annotation over the version of the namespace that was read. Errors: 409 if the version has changed since.
asio::awaitable<Result<void>> write_policy(Cluster& cluster, const Object& ns, std::string policy) {
  json::object annotations;
  annotations[key] = policy.empty() ? json::value(nullptr) : json::value(policy);
  const json::object body{
      {"metadata", json::object{{"resourceVersion", ns.resource_version()}, {"annotations", std::move(annotations)}}}};
  KUBE_CO_TRYV(co_await cluster.api().patch(kube::resources::namespaces, ns.key(), {.body = json::serialize(body)}));
  co_return Result<void>();
}

/// The stored policy with the changes of the flags.
Result<model::ChangedPolicy> changed(const Object& ns, const model::PolicyChange& change) {
  KUBE_TRYV(model::check_tenant_namespace(change.consumer, ns));
  auto policy = model::change_policy(ns.annotation(key), change);
  if (policy || policy.error().code() != Errc::parse) return policy;
  const std::string name(ns.name());
  return kube::fail(Errc::invalid_input, "the policy of " + change.consumer + " (annotation " + std::string(key) +
                                             " of namespace " + name + ") cannot be read: " + policy.error().text() +
                                             ": --replace begins anew, and keeps nothing of it, no limit either");
}

struct ReportedPolicy {
  const model::ChangedPolicy& policy;
  bool replaces = false;
};

void report(Session& session, const Cluster& cluster, const Object& ns, const ReportedPolicy& told) {
  const auto& [policy, replaces] = told;
  if (!policy.unreadable.empty()) session.output().print("  - " + policy.unreadable + "\n");
  session.output().print(model::policy_diff(policy));
  for (const std::string& unknown : policy.unknown)
    session.output().warn(cluster.scope(),
                          "this liqoctl does not know the key " + unknown +
                              ": if the liqod of this cluster does not either, it admits nothing new of the "
                              "consumer; --unset takes a key away");
  for (const std::string& narrowed : policy.narrowed) session.output().warn(cluster.scope(), narrowed);
  if (replaces && policy.is_unlimited())
    session.output().warn(cluster.scope(), "nothing limits what the consumer is granted: --max and --max-slice do");
  const std::string what = "policy of namespace " + std::string(ns.name());
  if (!policy.changes()) {
    session.output().info(cluster.scope(), what + " is unchanged");
  } else if (session.flags().dry_run) {
    session.output().info(cluster.scope(), "would update the " + what);
  } else {
    session.output().success(cluster.scope(), what + " updated; pods that run are not changed");
  }
}

/// The consumer's tenant namespace, by its labels: consumers choose the names of their Tenants, and may have none yet.
asio::awaitable<Result<std::string>> find_namespace(Cluster& cluster, std::string consumer) {
  if (liqo::core::is_cluster_id(consumer)) {
    auto named = co_await cluster.existing_tenant_namespace(consumer);
    if (named || named.error().code() != Errc::missing) co_return named;
  }
  KUBE_CO_TRY(known, co_await cluster.list(kube::resources::namespaces, "",
                                           liqo::core::marked_tenant_namespaces().label_selector));
  co_return kube::fail(Errc::missing, model::unknown_consumer(consumer, known));
}

/// Refuses a peer that only provides. A user who may not read the peer's objects is not refused.
asio::awaitable<Result<void>> check_consumer(Cluster& cluster, std::string consumer, std::string ns) {
  auto peer = co_await find_peer(cluster, consumer);
  if (!peer || !*peer) co_return Result<void>();
  const auto tenants = co_await cluster.list(liqo::api::kinds::tenants, ns);
  const auto users = co_await cluster.list(liqo::api::kinds::role_bindings, ns, model::of_peering_user(consumer));
  if (!tenants || !users) co_return Result<void>();
  co_return model::check_is_consumer(
      consumer, {.peer = std::move(*peer), .has_tenant = !tenants->empty(), .has_user = !users->empty()});
}

asio::awaitable<Result<void>> set_tenant(Session& session, const PolicyFlags& flags) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(name, co_await find_namespace(cluster, flags.consumer));
  if (!flags.change.only_takes_away()) KUBE_CO_TRYV(co_await check_consumer(cluster, flags.consumer, name));
  model::PolicyChange change = flags.change;
  change.consumer = flags.consumer;
  for (int attempt = 1;; ++attempt) {
    KUBE_CO_TRY(ns, co_await cluster.api().get(kube::resources::namespaces, {"", name}));
    KUBE_CO_TRY(policy, changed(ns, change));
    if (policy.changes() && !session.flags().dry_run) {
      auto written = co_await write_policy(cluster, ns, policy.text());
      if (!written && written.error().is_conflict() && attempt < max_attempts) continue;
      if (!written) co_return std::unexpected(std::move(written.error()));
    }
    report(session, cluster, ns, {.policy = policy, .replaces = change.replace});
    co_return Result<void>();
  }
}

}  // namespace

void add_tenant_policy(CommandLine& line) {
  auto flags = std::make_shared<PolicyFlags>();
  const cli::Command app = line.command(
      line.verb("set"), {"tenant", "Provider: decide what a consumer may do here, and how much it gets at most"},
      {.namespaces = Namespaces::none,
       .writes = true,
       .argument = Candidates::peers,
       .aliases = {"tenants"},
       .examples = "  liqoctl set tenant rome --max cpu=3,memory=8Gi\n"
                   "  liqoctl set tenant rome --allow hostPorts --allow capabilities=NET_ADMIN,SYS_PTRACE\n"
                   "  liqoctl set tenant rome --forbid refusedServiceTypes=LoadBalancer --unset maxResources\n"
                   "The keys are those of docs/pod-firewall.md. Keys that are not named stay as they are, and liqoctl\n"
                   "describe tenant shows all. What runs stays; slices and pods that come later are bound."},
      [flags](Session& session) { return set_tenant(session, *flags); });
  app.option("name", flags->consumer, "Cluster ID of the consumer, which may have no Tenant yet")
      .required()
      .type_name("ID");
  model::PolicyChange& change = flags->change;
  app.list("--max", change.max, "The most that all slices of the consumer are granted together (maxResources)")
      .type_name("NAME=AMOUNT,...");
  app.list("--max-slice", change.max_slice, "The most that one slice is granted (maxSliceResources)")
      .type_name("NAME=AMOUNT,...");
  app.list("--allow", change.allow, "Switch a key on, add names to a list, or set a bound")
      .type_name("KEY[=VALUE,...]");
  app.list("--forbid", change.forbid,
           "Switch a key off, take names off a list (without names: all), or refuse a type of Service")
      .type_name("KEY[=VALUE,...]");
  app.list("--unset", change.unset,
           "Take a key out of the policy, so that the default applies; of a bound, these names")
      .type_name("KEY[=NAME,...]");
  app.flag("--replace", change.replace,
           "Begin with an empty policy: nothing of the stored one is kept, its limits neither");
  line.check(app, [flags]() -> Result<void> {
    if (!flags->change.is_empty()) return model::check_change(flags->change);
    return kube::fail(Errc::invalid_input,
                      "nothing is to be set: give --max, --max-slice, --allow, --forbid, --unset or --replace");
  });
}

}  // namespace liqoctl
