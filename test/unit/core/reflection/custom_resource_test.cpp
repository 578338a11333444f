// Kinds that only configuration names.
#include "core/reflection/custom_resource.hpp"

#include "objects.hpp"

namespace liqo::core::reflection {
namespace {

namespace json = kube::json;

const ReflectedKind& widgets(bool brings_status = true) {
  return custom_kind({.plural = "widgets", .group = "example.org", .brings_status = brings_status}, "v1", "Widget");
}

kube::Object widget(std::string_view rest) {
  return parse(R"({"apiVersion": "example.org/v1", "kind": "Widget", )" + std::string(rest) + "}");
}

}  // namespace

TEST_CASE("a custom resource is named by its definition, and what else is said of it is optional") {
  struct Case {
    const char *text, *name, *policy;
    bool status;
  };
  for (const Case& c : {
           Case{"widgets.example.org", "widgets.example.org", "DenyList 32", false},
           Case{"widgets.example.org,status", "widgets.example.org", "DenyList 32", true},
           Case{"httproutes.gateway.networking.k8s.io,type=AllowList,workers=0,status",
                "httproutes.gateway.networking.k8s.io", "AllowList 0", true},
           Case{"widgets.example.org,workers=1024,type=DenyList", "widgets.example.org", "DenyList 1024", false},
       }) {
    CAPTURE(c.text);
    const auto read = read_custom_resource(c.text);
    REQUIRE(read);
    CHECK(read->resource.name() == c.name);
    CHECK(read->resource.brings_status == c.status);
    CHECK(std::string(name_of(read->policy.selection)) + " " + std::to_string(read->policy.workers) == c.policy);
  }
}

TEST_CASE("what names no custom resource is refused in words") {
  for (const char* text : {"",
                           "widgets",
                           ".example.org",
                           "Widgets.example.org",
                           "widgets.example.org/v1",
                           "deployments.apps",
                           "jobs.batch",
                           "roles.rbac.authorization.k8s.io",
                           "ingresses.networking.k8s.io",
                           "shadowpods.offloading.liqo.io",
                           "things.liqo.io",
                           "pods.metrics.k8s.io",
                           "widgets.example.org,All",
                           "widgets.example.org,type=All",
                           "widgets.example.org,type=",
                           "widgets.example.org,workers=",
                           "widgets.example.org,workers=-1",
                           "widgets.example.org,workers=1025",
                           "widgets.example.org,workers=2x",
                           "widgets.example.org,,status"}) {
    CAPTURE(text);
    const auto read = read_custom_resource(text);
    REQUIRE(!read);
    CHECK(read.error().text().starts_with("\"" + std::string(text) + "\" "));
  }
  CHECK(read_custom_resource("things.notliqo.io"));
}

TEST_CASE("a template may say of a custom resource what it says of other kinds") {
  const std::vector<std::string> names{"widgets.example.org"};
  Policies usual;
  usual.set(widgets(), {SelectionPolicy::deny_list, 4});
  const auto read = [&](std::string_view spec) {
    return policies_under(
        usual, parse(R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": )" + std::string(spec) + "}"),
        names);
  };
  CHECK(read("{}").policies.of(widgets()) == KindPolicy{SelectionPolicy::deny_list, 4});
  const auto narrowed = read(R"({"reflectorsConfig": {"widgets.example.org": {"workers": 0, "type": "AllowList"}}})");
  CHECK(narrowed.policies.of(widgets()) == KindPolicy{SelectionPolicy::allow_list, 0});
  const auto wrong = read(R"({"reflectorsConfig": {"widgets.example.org": {"type": "All"}}})");
  CHECK(wrong.mistakes.size() == 1);
  CHECK(wrong.policies.of(widgets()).workers == 0);
}

TEST_CASE("all but metadata and status is copied") {
  const kube::Object local = widget(R"("metadata": {"name": "w", "namespace": "shop", "uid": "1", "generation": 7,
      "labels": {"app": "web"}, "finalizers": ["example.org/keep"], "ownerReferences": [{"name": "o"}]},
      "spec": {"size": 0, "tags": []}, "data": {"a": null}, "replicas": 2, "status": {"ready": true})");
  const kube::Object copy = widgets().forge(local, "shop-r", context());
  CHECK(copy.tree().at("apiVersion") == "example.org/v1");
  CHECK(copy.tree().at("kind") == "Widget");
  CHECK(copy.key() == kube::ObjectKey{"shop-r", "w"});
  CHECK(copy.tree().at("spec") == local.tree().at("spec"));
  CHECK(copy.tree().at("replicas") == 2);
  CHECK(!copy.tree().contains("status"));
  CHECK(copy.label("app") == "web");
  for (const char* field : {"finalizers", "ownerReferences", "uid", "generation"})
    CHECK(!copy.metadata().contains(field));
}

