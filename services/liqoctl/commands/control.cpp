// liqoctl cordon|uncordon|drain|activate: commands for a provider's administrator on tenants and slices.
#include <algorithm>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "core/slices/cordon.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "model/info/answers.hpp"
#include "model/tenant/closings.hpp"
#include "model/tenant/ending_pods.hpp"
#include "session/find_one.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
namespace annotations = liqo::api::annotations;
using kube::Errc;

struct TenantFlags {
  std::string name;
  bool keep_pods = false;
  bool wait = true;
};

/// The change that a verb makes to the condition of a Tenant.
struct Change {
  std::string_view to;
  std::vector<std::string_view> from;  ///< empty = from any
  std::string_view question;           ///< "" = does not ask
  std::string_view done;
  std::string_view keeping_question = {}, keeping_done = {};  ///< of --keep-pods
};

/// Waits until the status of the consumer's slices is denied, by which the consumer's Liqo learns of it. Without a
/// name, it waits for all slices of the namespace.
asio::awaitable<Result<void>> wait_for_denial(Session& session, Cluster& cluster, std::string consumer,
                                              kube::ObjectKey slice) {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): lives until the last probe has ended
  const std::function<asio::awaitable<Result<WaitState>>()> probe = [&]() -> asio::awaitable<Result<WaitState>> {
    KUBE_CO_TRY(slices,
                co_await cluster.list(kinds::resource_slices, slice.ns, kube::label_is(liqo::api::labels::replicated),
                                      slice.name.empty() ? "" : kube::name_is(slice.name)));
    const std::string left = model::not_denied(slices, consumer);
    if (left.empty()) co_return WaitState{.done = true};
    co_return WaitState{.seen = "still accepted: " + left};
  };
  co_return co_await wait_for(cluster, {.what = "the slices to be denied", .deadline = session.deadline()}, probe);
}

/// Prints which pods end although their drain is lifted, because it has begun to end them. A user who may not list pods
/// is shown nothing.
asio::awaitable<void> report_ending_pods(Session& session, Cluster& cluster, std::string selector) {
  const auto pods = co_await cluster.list(kube::resources::pods, "", std::move(selector));
  const std::string ending = pods ? model::ending_in_words(*pods) : "";
  if (!ending.empty()) session.output().info(cluster.scope(), ending);
}

/// Prints which pods of a whole Tenant end although its drain is lifted, because it has begun to end them. A user who
/// may not list pods is shown nothing.
asio::awaitable<Result<void>> report_ending_pods_of(Session& session, Cluster& cluster, kube::ObjectKey tenant) {
  KUBE_CO_TRY(found, co_await cluster.find(kinds::tenants, tenant));
  if (found && model::tenant_condition(*found) == "Drained" && found->annotation(annotations::keep_pods) != "true")
    co_await report_ending_pods(session, cluster,
                                model::pods_of_consumer(kube::string_at(found->spec(), {"clusterID"}), ""));
  co_return Result<void>();
}

asio::awaitable<Result<void>> change_tenant(Session& session, const TenantFlags& flags, const Change& change) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(key, co_await find_one(cluster, kinds::tenants, flags.name));
  const std::string_view question = flags.keep_pods ? change.keeping_question : change.question;
  if (!question.empty()) KUBE_CO_TRYV(co_await session.confirm("Tenant " + flags.name + ": " + std::string(question)));
  if (change.to == "Active") KUBE_CO_TRYV(co_await report_ending_pods_of(session, cluster, key));
  std::string before, consumer;
  const std::function<bool(Object&)> apply = [&](Object& tenant) {
    before = model::tenant_condition(tenant);
    consumer = kube::string_at(tenant.spec(), {"clusterID"});
    const bool keeps = tenant.annotation(annotations::keep_pods) == "true";
    const bool wants = flags.keep_pods;
    if (before == change.to && keeps == wants) return false;
    if (!change.from.empty() && std::find(change.from.begin(), change.from.end(), before) == change.from.end())
      return false;
    tenant.mutable_spec()["tenantCondition"] = change.to;
    if (wants) {
      tenant.set_annotation(annotations::keep_pods, "true");
    } else if (keeps) {
      kube::ensure_object(tenant.mutable_metadata(), "annotations").erase(annotations::keep_pods);
    }
    return true;
  };
  KUBE_CO_TRY(done, co_await update(cluster, kinds::tenants, key, apply));
  if (done == Ensured::dry_run) co_return Result<void>();
  if (done == Ensured::changed && change.to == "Drained" && flags.wait)
    KUBE_CO_TRYV(co_await wait_for_denial(session, cluster, consumer, {key.ns, ""}));
  if (done != Ensured::unchanged) {
    session.output().success(cluster.scope(), "Tenant " + flags.name + " " +
                                                  std::string(flags.keep_pods ? change.keeping_done : change.done));
  } else if (before == change.to) {
    session.output().warn(cluster.scope(), "Tenant " + flags.name + " is " + before + " already");
  } else {
    session.output().warn(cluster.scope(), "Tenant " + flags.name + " is " + before + ", nothing was changed" +
                                               (before == "Drained" ? " (liqoctl activate tenant undoes that)" : ""));
  }
  co_return Result<void>();
}

