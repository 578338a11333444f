// liqoctl offload|unoffload namespace: lets the pods of namespaces run in other clusters, or ends that.
#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/namespaces/namespace_selection.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/namespace_offloading.hpp"
#include "liqo/api/reasons.hpp"
#include "model/objects.hpp"
#include "session/daemon_sets.hpp"
#include "session/print_object.hpp"
#include "session/wait.hpp"
#include "volumes/kept_twins.hpp"
#include "volumes/remote_data.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
using kube::Errc;

struct OffloadFlags {
  std::vector<std::string> names;
  std::string selector;  ///< of namespaces
  model::OffloadingRequest request;
  bool wait = true;
  bool delete_volumes = false;
};

/// The named namespaces, or those that match the selector. The cluster is asked only for a selector.
asio::awaitable<Result<std::vector<std::string>>> chosen(Session& session, const std::vector<std::string>& names,
                                                         std::string selector) {
  if (selector.empty()) {
    if (names.empty())
      co_return kube::fail(Errc::invalid_input, "name the namespaces, or choose them by --ns-selector");
    co_return names;
  }
  if (!names.empty())
    co_return kube::fail(Errc::invalid_input, "give either names of namespaces or --ns-selector, not both");
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(found, co_await cluster->list(kube::resources::namespaces, "", selector), "--ns-selector");
  std::vector<std::string> out;
  out.reserve(found.size());
  for (const Object& ns : found) out.emplace_back(ns.name());
  if (out.empty()) session.output().info(cluster->scope(), "no namespace has these labels; nothing was changed");
  co_return out;
}

/// The phase that an offloading has reached.
struct Reached {
  std::string phase;
  std::string held;  ///< twins that are not chosen and stay for their data, "" = none
};

/// The twins that stay for their data, with their clusters.
std::string held_twins(const Object& offloading) {
  std::vector<std::string> held;
  for (const auto& [cluster, list] : kube::object_at(offloading.status(), {"remoteNamespacesConditions"}))
    if (const auto* entries = list.if_array())
      for (const kube::json::value& condition : *entries)
        if (kube::string_at(condition, {"reason"}) == liqo::api::reasons::twin_holds_data)
          held.push_back(std::string(cluster) + ": " + kube::printable(kube::string_at(condition, {"message"})));
  return kube::join(held, "; ");
}

/// Done if the offloading is in a phase that lasts, which is written to `reached`.
WaitState look_at(const Object* offloading, Reached& reached) {
  if (!offloading) return {.seen = "it is not there"};
  const auto phase = kube::string_at(offloading->status(), {"offloadingPhase"});
  const bool current = kube::int_at(offloading->tree(), {"status", "observedGeneration"}) == offloading->generation();
  if (!current || phase.empty()) return {.seen = "liqod has not looked at it yet"};
  if (phase == "Ready" || phase == liqo::api::no_cluster_selected) {
    reached = {.phase = std::string(phase), .held = held_twins(*offloading)};
    return {.done = true};
  }
  std::string why;
  const auto& conditions = kube::object_at(offloading->status(), {"remoteNamespacesConditions"});
  for (const auto& [cluster, list] : conditions) {
    const auto* entries = list.if_array();
    if (!entries) continue;
    for (const kube::json::value& condition : *entries)
      if (kube::string_at(condition, {"status"}) == "False" && kube::string_at(condition, {"type"}) == "Ready")
        why += "; " + std::string(cluster) + ": " +
               kube::printable(kube::string_at(condition, {"message"}).substr(0, 300));
  }
  return {.seen = "phase " + std::string(phase) + why};
}

int strictness(std::string_view strategy) { return strategy == "LocalAndRemote" ? 0 : 1; }

/// Prints why no provider is chosen.
asio::awaitable<void> report_no_node(Session& session, Cluster& cluster, std::string name, kube::ObjectKey key) {
  auto nodes = co_await cluster.list(kube::resources::nodes, "",
                                     kube::label_is(liqo::api::labels::type, liqo::api::labels::type_virtual_node));
  auto offloading = co_await cluster.find(kinds::namespace_offloadings, key);
  const std::string selector = offloading && *offloading ? model::selector_in_words(**offloading) : "";
  const std::string begin = "namespace " + name + " is offloaded, but ";
  if (nodes && nodes->empty()) {
    session.output().warn(cluster.scope(), begin + "there are no virtual nodes yet: run liqoctl peer");
  } else {
    session.output().warn(cluster.scope(), begin + "no virtual node has " +
                                               (selector.empty() ? "these labels" : selector) +
                                               (nodes ? "; there is " + model::nodes_in_words(*nodes) : ""));
  }
}

