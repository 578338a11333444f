#include "core/offloading/daemon_sets.hpp"

#include <doctest/doctest.h>

#include "core/common/resources.hpp"

using namespace liqo::core;
namespace json = kube::json;

namespace {

kube::Object object_of(std::string_view text) { return kube::Object(json::parse(text).as_object()); }

constexpr std::string_view everything = R"([{"operator":"Exists"}])";

/// A DaemonSet whose template has these tolerations, and more in its spec.
kube::Object set_of(std::string_view tolerations, std::string_view more = "", std::string_view metadata = "") {
  return object_of(R"({"metadata":{"name":"agent","namespace":"kube-system")" + std::string(metadata) +
                   R"(},"spec":{"template":{"spec":{"tolerations":)" + std::string(tolerations) + std::string(more) +
                   "}}}}");
}

std::string terms(std::string_view list) {
  return R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)" +
         std::string(list) + "}}}";
}

constexpr std::string_view off = R"({"key":"liqo.io/type","operator":"NotIn","values":["virtual-node"]})";

bool sits(const kube::Object& set) {
  const json::object labels{{"liqo.io/type", "virtual-node"}, {"kubernetes.io/os", "linux"}};
  return sits_on(set, "milan", labels);
}

}  // namespace

TEST_CASE("a pod names the DaemonSet that has made it") {
  const auto made_by = [](std::string_view owner) {
    return daemon_set_of(object_of(R"({"metadata":{"name":"agent-x","namespace":"shop","ownerReferences":[)" +
                                   std::string(owner) + "]}}"));
  };
  const auto set = made_by(R"({"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","uid":"u","controller":true})");
  REQUIRE(set);
  CHECK(set->key() == kube::ObjectKey{"shop", "agent"});
  CHECK(set->uid() == "u");
  CHECK_FALSE(made_by(R"({"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","uid":"u"})"));
  CHECK_FALSE(made_by(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","name":"agent","uid":"u","controller":true})"));
  CHECK_FALSE(made_by(R"({"apiVersion":"of/v1","kind":"DaemonSet","name":"agent","uid":"u","controller":true})"));
}

TEST_CASE("a DaemonSet sits on a virtual node that it tolerates and selects") {
  CHECK(sits(set_of(everything)));
  CHECK(sits(set_of(R"([{"operator":"Exists","effect":"NoExecute"}])")));
  CHECK(sits(set_of(R"([{"key":"virtual-node.liqo.io/not-allowed","value":"true","effect":"NoExecute"}])")));
  CHECK_FALSE(sits(set_of("[]")));
  CHECK_FALSE(sits(set_of(R"([{"operator":"Exists","effect":"NoSchedule"}])")));
  CHECK_FALSE(sits(set_of(R"([{"operator":"Exists","tolerationSeconds":300}])")));
  CHECK(sits(set_of(everything, R"(,"nodeSelector":{"kubernetes.io/os":"linux"})")));
  CHECK_FALSE(sits(set_of(everything, R"(,"nodeSelector":{"pool":"gpu"})")));
  CHECK(sits(
      set_of(everything, terms(R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["milan"]}]}])"))));
  CHECK_FALSE(sits(set_of(everything, terms("["
                                            R"({"matchExpressions":[)" +
                                            std::string(off) + "]}]"))));
  CHECK_FALSE(sits(object_of("{}")));
}

TEST_CASE("what a DaemonSet books is what its containers request") {
  const auto requesting = [](std::string_view cpu) {
    return set_of(everything, R"(,"containers":[{"name":"a","resources":{"requests":{"cpu":)" + std::string(cpu) +
                                  R"(},"limits":{"memory":"64Mi"}}}])");
  };
  CHECK(write_resources(books(requesting(R"("100m")"))) == json::object{{"cpu", "100m"}, {"memory", "64Mi"}});
  CHECK(books(requesting(R"("much")")).empty());
  CHECK(books(set_of(everything)).empty());
}

TEST_CASE("each term of a DaemonSet keeps off virtual nodes, and the way back restores what was there") {
  struct Row {
    std::string_view what;
    std::string before, after;
  };
  const std::string alone = R"({"matchExpressions":[)" + std::string(off) + "]}";
  const std::string pool = R"({"key":"pool","operator":"In","values":["a"]})";
  const std::string field = R"({"key":"metadata.name","operator":"In","values":["n"]})";
  const Row rows[] = {
      {"no affinity", "", terms("[" + alone + "]")},
      {"one term", terms(R"([{"matchExpressions":[)" + pool + "]}]"),
       terms(R"([{"matchExpressions":[)" + pool + "," + std::string(off) + "]}]")},
      {"two terms, which are alternatives",
       terms(R"([{"matchExpressions":[)" + pool + R"(]},{"matchFields":[)" + field + "]}]"),
       terms(R"([{"matchExpressions":[)" + pool + "," + std::string(off) + R"(]},{"matchFields":[)" + field +
             R"(],"matchExpressions":[)" + std::string(off) + "]}]")},
      {"a term that matches nothing", terms(R"([{},{"matchExpressions":[)" + pool + "]}]"),
       terms(R"([{},{"matchExpressions":[)" + pool + "," + std::string(off) + "]}]")},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const kube::Object before = set_of(everything, row.before), after = set_of(everything, row.after);
    kube::Object set = before;
    CHECK(keep_off_virtual_nodes(set));
    CHECK(set.tree() == after.tree());
    CHECK_FALSE(sits(set));
    CHECK_FALSE(keep_off_virtual_nodes(set));
    CHECK(let_onto_virtual_nodes(set));
    CHECK_FALSE(let_onto_virtual_nodes(set));
    CHECK(sits(set) == sits(before));
  }
  kube::Object nowhere = set_of(everything, terms("[{}]"));
  CHECK_FALSE(keep_off_virtual_nodes(nowhere));
  kube::Object other = set_of(everything, R"(,"affinity":{"podAffinity":{}})");
  CHECK(keep_off_virtual_nodes(other));
  CHECK(let_onto_virtual_nodes(other));
  CHECK(other.tree() == set_of(everything, R"(,"affinity":{"podAffinity":{}})").tree());
}

TEST_CASE("a DaemonSet that somebody else keeps is told from the others") {
  CHECK(who_keeps(set_of("[]")) == "");
  CHECK(who_keeps(set_of("[]", "", R"(,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Agent","name":"a",
      "uid":"u","controller":true}])")) == "Agent a owns it");
  CHECK(who_keeps(set_of("[]", "", R"(,"labels":{"addonmanager.kubernetes.io/mode":"Reconcile"})")) ==
        "the cluster's addon manager keeps it");
  CHECK(who_keeps(set_of("[]", "", R"(,"labels":{"addonmanager.kubernetes.io/mode":"EnsureExists"})")) == "");
  CHECK(who_keeps(set_of("[]", "", R"(,"annotations":{"objectset.rio.cattle.io/id":"x"})")) ==
        "the addons of K3s or RKE2 keep it");
  CHECK(who_keeps(set_of("[]", "", R"(,"managedFields":[{"manager":"eks"}])")) == "it is an addon of EKS");
}
