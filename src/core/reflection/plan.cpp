// Decides about one reflected object from both sides, in the same way for every kind.
#include <algorithm>

#include "core/common/digest.hpp"
#include "core/common/meta.hpp"
#include "core/policy/orders.hpp"
#include "core/reflection/forge.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core::reflection {
namespace {

using namespace reflection_action;
namespace annotations = api::annotations;

/// Whether the annotation is there with any value but "false".
bool is_set(const kube::Object& object, std::string_view key) {
  if (!object.has_annotation(key)) return false;
  return kube::lower_case(object.annotation(key)) != "false";
}

bool is_selected(const ReflectionRule& rule, const kube::Object& local) {
  const auto& [kind, policy, ctx, without_notes, named_by_pod, refused] = rule;
  const bool says_itself = is_set(local, annotations::skip_reflection) || is_set(local, annotations::allow_reflection);
  if (kind.selected_by && says_itself) return !is_set(local, annotations::skip_reflection);
  if (const auto other = kind.selected_by ? kind.selected_by(local, ctx) : std::nullopt)
    return policy == SelectionPolicy::allow_list ? is_set(*other, annotations::allow_reflection)
                                                 : !is_set(*other, annotations::skip_reflection);
  // Objects that every namespace needs are left out only on request, even under an allow list.
  if (policy != SelectionPolicy::allow_list || kind.is_always_reflected(local.name()))
    return !is_set(local, annotations::skip_reflection);
  return is_set(local, annotations::allow_reflection);
}

/// Whether name, policy and annotations want the object reflected.
bool is_wished(const ReflectionRule& rule, const kube::Object& local) {
  return !rule.kind.remote_name(local.name(), rule.ctx).empty() && is_selected(rule, local);
}

/// Why the object is not reflected whatever policy and annotations say, nullopt if it may be.
std::optional<std::string_view> why_never(const ReflectionRule& rule, const kube::Object& local) {
  if (const auto never = rule.kind.never_reflected(local)) return never;
  const auto held = rule.kind.needs_pod ? rule.kind.needs_pod(local) : std::nullopt;
  return rule.named_by_pod && is_allowed(local) ? std::nullopt : held;
}

/// The digest among the annotations says that this wish was applied, so nothing of an older one is left.
bool has_metadata(const kube::Object& remote, const kube::Object& desired) {
  return core::covers(remote.labels(), desired.labels()) && core::covers(remote.annotations(), desired.annotations());
}

/// Why the object at the provider is no copy of this kind, "" if it is one.
std::string why_foreign(const ReflectedKind& kind, const kube::Object& remote, const core::ForgingContext& ctx) {
  if (!core::is_reflected(remote, ctx.clusters)) return "does not come from here";
  // Operators copy labels of an object to those that they make for it.
  if (remote.controller()) return "belongs to another object there";
  return std::string(kind.no_copy(remote, ctx));
}

/// The beginning of a sentence: "Secret login is `how` to cluster milan".
std::string describe_reflection(const ReflectionRule& rule, const kube::Object& local, std::string_view how) {
  return std::string(rule.kind.resource.kind) + " " + std::string(local.name()) + " is " + std::string(how) +
         " to cluster " + rule.ctx.clusters.remote;
}

/// The plan for an object that is never reflected. A copy by the Go version stays, because pods may use it.
ReflectionPlan leave_out(const ReflectionRule& rule, const kube::Object& local, const kube::Object* remote,
                         std::string_view reason) {
  std::string message;
  if (!reason.empty()) message = describe_reflection(rule, local, "not reflected") + ": it " + std::string(reason);
  if (!remote || remote->is_deleting() || !remote->has_annotation(annotations::reflected_digest))
    return Keep{std::move(message)};
  return Remove{.name = std::string(remote->name()), .uid = std::string(remote->uid()), .message = std::move(message)};
}

}  // namespace

bool is_copy(const ReflectedKind& kind, const kube::Object& remote, const core::ForgingContext& ctx) {
  return why_foreign(kind, remote, ctx).empty();
}

bool is_allowed(const kube::Object& local) { return is_set(local, annotations::allow_reflection); }

std::optional<kube::Object> wanted_copy(const ReflectionRule& rule, const kube::Object& local,
                                        std::string_view remote_namespace) {
  if (!is_wished(rule, local) || why_never(rule, local)) return std::nullopt;
  const bool is_narrowed = rule.refused && rule.kind.narrowed;
  kube::Object wanted =
      rule.kind.forge(is_narrowed ? rule.kind.narrowed(local, *rule.refused) : local, remote_namespace, rule.ctx);
  if (rule.without_notes) core::take_out_notes(wanted.mutable_metadata());
  wanted.set_annotation(annotations::reflected_digest, core::digest_hex(wanted.text()));
  return wanted;
}

ReflectionPlan plan_reflection(const ReflectionRule& rule, const kube::Object* local, const kube::Object* remote,
                               std::string_view remote_namespace) {
  return plan_reflection(rule, local, local ? wanted_copy(rule, *local, remote_namespace) : std::nullopt, remote);
}

ReflectionPlan plan_reflection(const ReflectionRule& rule, const kube::Object* local,
                               std::optional<kube::Object> wanted, const kube::Object* remote) {
  const auto& [kind, policy, ctx, without_notes, named_by_pod, refused] = rule;
  const std::string foreign = remote ? why_foreign(kind, *remote, ctx) : std::string();
  if (const auto never = local && is_wished(rule, *local) ? why_never(rule, *local) : std::nullopt)
    return leave_out(rule, *local, foreign.empty() ? remote : nullptr, *never);
  if (!foreign.empty()) {
    if (!wanted) return Keep{};
    return Refuse{"cluster " + ctx.clusters.remote + " has a " + std::string(kind.copies().kind) + " named \"" +
                  std::string(remote->name()) + "\" in the twin namespace that " + foreign +
                  ": the remote object already exists"};
  }
  if (!wanted) {
    if (!remote || remote->is_deleting()) return Keep{};
    Remove removal{.name = std::string(remote->name()), .uid = std::string(remote->uid()), .message = {}};
    if (local)
      removal.message = describe_reflection(rule, *local, "no longer reflected") +
                        (policy == SelectionPolicy::allow_list && !kind.is_always_reflected(local->name())
                             ? ": under an AllowList only what is annotated liqo.io/allow-reflection is"
                             : ", as annotated");
    return removal;
  }
  if (remote && remote->is_deleting()) return Keep{};

  kube::Object& desired = *wanted;
  if (!remote) return Apply{std::move(desired), false};
  const Comparison compared = kind.compare(*remote, desired);
  if (compared == Comparison::replace)
    return Remove{.name = std::string(remote->name()), .uid = std::string(remote->uid()), .message = {}};
  if (compared == Comparison::same && has_metadata(*remote, desired)) {
    auto patch = kind.surplus ? kind.surplus(*remote, desired) : kube::json::object();
    if (patch.empty()) return Keep{};
    patch["metadata"] = {{"uid", remote->uid()}, {"resourceVersion", remote->resource_version()}};
    return Trim{std::move(patch)};
  }
  desired.mutable_metadata()["uid"] = remote->uid();
  return Apply{std::move(desired), true};
}

}  // namespace liqo::core::reflection
