// What is to be done about one reflected object, given both sides: the same for every kind.
#include <algorithm>

#include "forge.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/forge/meta.hpp"
#include "liqo/core/mapping/names.hpp"

namespace liqo::reflection {
namespace json = kube::json;
namespace {

using namespace reflection_action;
namespace annotations = api::annotations;

/// An annotation that is there and does not say "false".
bool is_set(const kube::Object& object, std::string_view key) {
  if (!object.has_annotation(key)) return false;
  constexpr std::string_view no = "false";
  return !std::ranges::equal(
      object.annotation(key), no, {}, [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : int(c); },
      [](char c) { return int(c); });
}

bool is_selected(const ReflectedKind& kind, SelectionPolicy policy, const kube::Object& local) {
  // Objects that every namespace needs are left out only on request, also under an allow list.
  if (policy == SelectionPolicy::deny_list || kind.is_always_reflected(local.name()))
    return !is_set(local, annotations::skip_reflection);
  return is_set(local, annotations::allow_reflection);
}

bool covers_metadata(const json::object& have, const json::object& wanted) {
  for (const auto& [key, value] : wanted) {
    const json::value* present = have.if_contains(key);
    if (!present || *present != value) return false;
  }
  return true;
}

/// The digest tells that the wish is the one that was applied, so also that nothing has to be removed; the comparison
/// tells that nobody changed the copy since.
bool is_as_desired(const ReflectedKind& kind, const kube::Object& remote, const kube::Object& desired) {
  if (!covers_metadata(remote.labels(), desired.labels()) ||
      !covers_metadata(remote.annotations(), desired.annotations()))
    return false;
  return std::ranges::all_of(kind.owned_fields, [&](std::string_view field) {
    return is_same_field(remote.tree().if_contains(field), desired.tree().if_contains(field));
  });
}

}  // namespace

ReflectionPlan plan_reflection(const ReflectedKind& kind, SelectionPolicy policy, const kube::Object* local,
                               const kube::Object* remote, std::string_view remote_namespace,
                               const core::ForgingContext& ctx) {
  const std::string name = local ? kind.remote_name(local->name(), ctx) : std::string();
  const bool wanted = local && !name.empty() && is_selected(kind, policy, *local);
  if (remote && !core::is_reflected(*remote, ctx.clusters)) {
    if (!wanted) return Keep{};
    return Refuse{"Cluster " + ctx.clusters.remote + " has a " + std::string(kind.name) + " named \"" + name +
                  "\" in the twin namespace that does not come from here: the remote object already exists."};
  }
  if (!wanted) {
    if (!remote || remote->is_deleting()) return Keep{};
    Remove removal{.name = std::string(remote->name()), .uid = std::string(remote->uid()), .message = {}};
    if (local) removal.message = "Not reflected to cluster " + ctx.clusters.remote + " any more, as annotated.";
    return removal;
  }
  if (remote && remote->is_deleting()) return Keep{};

  kube::Object desired = kind.forge(*local, remote_namespace, ctx);
  desired.set_annotation(annotations::reflected_digest, core::digest_hex(desired.text()));
  if (!remote) return Apply{std::move(desired), false};
  if (is_as_desired(kind, *remote, desired)) return Keep{};
  if (kind.needs_replacement(*remote, desired))
    return Remove{.name = std::string(remote->name()), .uid = std::string(remote->uid()), .message = {}};
  desired.mutable_metadata()["uid"] = remote->uid();
  return Apply{std::move(desired), true};
}

}  // namespace liqo::reflection