/// Prints what pods of the namespace read as the name of their namespace, if that is not its own name.
void report_read_namespace(Session& session, const Cluster& cluster, const model::OffloadingRequest& request) {
  const bool has_own_name = request.mapping_strategy == "EnforceSameName" || request.remote_name == request.ns;
  if (has_own_name || request.pod_strategy == "Local") return;
  session.output().info(cluster.scope(),
                        "pods of " + request.ns + " elsewhere read the twin's name as their namespace, unless they " +
                            "have a token for the API server here (EnforceSameName gives both one name)");
}

/// Prints that NetworkPolicies of the namespace hold in this cluster alone. A user who may not list them learns it by
/// an Event.
asio::awaitable<void> report_policies(Session& session, Cluster& cluster, std::string name) {
  const auto found = co_await cluster.list(kinds::network_policies, name, "");
  if (!found || found->empty()) co_return;
  std::vector<std::string> names;
  names.reserve(found->size());
  for (const Object& policy : *found) names.emplace_back(policy.name());
  constexpr std::size_t max_named = 4;
  session.output().warn(cluster.scope(),
                        "NetworkPolicies of " + name +
                            " do not hold for its pods in other clusters: " + kube::join_some(names, max_named));
}

asio::awaitable<Result<void>> offload_one(Session& session, Cluster& cluster, const OffloadFlags& flags,
                                          std::string name) {
  model::OffloadingRequest request = flags.request;
  request.ns = name;
  KUBE_CO_TRY(wanted, model::forge_namespace_offloading(request));
  KUBE_CO_TRY(ns, co_await cluster.find(kube::resources::namespaces, {"", name}));
  if (!ns)
    co_return kube::fail(Errc::missing, "there is no namespace " + name + " in cluster " + cluster.api().cluster());
  if (const std::string why = liqo::core::why_kept_here(*ns, cluster.liqo_namespace()); !why.empty())
    co_return kube::fail(Errc::invalid_input, why);
  KUBE_CO_TRY(before, co_await cluster.find(kinds::namespace_offloadings, wanted.key()));
  if (before) {
    const std::string selector = model::selector_in_words(*before);
    if (!selector.empty() && request.cluster_selectors.empty())
      session.output().info(cluster.scope(), "namespace " + name + " keeps its selector " + selector +
                                                 " (--selector '' takes every virtual node)");
    const auto strategy = kube::string_at(before->spec(), {"podOffloadingStrategy"});
    if (strictness(request.pod_strategy) > 0 && strategy != request.pod_strategy)
      session.output().warn(cluster.scope(), "pods of " + name + " that run already stay where they are: " +
                                                 "restart those that " + request.pod_strategy + " would put elsewhere");
  }
  KUBE_CO_TRY(done, co_await ensure(cluster, kinds::namespace_offloadings, wanted, {"clusterSelector"}));
  if (before && !request.cluster_selectors.empty() && wanted.spec().if_contains("clusterSelector") == nullptr) {
    const std::function<bool(Object&)> clear = [](Object& there) {
      return there.mutable_spec().erase("clusterSelector") > 0;
    };
    KUBE_CO_TRYV(co_await update(cluster, kinds::namespace_offloadings, wanted.key(), clear));
  }
  if (done == Ensured::dry_run || !flags.wait) co_return Result<void>();
  Reached reached;
  const std::function<WaitState(const Object*)> look = [&reached](const Object* object) {
    return look_at(object, reached);
  };
  KUBE_CO_TRYV(co_await wait_for_object(
      cluster,
      {.what = "namespace " + name + " to have its twin namespace at each provider", .deadline = session.deadline()},
      {.resource = kinds::namespace_offloadings, .key = wanted.key()}, look));
  if (!reached.held.empty()) session.output().warn(cluster.scope(), reached.held);
  if (reached.phase == liqo::api::no_cluster_selected) {
    co_await report_no_node(session, cluster, name, wanted.key());
  } else {
    session.output().success(cluster.scope(), "namespace " + name + " is offloaded");
    report_read_namespace(session, cluster, request);
    if (request.pod_strategy != "Local") co_await report_policies(session, cluster, name);
    co_await warn_of_offloaded_daemon_sets(cluster, name);
  }
  co_return Result<void>();
}

/// Refuses a namespace that liqod would offload again, because its labels select it.
asio::awaitable<Result<void>> check_selection(Cluster& cluster, kube::ObjectKey key) {
  KUBE_CO_TRY(offloading, co_await cluster.find(kinds::namespace_offloadings, key));
  if (!offloading || !liqo::core::is_of_selection(*offloading)) co_return Result<void>();
  KUBE_CO_TRY(ns, co_await cluster.find(kube::resources::namespaces, {"", key.ns}));
  const std::string selector(offloading->annotation(liqo::api::annotations::namespace_selector));
  const auto selection = liqo::core::NamespaceSelection::read({.selector = selector, .clusters = {}}, "");
  if (!ns || !selection || !selection->matches(*ns)) co_return Result<void>();
  co_return kube::fail(Errc::invalid_input,
                       "namespace " + key.ns + " is offloaded because it has the labels " + kube::printable(selector) +
                           ", and would be again: take them from it (kubectl label namespace " + key.ns +
                           " KEY-). Where liqod does not select by them any more, remove the annotation " +
                           std::string(liqo::api::annotations::namespace_selector) +
                           " of its NamespaceOffloading first");
}

