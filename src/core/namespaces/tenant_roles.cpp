#include "core/namespaces/tenant_roles.hpp"

#include <algorithm>

#include "core/common/bindings.hpp"
#include "core/common/digest.hpp"
#include "core/common/names.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace annotations = api::annotations;
namespace labels = api::labels;
namespace {

constexpr std::string_view reads[] = {"get", "list", "watch"};
constexpr std::size_t max_kinds = 100, max_name = 253, digest_length = 16, max_word = 80;

std::vector<std::string> words(const json::value& rule, std::string_view list) {
  return kube::strings_in(kube::array_at(rule, {list}));
}

/// Whether the group is one of Kubernetes or Liqo. Groups of CRDs have a dot, and *.k8s.io is reserved for Kubernetes.
bool is_protected(std::string_view group) {
  return !group.contains('.') || is_below(group, "k8s.io") || is_below(group, "liqo.io");
}

/// Whether reading the subresource has an effect: `kubectl exec` over WebSocket is a GET.
bool acts(std::string_view resource) {
  return resource.contains('/') && !resource.ends_with("/status") && resource != "pods/log";
}

std::string full_name(std::string_view resource, std::string_view group) {
  return kube::in_quotes(group.empty() ? std::string(resource) : std::string(resource) + "." + std::string(group),
                         max_word);
}

/// What is wrong with one rule, and the kinds that it lets write.
RoleVerdict judge_rule(const json::value& rule) {
  RoleVerdict verdict;
  const auto refuse = [&verdict](std::string why) {
    verdict.refusal = std::move(why);
    return std::move(verdict);
  };
  const auto groups = words(rule, "apiGroups"), resources = words(rule, "resources"), verbs = words(rule, "verbs");
  const auto writing = std::ranges::find_if(
      verbs, [](std::string_view verb) { return std::ranges::find(reads, verb) == std::end(reads); });
  for (std::string_view group : groups)
    if (group.contains('*')) return refuse("names the group \"*\", which is more than can be looked at");
  for (std::string_view resource : resources) {
    if (resource.contains('*'))
      return refuse("names the resource " + kube::in_quotes(resource, max_word) +
                    ", which is more than can be looked at");
    for (std::string_view group : groups) {
      if (is_protected(group)) {
        if (acts(resource)) return refuse("gives " + full_name(resource, group) + ", past the pod firewall");
        if (writing != verbs.end())
          return refuse("lets " + kube::in_quotes(*writing, max_word) + " " + full_name(resource, group) +
                        ", past the pod firewall; roles of tenants write custom kinds only");
      } else if (writing != verbs.end() && !resource.contains('/')) {
        verdict.writable.insert(std::string(resource) + "." + std::string(group));
      }
    }
  }
  return verdict;
}

}  // namespace

RoleVerdict judge_tenant_role(const kube::Object& role) {
  RoleVerdict verdict;
  std::size_t number = 0;
  for (const json::value& rule : kube::array_at(role.tree(), {"rules"})) {
    ++number;
    RoleVerdict one = judge_rule(rule);
    verdict.writable.merge(one.writable);
    if (!one.refusal.empty()) {
      verdict.refusal = "its rule " + std::to_string(number) + " " + one.refusal;
      return verdict;
    }
  }
  for (const std::string& kind : verdict.writable)
    if (!is_label_key("count/" + kind)) {
      verdict.refusal = "it names " + kube::in_quotes(kind) + ", which no ResourceQuota can count";
      return verdict;
    }
  if (verdict.writable.size() > max_kinds)
    verdict.refusal = "it lets write more than " + std::to_string(max_kinds) + " kinds";
  return verdict;
}

std::string tenant_role_binding_name(std::string_view tenant_namespace, std::string_view role) {
  const std::string name = std::string(tenant_namespace) + "-" + std::string(role);
  if (name.size() <= max_name) return name;
  return name.substr(0, max_name - digest_length - 1) + "-" + sha256_hex(name).substr(0, digest_length);
}

kube::Object forge_tenant_role_binding(std::string_view twin, const TenantRole& given, std::string_view map_id) {
  const auto& [tenant_namespace, consumer, role] = given;
  kube::Object binding = kube::Object::make(api::kinds::role_bindings,
                                            {std::string(twin), tenant_role_binding_name(tenant_namespace, role)});
  binding.set_label(labels::app_managed_by, labels::app_managed_by_liqo);
  binding.set_label(labels::remote_cluster_id, consumer);
  binding.set_annotation(annotations::managed_by_namespace_map, map_id);
  binding.set_annotation(annotations::tenant_role, role);
  binding.tree()["subjects"] = json::array{make_subject("Group", consumer)};
  binding.tree()["roleRef"] = make_role_ref(role);
  return binding;
}

bool is_tenant_role_binding(const kube::Object& binding) {
  return binding.has_annotation(annotations::tenant_role) &&
         binding.label(labels::app_managed_by) == labels::app_managed_by_liqo;
}

bool is_same_binding(const kube::Object& binding, const kube::Object& wanted) {
  return is_tenant_role_binding(binding) && has_same_subjects(binding, wanted) && has_same_role(binding, wanted) &&
         binding.annotation(annotations::tenant_role) == wanted.annotation(annotations::tenant_role);
}

}  // namespace liqo::core
