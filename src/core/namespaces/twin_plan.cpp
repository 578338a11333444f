#include "core/namespaces/twin_plan.hpp"

#include <algorithm>
#include <set>

#include "core/common/bindings.hpp"
#include "core/common/difference.hpp"
#include "core/common/names.hpp"
#include "core/namespaces/belonging.hpp"
#include "core/namespaces/remote_name.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace annotations = api::annotations;
namespace labels = api::labels;
namespace {

constexpr std::string_view levels[] = {"privileged", "baseline", "restricted"};
constexpr std::string_view default_level = "baseline";
constexpr std::size_t max_message = 300;

json::object twin_labels(const TwinContext& ctx) {
  return {{labels::remote_cluster_id, ctx.origin}, {labels::pod_security, ctx.pod_security}};
}
/// `existing`: null if it is to be created.
json::object twin_annotations(const api::WantedNamespace& wanted, const kube::Object* existing,
                              const TwinContext& ctx) {
  json::object made{{annotations::managed_by_namespace_map, ctx.map_id()}, {annotations::original_name, wanted.local}};
  if (ctx.checks_owners || (existing && existing->has_annotation(annotations::checks_owners)))
    made[annotations::checks_owners] = ctx.checks_owners ? "true" : "false";
  if (ctx.holds_budgets || (existing && existing->has_annotation(annotations::holds_budgets)))
    made[annotations::holds_budgets] = ctx.holds_budgets ? "true" : "false";
  return made;
}

std::optional<json::object> metadata_patch(const kube::Object& object, const json::object& wanted_labels,
                                           const json::object& wanted_annotations) {
  json::object metadata;
  if (auto changes = changed_entries(object.labels(), wanted_labels); !changes.empty())
    metadata["labels"] = std::move(changes);
  if (auto changes = changed_entries(object.annotations(), wanted_annotations); !changes.empty())
    metadata["annotations"] = std::move(changes);
  if (metadata.empty()) return std::nullopt;
  metadata["resourceVersion"] = object.resource_version();
  return json::object{{"metadata", std::move(metadata)}};
}

}  // namespace

kube::Result<std::string> check_origin(const api::NamespaceMap& map, const kube::Object* tenant_namespace) {
  const std::string origin(map.origin());
  const auto refuse = [](std::string text) { return kube::fail(kube::Errc::invalid_input, std::move(text)); };
  if (!is_dns_label(origin))
    return refuse("its label " + std::string(labels::replication_origin) + " is no cluster ID");
  if (!tenant_namespace || !is_tenant_namespace(*tenant_namespace))
    return refuse("it is not in a tenant namespace, so nothing is made for it; delete it");
  const std::string_view tenant = tenant_namespace->label(labels::remote_cluster_id);
  if (tenant != origin)
    return refuse("it claims to come from cluster " + origin + ", but this is the tenant namespace of " +
                  (tenant.empty() ? "no cluster" : std::string(tenant)) + "; nothing is made for it");
  return origin;
}

kube::Result<std::string> twin_pod_security(const kube::Object& tenant_namespace) {
  const std::string_view asked = tenant_namespace.annotation(annotations::twin_pod_security);
  if (asked.empty()) return std::string(default_level);
  if (std::ranges::find(levels, asked) != std::end(levels)) return std::string(asked);
  return kube::fail(kube::Errc::invalid_input,
                    "the annotation " + std::string(annotations::twin_pod_security) + " of namespace " +
                        std::string(tenant_namespace.name()) + " is " + kube::in_quotes(asked, 50) +
                        "; it must be privileged, baseline or restricted, and baseline holds until it is");
}

TwinPlan plan_twin(const api::WantedNamespace& wanted, const kube::Object* existing, const TwinContext& ctx) {
  using namespace twin_action;
  std::string refusal = refuse_twin_name(wanted.remote, ctx.liqo_namespace, ctx.storage_namespace);
  if (refusal.empty() && !is_dns_label(wanted.local))
    refusal = "it is wanted for what cannot be the name of a namespace";
  // A twin that exists is kept when the policy for names changes.
  if (refusal.empty() && !existing) refusal = refuse_new_twin_name(wanted.remote, ctx.names);
  if (!refusal.empty()) return Refuse{std::move(refusal)};
  if (!existing) {
    kube::Object twin = kube::Object::make(kube::resources::namespaces, {"", wanted.remote});
    twin.mutable_metadata()["labels"] = twin_labels(ctx);
    twin.mutable_metadata()["annotations"] = twin_annotations(wanted, nullptr, ctx);
    return Create{std::move(twin)};
  }
  const std::string_view cluster = existing->label(labels::remote_cluster_id);
  if (existing->annotation(annotations::managed_by_namespace_map) != ctx.map_id() || is_tenant_namespace(*existing) ||
      (!cluster.empty() && cluster != ctx.origin))
    return Refuse{"the provider has a namespace " + wanted.remote +
                  " already, which was not made for this cluster; use another name, or ask the provider to remove it"};
  if (existing->is_deleting()) return AwaitEnd{};
  const std::string_view original = existing->annotation(annotations::original_name);
  if (!original.empty() && original != wanted.local)
    return Refuse{wanted.remote + " is the twin of namespace " + std::string(original) +
                  " already, and a twin belongs to one namespace; use another name"};
  if (auto patch = metadata_patch(*existing, twin_labels(ctx), twin_annotations(wanted, existing, ctx)))
    return Patch{std::move(*patch)};
  return Keep{};
}