/// Deletes the twins that a provider keeps of the namespace if the user asked for that. Otherwise reports them.
asio::awaitable<Result<void>> see_to_kept_twins(Session& session, Cluster& cluster, const OffloadFlags& flags,
                                                std::string name) {
  KUBE_CO_TRY(kept, co_await find_kept_twins(cluster, name, ""));
  if (flags.delete_volumes) co_return co_await give_up_twins(session, cluster, std::move(kept), flags.wait);
  for (const KeptTwin& twin : kept) session.output().warn(cluster.scope(), twin.why);
  co_return Result<void>();
}

asio::awaitable<Result<void>> unoffload_one(Session& session, Cluster& cluster, const OffloadFlags& flags,
                                            std::string name) {
  const kube::ObjectKey key{name, std::string(liqo::api::namespace_offloading_name)};
  KUBE_CO_TRYV(co_await check_selection(cluster, key));
  KUBE_CO_TRYV(co_await clear_volumes(cluster, {.ns = name, .cluster = {}}, flags.delete_volumes));
  KUBE_CO_TRY(removed, co_await cluster.remove(kinds::namespace_offloadings, key));
  if (!removed) {
    session.output().info(cluster.scope(), "namespace " + name + " is not offloaded");
    co_return co_await see_to_kept_twins(session, cluster, flags, name);
  }
  if (session.flags().dry_run || !flags.wait) co_return Result<void>();
  const std::function<std::string(const Object&)> seen = [](const Object& offloading) {
    return "phase " + std::string(kube::string_at(offloading.status(), {"offloadingPhase"}));
  };
  KUBE_CO_TRYV(co_await wait_for_object_to_go(
      cluster, {.what = "the twins of namespace " + name + " at providers to go", .deadline = session.deadline()},
      {.resource = kinds::namespace_offloadings, .key = key}, seen));
  session.output().success(cluster.scope(), "namespace " + name + " is no longer offloaded");
  co_return co_await see_to_kept_twins(session, cluster, flags, name);
}

/// Tries all of them, and reports the failure of each.
asio::awaitable<Result<void>> for_each(Session& session, const std::vector<std::string>& names,
                                       std::function<asio::awaitable<Result<void>>(std::string)> each) {
  std::size_t failed = 0;
  std::optional<kube::Failure> only;
  for (const std::string& name : names) {
    auto done = co_await each(name);
    if (done) continue;
    ++failed;
    if (names.size() > 1) session.output().error("", name + ": " + done.error().text());
    only = std::move(done.error());
  }
  if (failed == 0) co_return Result<void>();
  if (names.size() == 1) co_return std::unexpected(std::move(*only));
  co_return kube::fail(
      only->code(), std::to_string(failed) + " of " + std::to_string(names.size()) + " namespaces failed, see above");
}

/// Refuses flags that exclude each other, or that need others.
Result<void> check_flags(const OffloadFlags& flags) {
  const bool several = flags.names.size() > 1 || !flags.selector.empty();
  if (flags.request.mapping_strategy == "SelectedName" && flags.request.remote_name.empty())
    return kube::fail(Errc::invalid_input, "--namespace-mapping-strategy SelectedName needs --remote-namespace-name");
  if (!flags.request.remote_name.empty() && flags.request.mapping_strategy != "SelectedName")
    return kube::fail(Errc::invalid_input, "--remote-namespace-name needs --namespace-mapping-strategy SelectedName");
  if (several && !flags.request.remote_name.empty())
    return kube::fail(Errc::invalid_input, "--remote-namespace-name is for one namespace only");
  return {};
}

asio::awaitable<Result<void>> offload(Session& session, const OffloadFlags& flags) {
  KUBE_CO_TRY(names, co_await chosen(session, flags.names, flags.selector));
  if (session.flags().output != Format::none && !session.flags().dry_run) {
    std::vector<Object> objects;
    for (const std::string& name : names) {
      model::OffloadingRequest request = flags.request;
      request.ns = name;
      KUBE_CO_TRY(made, model::forge_namespace_offloading(request));
      objects.push_back(std::move(made));
    }
    print_objects(session, objects);
    co_return Result<void>();
  }
  KUBE_CO_TRY(cluster, co_await session.local());
  const std::function<asio::awaitable<Result<void>>(std::string)> each = [&](std::string name) {
    return offload_one(session, *cluster, flags, std::move(name));
  };
  co_return co_await for_each(session, names, each);
}

