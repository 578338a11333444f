#include "webhook/configuration_forge.hpp"

#include <algorithm>

#include "core/common/selector_text.hpp"
#include "core/reflection/kind.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/names.hpp"

namespace liqo::webhook {
namespace {

namespace json = kube::json;

/// The objects and the callers whose requests a webhook reviews.
enum class Scope {
  all,
  unskipped,  ///< not those with the label liqo.io/webhook-skip=true
  offloaded,  ///< in offloaded namespaces, except kube-system and that of this process
  selected,   ///< namespaces that are selected automatically
  tenants,    ///< namespaces that are tenant namespaces
  of_peers,   ///< in namespaces that belong to a peer: tenant namespaces and twins
  by_peers,   ///< in namespaces that belong to a peer, and only in requests of consumers
};

/// A row: which requests an API server sends to which path.
struct Hook {
  bool mutating;
  std::string_view name, path;
  std::string_view group = {}, version = {};
  std::string_view resources = {};  ///< separated by spaces; "" = the copies of all kinds that no other row reviews
  std::string_view operations;
  Scope scope = Scope::all;
  bool reserves = false;       ///< an answer has an effect, except in a dry run
  bool may_fail = false;       ///< requests pass unchanged if no replica answers
  std::string_view only = {};  ///< a CEL condition: only such requests are sent
};

// CEL. `loses_toleration` holds when an update removes the toleration that admission has added to a pod, so that no
// other update of a pod costs a request.
constexpr std::string_view loses_toleration =
    "has(oldObject.spec.tolerations)"
    " && oldObject.spec.tolerations.exists(t, has(t.key) && t.key == 'virtual-node.liqo.io/not-allowed')"
    " && !(has(object.spec.tolerations)"
    " && object.spec.tolerations.exists(t, has(t.key) && t.key == 'virtual-node.liqo.io/not-allowed'))";
static_assert(loses_toleration.contains(api::virtual_node_taint));
constexpr std::string_view changes_template =
    "request.operation == 'CREATE' || object.spec.template != oldObject.spec.template";

constexpr std::string_view written = "CREATE UPDATE";
constexpr std::string_view offloading = "offloading.liqo.io", authentication = "authentication.liqo.io";

// The API server evaluates the match conditions of a webhook for each request that its rule names, which takes 0.2 ms.
// Updates of ShadowPods have a row of their own, so that no creation waits for their conditions.
constexpr Hook hooks[] = {
    {.mutating = true,
     .name = "pod.mutate.liqo.io",
     .path = "/mutate/pod",
     .group = "",
     .version = "v1",
     .resources = "pods",
     .operations = "CREATE",
     .scope = Scope::offloaded},
    {.mutating = true,
     .name = "update.pod.mutate.liqo.io",
     .path = "/mutate/pod",
     .group = "",
     .version = "v1",
     .resources = "pods",
     .operations = "UPDATE",
     .scope = Scope::offloaded,
     .may_fail = true,
     .only = loses_toleration},
    {.mutating = true,
     .name = "daemonset.mutate.liqo.io",
     .path = "/mutate/daemonsets",
     .group = "apps",
     .version = "v1",
     .resources = "daemonsets",
     .operations = written,
     .scope = Scope::offloaded,
     .only = changes_template},
    {.mutating = true,
     .name = "namespace.mutate.liqo.io",
     .path = "/mutate/namespaces",
     .group = "",
     .version = "v1",
     .resources = "namespaces",
     .operations = "CREATE",
     .scope = Scope::selected},
    {.mutating = true,
     .name = "shadowpod.mutate.liqo.io",
     .path = "/mutate/shadowpods",
     .group = offloading,
     .version = "v1beta1",
     .resources = "shadowpods",
     .operations = "CREATE"},
    {.mutating = true,
     .name = "update.shadowpod.mutate.liqo.io",
     .path = "/mutate/shadowpods",
     .group = offloading,
     .version = "v1beta1",
     .resources = "shadowpods",
     .operations = "UPDATE"},
    {.mutating = true,
     .name = "virtualnode.mutate.liqo.io",
     .path = "/mutate/virtualnodes",
     .group = offloading,
     .version = "v1beta1",
     .resources = "virtualnodes",
     .operations = written,
     .scope = Scope::unskipped},
    {.mutating = true,
     .name = "fc.mutate.liqo.io",
     .path = "/mutate/foreign-cluster",
     .group = "core.liqo.io",
     .version = "v1beta1",
     .resources = "foreignclusters",
     .operations = written,
     .scope = Scope::unskipped},
    {.mutating = true,
     .name = "tenant.mutate.liqo.io",
     .path = "/mutate/tenants",
     .group = authentication,
     .version = "v1beta1",
     .resources = "tenants",
     .operations = written},
    {.mutating = false,
     .name = "shadowpod.validate.liqo.io",
     .path = "/validate/shadowpods",
     .group = offloading,
     .version = "v1beta1",
     .resources = "shadowpods",
     .operations = "CREATE",
     .reserves = true},
    {.mutating = false,
     .name = "update.shadowpod.validate.liqo.io",
     .path = "/validate/shadowpods",
     .group = offloading,
     .version = "v1beta1",
     .resources = "shadowpods",
     .operations = "UPDATE",
     .reserves = true},
    {.mutating = false,
     .name = "virtualnode.validate.liqo.io",
     .path = "/validate/virtualnodes",
     .group = offloading,
     .version = "v1beta1",
     .resources = "virtualnodes",
     .operations = written,
     .scope = Scope::unskipped},
    {.mutating = false,
     .name = "nsoff.validate.liqo.io",
     .path = "/validate/namespace-offloading",
     .group = offloading,
     .version = "v1beta1",
     .resources = "namespaceoffloadings",
     .operations = written,
     .scope = Scope::unskipped},
    {.mutating = false,
     .name = "namespacemap.validate.liqo.io",
     .path = "/validate/namespacemaps",
     .group = offloading,
     .version = "v1beta1",
     .resources = "namespacemaps namespacemaps/status",
     .operations = written},
    {.mutating = false,
     .name = "quota.validate.liqo.io",
     .path = "/validate/quotas",
     .group = offloading,
     .version = "v1beta1",
     .resources = "quotas",
     .operations = written},
    {.mutating = false,
     .name = "resourceslice.validate.liqo.io",
     .path = "/validate/resourceslices",
     .group = authentication,
     .version = "v1beta1",
     .resources = "resourceslices resourceslices/status",
     .operations = written},
    {.mutating = false,
     .name = "renew.validate.liqo.io",
     .path = "/validate/renews",
     .group = authentication,
     .version = "v1beta1",
     .resources = "renews renews/status",
     .operations = written},
    {.mutating = false,
     .name = "secret.validate.liqo.io",
     .path = "/validate/secrets",
     .group = "",
     .version = "v1",
     .resources = "secrets",
     .operations = "CREATE",
     .scope = Scope::of_peers},
    {.mutating = false,
     .name = "service.validate.liqo.io",
     .path = "/validate/services",
     .group = "",
     .version = "v1",
     .resources = "services",
     .operations = written,
     .scope = Scope::of_peers},
    {.mutating = false,
     .name = "ingress.validate.liqo.io",
     .path = "/validate/ingresses",
     .group = "networking.k8s.io",
     .version = "v1",
     .resources = "ingresses",
     .operations = written,
     .scope = Scope::of_peers},
    {.mutating = false,
     .name = "persistentvolumeclaim.validate.liqo.io",
     .path = "/validate/persistentvolumeclaims",
     .group = "",
     .version = "v1",
     .resources = "persistentvolumeclaims",
     .operations = written,
     .scope = Scope::of_peers},
    {.mutating = false,
     .name = "poddisruptionbudget.validate.liqo.io",
     .path = "/validate/poddisruptionbudgets",
     .group = "policy",
     .version = "v1",
     .resources = "poddisruptionbudgets",
     .operations = written,
     .scope = Scope::by_peers},
    {.mutating = false,
     .name = "twin-object.validate.liqo.io",
     .path = "/validate/twin-objects",
     .operations = written,
     .scope = Scope::by_peers},
    {.mutating = false,
     .name = "shadowendpointslice.validate.liqo.io",
     .path = "/validate/shadowendpointslices",
     .group = offloading,
     .version = "v1beta1",
     .resources = "shadowendpointslices",
     .operations = written,
     .scope = Scope::by_peers},
    {.mutating = false,
     .name = "namespace.validate.liqo.io",
     .path = "/validate/namespaces",
     .group = "",
     .version = "v1",
     .resources = "namespaces",
     .operations = written,
     .scope = Scope::tenants,
     .may_fail = true},
    {.mutating = false,
     .name = "tenant.validate.liqo.io",
     .path = "/validate/tenants",
     .group = authentication,
     .version = "v1beta1",
     .resources = "tenants tenants/status",
     .operations = written},
};

json::array words(std::string_view text) {
  const auto parts = kube::split(text, ' ');
  return json::array(parts.begin(), parts.end());
}

json::object selector(json::array requirements) {
  json::object made;
  made["matchExpressions"] = std::move(requirements);
  return made;
}

/// Offloaded namespaces, except kube-system and that of this process: their pods must start while this process is down,
/// even if an administrator offloads those namespaces.
json::object offloaded_namespaces(std::string_view own) {
  json::array kept{json::string("kube-system")};
  if (!own.empty() && own != "kube-system") kept.emplace_back(own);
  return selector({core::requirement(api::labels::scheduling_enabled, "In", {"true"}),
                   core::requirement("kubernetes.io/metadata.name", "NotIn", std::move(kept))});
}

json::object namespace_selector(Scope scope, const Reach& reach) {
  if (scope == Scope::offloaded) return offloaded_namespaces(reach.ns);
  if (scope == Scope::of_peers || scope == Scope::by_peers)
    return selector({core::requirement(api::labels::remote_cluster_id, "Exists")});
  return {};
}

json::object object_selector(Scope scope, const Reach& reach) {
  if (scope == Scope::unskipped) return selector({core::requirement(api::labels::webhook_skip, "NotIn", {"true"})});
  if (scope == Scope::selected) return selector(reach.selected_namespaces);
  if (scope == Scope::tenants) return selector({core::requirement(api::labels::tenant_namespace, "Exists")});
  return {};
}

/// CEL: whether the old and the new object have the same value at the path.
std::string same(const std::string& field) {
  const std::string now = "object." + field, before = "oldObject." + field;
  return "(has(" + now + ") ? has(" + before + ") && " + now + " == " + before + " : !has(" + before + "))";
}

/// CEL: the caller is no consumer. The certificates of consumers name one user and one group, and neither can contain a
/// colon. Users and groups of Kubernetes, service accounts and administrators contain one.
constexpr std::string_view not_of_consumer =
    "(request.userInfo.username.contains(':') || has(request.userInfo.groups) && "
    "request.userInfo.groups.exists(g, g.contains(':') && g != 'system:authenticated'))";

json::array condition(std::string_view name, std::string expression) {
  return {json::object{{"name", name}, {"expression", std::move(expression)}}};
}

/// An object that is being deleted may lose its finalizers without a request, so that nothing hangs if Liqo is gone and
/// its configurations are left. Requests of consumers are reviewed all the same: at the provider finalizers mark
/// objects that are still to be cleaned up.
json::array conditions() {
  std::string only_finalizers =
      "request.operation == 'UPDATE' && (!has(request.subResource) || request.subResource == '')"
      " && has(oldObject.metadata.deletionTimestamp)";
  for (const char* field : {"spec", "status", "metadata.labels", "metadata.annotations", "metadata.ownerReferences"})
    only_finalizers += " && " + same(field);
  return condition("not-only-finalizers-of-what-is-deleted",
                   "!(" + only_finalizers + " && " + std::string(not_of_consumer) + ")");
}

json::object client(const Hook& hook, const Reach& reach, std::string_view ca_pem) {
  json::object made;
  made["caBundle"] = kube::encode_base64(ca_pem);
  if (!reach.url.empty()) {
    made["url"] = reach.url + std::string(hook.path);
    return made;
  }
  json::object service;
  service["namespace"] = reach.ns;
  service["name"] = service_name;
  service["port"] = reach.port;
  service["path"] = hook.path;
  made["service"] = std::move(service);
  return made;
}

json::object forge_rule(std::string_view group, std::string_view version, std::string_view resources,
                        std::string_view operations) {
  json::object rule;
  rule["apiGroups"] = json::array{json::string(group)};
  rule["apiVersions"] = json::array{json::string(version)};
  rule["operations"] = words(operations);
  rule["resources"] = words(resources);
  rule["scope"] = "*";
  return rule;
}

/// Whether a row reviews all that is written of a kind.
bool has_row(const kube::Resource& kind) {
  return std::ranges::any_of(hooks, [&kind](const Hook& hook) {
    return hook.operations == written && hook.group == kind.group && hook.resources == kind.plural;
  });
}

json::array rules_of(const Hook& hook) {
  if (!hook.resources.empty()) return {forge_rule(hook.group, hook.version, hook.resources, hook.operations)};
  json::array rules;
  for (const core::reflection::ReflectedKind* kind : core::reflection::reflected_kinds())
    if (const kube::Resource& copies = kind->copies(); !has_row(copies))
      rules.push_back(forge_rule(copies.group, copies.version, copies.plural, hook.operations));
  return rules;
}

json::object forge_hook(const Hook& hook, const Reach& reach, std::string_view ca_pem) {
  json::object made;
  made["name"] = hook.name;
  made["clientConfig"] = client(hook, reach, ca_pem);
  made["rules"] = rules_of(hook);
  made["failurePolicy"] = hook.may_fail ? "Ignore" : reach.failure_policy;
  made["matchPolicy"] = "Equivalent";
  made["namespaceSelector"] = namespace_selector(hook.scope, reach);
  made["objectSelector"] = object_selector(hook.scope, reach);
  made["sideEffects"] = hook.reserves ? "NoneOnDryRun" : "None";
  made["timeoutSeconds"] = 10;
  made["admissionReviewVersions"] = json::array{"v1"};
  if (!hook.only.empty())
    made["matchConditions"] = condition("what-is-decided-here", std::string(hook.only));
  else if (hook.scope == Scope::by_peers)
    made["matchConditions"] = condition("of-a-consumer", "!" + std::string(not_of_consumer));
  else if (hook.operations.ends_with("UPDATE"))
    made["matchConditions"] = conditions();
  if (hook.mutating) made["reinvocationPolicy"] = "Never";
  return made;
}

}  // namespace

kube::Object forge_configuration(const kube::Resource& kind, const Reach& reach, std::string_view ca_pem) {
  kube::Object made = kube::Object::make(kind, {"", std::string(api::webhook_configuration)});
  made.set_label(api::labels::webhook, "true");
  json::array list;
  for (const Hook& hook : hooks) {
    if (hook.mutating != (kind == mutating_configurations)) continue;
    if (hook.scope == Scope::selected && reach.selected_namespaces.empty()) continue;
    list.push_back(forge_hook(hook, reach, ca_pem));
  }
  made.tree()["webhooks"] = std::move(list);
  return made;
}

}  // namespace liqo::webhook