struct SliceFlags {
  std::string name, consumer;
  bool wait = true;
};

/// The change that a verb makes to a slice: the marks that it sets, and those that it removes.
struct SliceChange {
  std::vector<std::string_view> marks, unmarks;
  std::string_view question, done, already;
  bool drains = false;
};

/// Sets and removes the marks. Returns whether that changed anything.
bool apply_marks(const SliceChange& change, Object& slice) {
  bool changed = false;
  for (const std::string_view mark : change.marks) {
    if (slice.annotation(mark) == "true") continue;
    slice.set_annotation(mark, "true");
    changed = true;
  }
  for (const std::string_view mark : change.unmarks) {
    if (!slice.has_annotation(mark)) continue;
    kube::ensure_object(slice.mutable_metadata(), "annotations").erase(mark);
    changed = true;
  }
  return changed;
}

/// The name of the drained Tenant of a namespace; "" if none is drained, or this user may not see it.
asio::awaitable<std::string> drained_tenant_in(Cluster& cluster, std::string ns) {
  const auto tenants = co_await cluster.list(kinds::tenants, std::move(ns));
  if (!tenants) co_return "";
  const auto found =
      std::ranges::find_if(*tenants, [](const Object& tenant) { return model::tenant_condition(tenant) == "Drained"; });
  co_return found == tenants->end() ? std::string() : std::string(found->name());
}

asio::awaitable<Result<void>> change_slice(Session& session, const SliceFlags& flags, const SliceChange& change) {
  KUBE_CO_TRY(opened, co_await session.local());
  Cluster& cluster = *opened;
  KUBE_CO_TRY(ns, co_await find_tenant_namespace(cluster, flags.consumer));
  const kube::ObjectKey key{ns, flags.name};
  KUBE_CO_TRY(found, co_await cluster.find(kinds::resource_slices, key));
  if (!found)
    co_return kube::fail(Errc::missing, "consumer " + flags.consumer + " has no ResourceSlice " + flags.name +
                                            " here (liqoctl get resourceslice lists what there is)");
  if (found->label(liqo::api::labels::replicated) != "true")
    co_return kube::fail(Errc::invalid_input, "ResourceSlice " + flags.name + " is one that this cluster consumes: " +
                                                  "slices are cordoned in the cluster that provides them");
  const std::string what = "ResourceSlice " + flags.name + " of " + flags.consumer;
  if (!change.question.empty()) KUBE_CO_TRYV(co_await session.confirm(what + ": " + std::string(change.question)));
  const bool ends_drain = std::ranges::find(change.unmarks, annotations::drain) != change.unmarks.end();
  std::string drained_tenant;
  if (ends_drain) drained_tenant = co_await drained_tenant_in(cluster, ns);
  // While the Tenant is drained, its pods go on ending, and none starts again.
  if (ends_drain && drained_tenant.empty() && liqo::core::is_drained(*found))
    co_await report_ending_pods(session, cluster, model::pods_of_consumer(flags.consumer, flags.name));
  const std::function<bool(Object&)> apply = [&change](Object& slice) { return apply_marks(change, slice); };
  KUBE_CO_TRY(done, co_await update(cluster, kinds::resource_slices, key, apply));
  if (done == Ensured::dry_run) co_return Result<void>();
  if (done == Ensured::changed && change.drains && flags.wait)
    KUBE_CO_TRYV(co_await wait_for_denial(session, cluster, flags.consumer, key));
  if (done == Ensured::unchanged) {
    session.output().warn(cluster.scope(), what + " " + std::string(change.already));
  } else {
    session.output().success(cluster.scope(), what + " " + std::string(change.done));
  }
  if (!drained_tenant.empty())
    session.output().warn(cluster.scope(), "Tenant " + drained_tenant + " is still Drained (liqoctl uncordon tenant " +
                                               drained_tenant + ")");
  co_return Result<void>();
}