/// The namespaces that would lose something, in words for a question. Errors: Errc::missing for a namespace that does
/// not exist.
asio::awaitable<Result<std::string>> offloaded_of(Cluster& cluster, std::vector<std::string> names, bool with_volumes) {
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    KUBE_CO_TRY(there, co_await cluster.find(kinds::namespace_offloadings,
                                             {name, std::string(liqo::api::namespace_offloading_name)}));
    if (!there) {
      auto ns = co_await cluster.find(kube::resources::namespaces, {"", name});
      // A user who may not look at namespaces may still bring one home.
      if (!ns && !ns.error().is_forbidden()) co_return std::unexpected(std::move(ns.error()));
      KUBE_CO_TRY(kept, co_await find_kept_twins(cluster, name, ""));
      if (ns && !*ns && kept.empty())
        co_return kube::fail(Errc::missing, "there is no namespace " + name + " in cluster " + cluster.api().cluster());
    }
    if (there || with_volumes) changed.push_back(name);
  }
  co_return kube::join(changed, ", ");
}

asio::awaitable<Result<void>> unoffload(Session& session, const OffloadFlags& flags) {
  KUBE_CO_TRY(names, co_await chosen(session, flags.names, flags.selector));
  KUBE_CO_TRY(cluster, co_await session.local());
  KUBE_CO_TRY(all, co_await offloaded_of(*cluster, names, flags.delete_volumes));
  if (!all.empty()) {
    KUBE_CO_TRYV(co_await session.confirm(
        "Namespaces at providers will be deleted with all that is in them, for: " + all + "."));
  }
  const std::function<asio::awaitable<Result<void>>(std::string)> each = [&](std::string name) {
    return unoffload_one(session, *cluster, flags, std::move(name));
  };
  co_return co_await for_each(session, names, each);
}

}  // namespace

void add_namespace(CommandLine& line) {
  const std::vector<std::string> aliases{"ns", "namespaces"};
  auto flags = std::make_shared<OffloadFlags>();
  const cli::Command app =
      line.command(line.verb("offload"), {"namespace", "Let the pods of namespaces run in other clusters"},
                   {.namespaces = Namespaces::none,
                    .writes = true,
                    .creates = true,
                    .prints = Prints::objects,
                    .timeout = std::chrono::seconds(20),
                    .argument = Candidates::namespaces,
                    .aliases = aliases,
                    .examples = "  liqoctl offload namespace demo\n"
                                "  liqoctl offload namespace demo --selector 'region in (south,north)' \\\n"
                                "    --pod-offloading-strategy Remote\n"
                                "  liqoctl offload namespace --ns-selector team=red\n"
                                "Requirements of one --selector must all hold; several are alternatives."},
                   [flags](Session& session) { return offload(session, *flags); });
  app.option("name", flags->names, "Namespaces").type_name("NAME");
  app.option("--ns-selector", flags->selector, "Choose namespaces by their labels instead").type_name("SELECTOR");
  app.option("--pod-offloading-strategy", flags->request.pod_strategy, "Where pods may run (default LocalAndRemote)")
      .one_of({"LocalAndRemote", "Remote", "Local"});
  app.option("--namespace-mapping-strategy", flags->request.mapping_strategy,
             "Name of the twin, the namespace at the provider of the pods (default DefaultName)")
      .one_of({"DefaultName", "EnforceSameName", "SelectedName"});
  app.option("--remote-namespace-name", flags->request.remote_name, "Name of the twin, with SelectedName")
      .type_name("NAME");
  app.list("-l,--selector", flags->request.cluster_selectors,
           "Virtual nodes to use, by their labels; '' = all; may be repeated")
      .type_name("SELECTOR");
  app.flag("--wait", flags->wait, "Wait until the twins are there (default true)");
  line.check(app, [flags] { return check_flags(*flags); });

  auto back = std::make_shared<OffloadFlags>();
  const cli::Command undo =
      line.command(line.verb("unoffload"),
                   {"namespace", "Bring the pods of namespaces home and delete their twin namespaces at providers"},
                   {.namespaces = Namespaces::none,
                    .writes = true,
                    .timeout = std::chrono::minutes(2),
                    .argument = Candidates::offloaded_namespaces,
                    .aliases = aliases},
                   [back](Session& session) { return unoffload(session, *back); });
  undo.option("name", back->names, "Namespaces").type_name("NAME");
  undo.option("--ns-selector", back->selector, "Choose namespaces by their labels instead").type_name("SELECTOR");
  undo.flag("--wait", back->wait, "Wait until they are gone (default true)");
  undo.flag("--delete-volumes", back->delete_volumes,
            "Delete the claims whose data is in the twins, and twins kept for data of unknown claims");
}

}  // namespace liqoctl
