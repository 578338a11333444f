#include "core/common/binding_plan.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "../binding_plan_text.hpp"
#include "core/peering/forge.hpp"

namespace liqo::core {

namespace json = kube::json;

TEST_CASE("a binding whose name is ours is made, repaired, or replaced where its role is another one") {
  const kube::Object wanted = forge_cluster_role_binding("rome", "liqo-x");
  const std::string repair =
      R"(patch {"metadata":{"labels":{"app.kubernetes.io/managed-by":"liqo","liqo.io/remote-cluster-id":"rome"}},)"
      R"("subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"rome"}]})";
  struct Row {
    std::string_view what;
    std::function<void(kube::Object&)> change;
    std::string plan;
  };
  for (const Row& row : {
           Row{"as it should be", [](kube::Object&) {}, "keep"},
           Row{"a further label", [](kube::Object& live) { live.set_label("team", "shop"); }, "keep"},
           Row{"no label", [](kube::Object& live) { live.mutable_metadata().erase("labels"); }, repair},
           Row{"another label", [](kube::Object& live) { live.set_label("liqo.io/remote-cluster-id", "turin"); },
               repair},
           Row{"no subject", [](kube::Object& live) { live.tree().erase("subjects"); }, repair},
           Row{"a further subject",
               [](kube::Object& live) {
                 live.tree()["subjects"].as_array().push_back(json::object{{"kind", "User"}, {"name", "eve"}});
               },
               repair},
           Row{"another role", [](kube::Object& live) { live.tree()["roleRef"].as_object()["name"] = "cluster-admin"; },
               "replace"},
       }) {
    CAPTURE(row.what);
    kube::Object live = wanted;
    row.change(live);
    CHECK(text_of(plan_binding(&live, wanted)) == row.plan);
  }
  CHECK(text_of(plan_binding(nullptr, wanted)) == "create");
}

}  // namespace liqo::core