TEST_CASE("the status comes home with generations as home counts them") {
  struct Case {
    const char *remote, *status;
  };
  const kube::Object local = widget(R"("metadata": {"name": "w", "generation": 7}, "status": {"old": true})");
  for (const Case& c : {
           Case{R"("metadata": {"name": "w", "generation": 3}, "status": {"observedGeneration": 3, "ready": false})",
                R"({"observedGeneration": 7, "ready": false})"},
           Case{R"("metadata": {"name": "w", "generation": 3}, "status": {"observedGeneration": 2})",
                R"({"observedGeneration": 6})"},
           Case{R"("metadata": {"name": "w", "generation": 1}, "status": {"conditions": [
                  {"type": "Ready", "observedGeneration": 1}, {"type": "Old", "observedGeneration": 0}, {"type": "X"}]})",
                R"({"conditions": [{"type": "Ready", "observedGeneration": 7}, {"type": "Old", "observedGeneration": 6},
                  {"type": "X"}]})"},
           Case{R"("metadata": {"name": "w", "generation": 1}, "status": {"observedGeneration": "x", "conditions": 5})",
                R"({"observedGeneration": "x", "conditions": 5})"},
           Case{R"("metadata": {"name": "w"}, "status": 7)", "null"},
           Case{R"("metadata": {"name": "w"})", "null"},
           Case{R"("metadata": {"name": "w"}, "status": {})", "{}"},
       }) {
    CAPTURE(c.remote);
    CHECK(status_at_home(local, widget(c.remote)) == parse_value(c.status));
  }
  CHECK(!widgets(false).gather);
}

TEST_CASE("a kind is the same one each time, and another one for each version") {
  const CustomResource resource{.plural = "gadgets", .group = "example.org"};
  const ReflectedKind& first = custom_kind(resource, "v1", "Gadget");
  CHECK(&first == &custom_kind(resource, "v1", "Gadget"));
  CHECK(&first != &custom_kind(resource, "v2", "Gadget"));
  CHECK(first.resource.path("shop") == "/apis/example.org/v1/namespaces/shop/gadgets");
  CHECK(option_name(first) == "gadgets.example.org");
}

TEST_CASE("what a cluster serves is read from its own documents") {
  CHECK(served_versions(parse_value(R"({"kind": "APIGroup", "name": "example.org",
      "versions": [{"version": "v1"}, {"version": "v1beta1"}], "preferredVersion": {"version": "v1beta1"}})")) ==
        std::vector<std::string>{"v1beta1", "v1"});
  for (const char* nothing : {"{}", "7", "[]", R"({"versions": {}})", R"({"versions": [7, {"version": 7}]})"})
    CHECK(served_versions(parse_value(nothing)).empty());
  json::array many;
  for (int number = 0; number < 10'000; ++number)
    many.push_back(json::object{{"version", "v" + std::to_string(number)}});
  CHECK(served_versions(json::object{{"versions", std::move(many)}}).size() == max_versions);
  const auto document = parse_value(R"({"resources": [{"name": "widgets/status", "kind": "Widget", "namespaced": true},
      {"name": "widgets", "kind": "Widget", "namespaced": true}, {"name": "zones", "kind": "Zone"}, 7]})");
  const auto served = find_served(document, "widgets");
  REQUIRE(served);
  CHECK(served->kind == "Widget");
  CHECK(served->namespaced);
  CHECK(served->has_status);
  CHECK(!find_served(document, "zones")->namespaced);
  CHECK(!find_served(document, "zones")->has_status);
  CHECK(!find_served(document, "gears"));
  CHECK(!find_served(parse_value("7"), "widgets"));
  using Versions = std::vector<std::string>;
  CHECK(common_version(Versions{"v2", "v1"}, Versions{"v1", "v2"}) == "v2");
  CHECK(common_version(Versions{"v2", "v1"}, Versions{"v1"}) == "v1");
  CHECK(common_version(Versions{"v2"}, Versions{"v1"}).empty());
}

}  // namespace liqo::core::reflection
