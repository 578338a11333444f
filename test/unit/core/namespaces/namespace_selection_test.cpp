// Namespaces that are offloaded for their labels, and selectors as people write them.
#include "core/namespaces/namespace_selection.hpp"

#include <doctest/doctest.h>

#include "core/common/selector_text.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace {

using namespace liqo::core;
namespace json = kube::json;
namespace labels = liqo::api::labels;

kube::Object ns(std::string_view name, std::string_view label = "team", std::string_view value = "ml") {
  kube::Object made = kube::Object::make(kube::resources::namespaces, {"", std::string(name)});
  made.set_label("kubernetes.io/metadata.name", name);
  if (!label.empty()) made.set_label(label, value);
  return made;
}

NamespaceSelection selection(std::string selector) {
  return NamespaceSelection::read({.selector = std::move(selector), .clusters = {}}, "liqo").value();
}

TEST_CASE("selectors become node selector requirements") {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const Case& one :
       {Case{"region=south", R"([{"key":"region","operator":"In","values":["south"]}])"},
        Case{"region==south", R"([{"key":"region","operator":"In","values":["south"]}])"},
        Case{"region!=south", R"([{"key":"region","operator":"NotIn","values":["south"]}])"},
        Case{"a.b/c in (x, y),!d",
             R"([{"key":"a.b/c","operator":"In","values":["x","y"]},{"key":"d","operator":"DoesNotExist"}])"},
        Case{"a notin (x)", R"([{"key":"a","operator":"NotIn","values":["x"]}])"},
        Case{"gpu", R"([{"key":"gpu","operator":"Exists"}])"}}) {
    CAPTURE(one.text);
    const auto parsed = parse_selector(one.text);
    REQUIRE(parsed);
    CHECK(json::serialize(*parsed) == one.expected);
  }
  for (const char* wrong : {"", "=x", "a in x", "a in (x", "a b", "a==b=c", "!", "in (a)", "a,,b"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_selector(wrong));
  }
}

TEST_CASE("a selector takes the namespaces that it names, and none that has to stay") {
  struct Case {
    const char* selector;
    kube::Object ns;
    bool selected;
  };
  kube::Object tenant = ns("liqo-tenant-milan"), twin = ns("shop-rome"), leaving = ns("shop");
  kube::Object unmarked = ns("shop"), unmarked_twin = ns("shop-rome");
  unmarked.set_label(labels::tenant_namespace, "false");
  unmarked_twin.set_label(labels::tenant_namespace, "false");
  unmarked_twin.set_label(labels::remote_cluster_id, "rome");
  tenant.set_label(labels::tenant_namespace, "true");
  twin.set_label(labels::remote_cluster_id, "rome");
  leaving.mutable_metadata()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  for (const Case& one : {Case{"team=ml", ns("shop"), true}, Case{"team", ns("shop"), true},
                          Case{"team in (ai,ml),!private", ns("shop"), true}, Case{"team=ai", ns("shop"), false},
                          Case{"team=ml", ns("shop", ""), false}, Case{"team=ml", ns("kube-system"), false},
                          Case{"team=ml", ns("kube-flannel"), false}, Case{"team=ml", ns("liqo"), false},
                          Case{"team=ml", tenant, false}, Case{"team=ml", twin, false}, Case{"team=ml", unmarked, true},
                          Case{"team=ml", unmarked_twin, false}, Case{"team=ml", leaving, false},
                          Case{"", ns("shop"), false}, Case{"kubernetes.io/metadata.name=shop", ns("shop"), true}}) {
    CAPTURE(one.selector);
    CAPTURE(one.ns.name());
    CHECK(selection(one.selector).selects(one.ns, "liqo") == one.selected);
  }
}

TEST_CASE("namespaces of Kubernetes and of Liqo stay at home, whoever asks") {
  CHECK(why_kept_here(ns("kube-system"), "liqo").contains("Kubernetes' own"));
  CHECK(why_kept_here(ns("kube-node-lease"), "liqo").contains("Kubernetes' own"));
  CHECK(why_kept_here(ns("liqo"), "liqo").contains("Liqo's own"));
  CHECK(why_kept_here(ns("liqo-tenant-milan", labels::tenant_namespace), "liqo").contains("of a peering"));
  CHECK(why_kept_here(ns("default"), "liqo").empty());
  CHECK(why_kept_here(ns("liqo"), "elsewhere").empty());
  // By name somebody may have meant these; by labels nobody does.
  for (const kube::Object& named : {ns("kube-flannel"), ns("shop-rome", labels::remote_cluster_id, "rome")}) {
    CHECK(why_kept_here(named, "liqo").empty());
    CHECK_FALSE(why_not_selected(named, "liqo").empty());
  }
}

TEST_CASE("a selector that means namespaces of Kubernetes or of Liqo is refused") {
  for (const char* wrong :
       {"team!=ml", "!private", "kubernetes.io/metadata.name", "kubernetes.io/metadata.name=liqo",
        "kubernetes.io/metadata.name in (shop,kube-public)", "team=ml,", "team=a b", "/=ml", "team=-"}) {
    CAPTURE(wrong);
    const auto read = NamespaceSelection::read({.selector = wrong, .clusters = {}}, "liqo");
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == kube::Errc::invalid_input);
  }
  CHECK(NamespaceSelection::read({.selector = "!private", .clusters = {}}, "liqo").error().text() ==
        "'!private' selects namespace kube-system, which stays in this cluster: select by a label that only "
        "namespaces have which are to be offloaded");
  CHECK_FALSE(NamespaceSelection::read({.selector = "team=ml", .clusters = {"a b"}}, "liqo"));
}

TEST_CASE("a selected namespace gets the strategies of the operator") {
  const NamespaceSelection plain = selection("team=ml");
  CHECK(json::serialize(plain.requirements()) == R"([{"key":"team","operator":"In","values":["ml"]}])");
  CHECK(plain.moves_pods());
  const kube::Object made = plain.forge_offloading("shop");
  CHECK(made.key().text() == "shop/offloading");
  CHECK(is_of_selection(made));
  CHECK(made.annotation("offloading.liqo.io/namespace-selector") == "team=ml");
  CHECK(json::serialize(made.spec()) ==
        R"({"namespaceMappingStrategy":"DefaultName","podOffloadingStrategy":"LocalAndRemote"})");

  const auto other = NamespaceSelection::read({.selector = "team=ml",
                                               .pod_strategy = "Local",
                                               .mapping_strategy = "EnforceSameName",
                                               .clusters = {"region=south", "gpu"}},
                                              "liqo");
  REQUIRE(other);
  CHECK_FALSE(other->moves_pods());
  CHECK(json::serialize(kube::object_at(other->forge_offloading("shop").spec(), {"clusterSelector"})) ==
        R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"region","operator":"In","values":["south"]}]},)"
        R"({"matchExpressions":[{"key":"gpu","operator":"Exists"}]}]})");
  CHECK_FALSE(is_of_selection(kube::Object::make(liqo::api::kinds::namespace_offloadings, {"shop", "offloading"})));
  CHECK_FALSE(static_cast<bool>(NamespaceSelection()));
}

}  // namespace
