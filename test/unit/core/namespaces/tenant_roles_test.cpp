// Further ClusterRoles of a consumer in its twins: which pass, and how they are bound.
#include "core/namespaces/tenant_roles.hpp"

#include "../objects.hpp"

namespace liqo::core {
namespace {

using namespace testing;

kube::Object role(std::string_view rules) {
  return parse(R"({"metadata": {"name": "widgets"}, "rules": )" + std::string(rules) + "}");
}

}  // namespace

TEST_CASE("a role of a tenant writes custom kinds, and reads what does nothing") {
  struct Case {
    const char* rules;
    const char* refused;  ///< words of the refusal; "" = it passes
  };
  const Case cases[] = {
      {"[]", ""},
      {R"([{"apiGroups": ["example.org"], "resources": ["widgets", "widgets/status"], "verbs": ["*"]}])", ""},
      {R"([{"apiGroups": [""], "resources": ["pods", "pods/log", "pods/status"], "verbs": ["get", "list", "watch"]}])",
       ""},
      {R"([{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}])", ""},
      {R"([{"nonResourceURLs": ["/version"], "verbs": ["get"]}])", ""},
      {R"([{"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]}])", "its rule 1 lets \"create\" \"pods\""},
      {R"([{"apiGroups": ["example.org"], "resources": ["widgets"], "verbs": ["create"]},
           {"apiGroups": ["example.org", "apps"], "resources": ["deployments"], "verbs": ["get", "patch"]}])",
       "its rule 2 lets \"patch\" \"deployments.apps\""},
      {R"([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["*"]}])", "past the pod firewall"},
      {R"([{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["deletecollection"]}])", "\"jobs.batch\""},
      {R"([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["bind"]}])", "\"bind\""},
      {R"([{"apiGroups": ["admissionregistration.k8s.io"], "resources": ["x"], "verbs": ["update"]}])", "\"update\""},
      {R"([{"apiGroups": ["offloading.liqo.io"], "resources": ["shadowpods"], "verbs": ["create"]}])", "\"create\""},
      {R"([{"apiGroups": ["example.org"], "resources": [""], "verbs": ["create"]}])", "no ResourceQuota can count"},
      {R"([{"apiGroups": ["accesscontextmanager.cnrm.cloud.example.org"],
            "resources": ["accesscontextmanageraccesslevels"], "verbs": ["create"]}])",
       "no ResourceQuota can count"},
      {R"([{"apiGroups": ["*"], "resources": ["widgets"], "verbs": ["get"]}])", "names the group \"*\""},
      {R"([{"apiGroups": ["example.org"], "resources": ["*"], "verbs": ["get"]}])", "names the resource \"*\""},
      {R"([{"apiGroups": ["example.org"], "resources": ["*/scale"], "verbs": ["get"]}])",
       "names the resource \"*/scale\""},
      {R"([{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}])", "gives \"pods/exec\""},
      {R"([{"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["get"]}])", "gives \"services/proxy\""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.rules);
    const RoleVerdict verdict = judge_tenant_role(role(c.rules));
    CHECK(verdict.refusal.empty() == std::string_view(c.refused).empty());
    CHECK(verdict.refusal.contains(c.refused));
  }
}

TEST_CASE("the kinds that a role lets write are counted, and there are not too many") {
  const RoleVerdict verdict = judge_tenant_role(role(
      R"([{"apiGroups": ["example.org", "example.com"], "resources": ["widgets", "widgets/status"], "verbs": ["get", "create"]},
          {"apiGroups": ["example.net"], "resources": ["gears"], "verbs": ["list"]}])"));
  CHECK(verdict.refusal.empty());
  CHECK(verdict.writable == std::set<std::string>{"widgets.example.com", "widgets.example.org"});
  std::string many = R"([{"apiGroups": ["example.org"], "verbs": ["create"], "resources": ["x0")";
  for (int i = 1; i < 101; ++i) many += ",\"x" + std::to_string(i) + "\"";
  CHECK(judge_tenant_role(role(many + "]}]")).refusal == "it lets write more than 100 kinds");
}

TEST_CASE("the RoleBinding has a name of its own for each role, however long, and is known again") {
  CHECK(tenant_role_binding_name("liqo-tenant-rome", "widgets") == "liqo-tenant-rome-widgets");
  const std::string one(250, 'a'), other = std::string(249, 'a') + "b";
  CHECK(tenant_role_binding_name("liqo-tenant-rome", one).size() == 253);
  CHECK(tenant_role_binding_name("liqo-tenant-rome", one) != tenant_role_binding_name("liqo-tenant-rome", other));

  const kube::Object binding = forge_tenant_role_binding(
      "shop-rome", {.tenant_namespace = "liqo-tenant-rome", .consumer = "rome", .role = "widgets"},
      "liqo-tenant-rome/milan");
  CHECK(binding.text() ==
        R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":)"
        R"({"name":"liqo-tenant-rome-widgets","namespace":"shop-rome","labels":)"
        R"({"app.kubernetes.io/managed-by":"liqo","liqo.io/remote-cluster-id":"rome"},"annotations":)"
        R"({"liqo.io/managed-by-namespace-map":"liqo-tenant-rome/milan","liqo.io/tenant-role":"widgets"}},"subjects":)"
        R"([{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"rome"}],"roleRef":)"
        R"({"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"widgets"}})");
  CHECK(is_same_binding(binding, binding));
  kube::Object foreign = binding;
  foreign.mutable_metadata().erase("annotations");
  CHECK_FALSE(is_tenant_role_binding(foreign));
  kube::Object wider = binding;
  wider.tree()["subjects"].get_array().push_back(json::object{{"kind", "Group"}, {"name", "everybody"}});
  CHECK_FALSE(is_same_binding(wider, binding));
}

}  // namespace liqo::core