kube::Object forge_twin_binding(std::string_view twin, const TwinContext& ctx) {
  kube::Object binding = kube::Object::make(api::kinds::role_bindings, {std::string(twin), ctx.map.ns});
  binding.set_label(labels::app_managed_by, labels::app_managed_by_liqo);
  binding.set_label(labels::remote_cluster_id, ctx.origin);
  binding.set_annotation(annotations::managed_by_namespace_map, ctx.map_id());
  binding.tree()["subjects"] = json::array{make_subject("Group", ctx.origin)};
  binding.tree()["roleRef"] = make_role_ref(api::remote_role);
  return binding;
}

BindingPlan plan_twin_binding(std::string_view twin, const kube::Object* existing, const TwinContext& ctx) {
  using namespace binding_action;
  if (!existing) return Create{};
  const kube::Object wanted = forge_twin_binding(twin, ctx);
  const bool is_ours = existing->annotation(annotations::managed_by_namespace_map) == ctx.map_id();
  const bool has_subject = has_same_subjects(*existing, wanted), has_role = has_same_role(*existing, wanted);
  if (!is_ours && !(has_role && has_subject))
    return Refuse{"RoleBinding " + existing->key().text() + " exists and was not made by Liqo; remove it"};
  if (!has_role) return Replace{};
  auto patch = metadata_patch(*existing, wanted.labels(), wanted.annotations());
  if (!has_subject) {
    if (!patch) patch = json::object{{"metadata", json::object{{"resourceVersion", existing->resource_version()}}}};
    (*patch)["subjects"] = *wanted.tree().if_contains("subjects");
  }
  if (!patch) return Keep{};
  return Patch{std::move(*patch)};
}

std::string too_many_twins(std::size_t max_count) {
  return "the provider makes no more than " + std::to_string(max_count) + " namespaces for one cluster; offload fewer";
}

TwinSelection select_twins(const api::NamespaceMap& map, std::span<const kube::Object> twins, std::size_t elsewhere,
                           std::size_t max_count) {
  std::map<std::string_view, std::string_view> existing;  // twin -> local namespace
  for (const kube::Object& twin : twins) existing[twin.name()] = twin.annotation(annotations::original_name);
  std::vector<api::WantedNamespace> wanted = map.desired_mapping();
  const auto rank = [&](const api::WantedNamespace& entry) {
    const auto found = existing.find(entry.remote);
    return found != existing.end() && found->second == entry.local ? 0 : 1;
  };
  std::ranges::sort(wanted, [&](const auto& a, const auto& b) {
    return std::tuple(rank(a), a.local) < std::tuple(rank(b), b.local);
  });
  TwinSelection selection;
  std::map<std::string, std::string> used;  // twin -> local namespace
  const auto refuse = [&](const api::WantedNamespace& entry, std::string why) {
    if (selection.refused.size() >= max_count) {
      ++selection.left_out;
      return;
    }
    selection.refused.emplace(
        entry.local,
        api::MappedNamespace{
            .local = entry.local, .remote = entry.remote, .phase = "CreationLoopBackOff", .message = std::move(why)});
  };
  for (api::WantedNamespace& entry : wanted) {
    const auto [user, is_new] = used.try_emplace(entry.remote, entry.local);
    if (!is_new) {
      refuse(entry,
             "the wanted name is that of the twin of another namespace already, and a twin belongs to one namespace; "
             "use another name");
    } else if (rank(entry) > 0 && selection.taken.size() + elsewhere >= max_count) {
      refuse(entry, too_many_twins(max_count));
    } else {
      selection.taken.push_back(std::move(entry));
    }
  }
  return selection;
}

std::optional<json::object> plan_map_status(const kube::Object& map,
                                            const std::map<std::string, api::MappedNamespace>& entries) {
  const json::object& present = kube::object_at(map.status(), {"currentMapping"});
  json::object changes;
  for (const auto& [local, entry] : entries) {
    json::object wanted{{"remoteNamespace", entry.remote}, {"phase", entry.phase}};
    const std::string message(kube::cut_text(entry.message, max_message));
    if (!message.empty()) wanted["message"] = message;
    const json::value* before = present.if_contains(local);
    if (before && *before == wanted) continue;
    if (message.empty()) wanted["message"] = nullptr;
    changes[local] = std::move(wanted);
  }
  for (const auto& [local, before] : present)
    if (!entries.contains(std::string(local))) changes[local] = nullptr;
  if (changes.empty()) return std::nullopt;
  return json::object{{"metadata", json::object{{"resourceVersion", map.resource_version()}}},
                      {"status", json::object{{"currentMapping", std::move(changes)}}}};
}

}  // namespace liqo::core