void add_tenant_verb(CommandLine& line, const std::string& verb, const std::string& what, const Change& change) {
  auto flags = std::make_shared<TenantFlags>();
  const cli::Command app = line.command(
      line.verb(verb), {"tenant", what},
      {.writes = true, .timeout = std::chrono::minutes(2), .argument = Candidates::tenants, .aliases = {"tenants"}},
      [flags, change](Session& session) { return change_tenant(session, *flags, change); });
  app.option("name", flags->name, "Name of the Tenant: the consumer's ID").required().type_name("NAME");
  if (verb != "drain") return;
  app.flag("--keep-pods", flags->keep_pods, "Leave the pods that run; only new ones are refused");
  app.flag("--wait", flags->wait, "Wait until its slices are denied (default true)");
}

void add_slice_verb(CommandLine& line, const std::string& verb, const std::string& what, const SliceChange& change) {
  auto flags = std::make_shared<SliceFlags>();
  const cli::Command app =
      line.command(line.verb(verb), {"resourceslice", what},
                   {.writes = true,
                    .timeout = std::chrono::minutes(2),
                    .argument = Candidates::slices,
                    .aliases = {"rs", "resourceslices"}},
                   [flags, change](Session& session) { return change_slice(session, *flags, change); });
  app.option("name", flags->name, "Name of the slice").required().type_name("NAME");
  add_remote_cluster_id(app, flags->consumer, "ID of the consumer");
  if (change.drains) app.flag("--wait", flags->wait, "Wait until it is denied (default true)");
}

}  // namespace

void add_control(CommandLine& line) {
  add_tenant_verb(line, "cordon", "Grant a consumer nothing new; what is granted stays",
                  {.to = "Cordoned",
                   .from = {"Active"},
                   .question = "new slices and new pods will be refused; pods that run stay.",
                   .done = "cordoned"});
  add_tenant_verb(line, "uncordon", "Put a tenant back to work that was cordoned or drained",
                  {.to = "Active", .from = {"Cordoned", "Drained"}, .question = {}, .done = "is Active again"});
  add_tenant_verb(line, "drain", "Take back what a consumer was granted; its pods here end",
                  {.to = "Drained",
                   .from = {},
                   .question = "its slices will be denied, new pods refused, and pods that run removed.",
                   .done = "drained: its pods end within their grace periods",
                   .keeping_question = "its slices will be denied and new pods refused; pods that run stay.",
                   .keeping_done = "drained: its pods that run stay"});
  add_tenant_verb(line, "activate", "Put a tenant back to work from any state",
                  {.to = "Active", .from = {}, .question = {}, .done = "is Active"});
  // The Go version reads the first key; its documentation names the second.
  add_slice_verb(line, "cordon", "Refuse new pods of one slice; pods that run stay",
                 {.marks = {annotations::cordon, annotations::cordoned_resource},
                  .unmarks = {},
                  .question = "new pods will be refused; those that run stay.",
                  .done = "cordoned",
                  .already = "is cordoned already"});
  add_slice_verb(line, "drain", "Take back what was granted to one slice; its pods here end",
                 {.marks = {annotations::drain},
                  .unmarks = {},
                  .question = "it will be denied, new pods refused, and pods that run removed.",
                  .done = "drained",
                  .already = "is drained already",
                  .drains = true});
  add_slice_verb(line, "uncordon", "Admit pods of a slice again that was cordoned or drained",
                 {.marks = {},
                  .unmarks = {annotations::cordon, annotations::cordoned_resource, annotations::drain},
                  .question = {},
                  .done = "uncordoned",
                  .already = "is neither cordoned nor drained"});
}

}  // namespace liqoctl
