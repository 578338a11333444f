// What options and a VkOptionsTemplate say about each kind.
#include "liqo/reflection/policy.hpp"

#include "objects.hpp"

namespace liqo::reflection {
namespace {

const ReflectedKind& kind(std::string_view name) { return *find_reflected_kind(name); }

/// "DenyList 32", or what went wrong.
std::string of(const TemplatePolicies& read, std::string_view name) {
  const KindPolicy policy = read.policies.of(kind(name));
  return std::string(name_of(policy.selection)) + " " + std::to_string(policy.workers);
}

TemplatePolicies read(std::string_view spec, const Policies& usual = {}) {
  return policies_under(
      usual, parse(R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": )" + std::string(spec) + "}"));
}

}  // namespace

TEST_CASE("a template says of each kind what it names, and the options hold for the rest") {
  Policies usual;
  usual.set(kind("Secret"), {SelectionPolicy::allow_list, 5});
  struct Case {
    const char *spec, *config_map, *secret;
  };
  for (const Case& c : {
           Case{"{}", "DenyList 32", "AllowList 5"},
           Case{"7", "DenyList 32", "AllowList 5"},
           Case{R"({"reflectorsConfig": {"configmap": {"workers": 3, "type": "AllowList"}}})", "AllowList 3",
                "AllowList 5"},
           Case{R"({"reflectorsConfig": {"secret": {"workers": 0}}})", "DenyList 32", "AllowList 0"},
           Case{R"({"reflectorsConfig": {"secret": {"workers": 2, "type": ""}}})", "DenyList 32", "AllowList 2"},
           Case{R"({"reflectorsConfig": {"secret": {"type": "DenyList"}}})", "DenyList 32", "DenyList 5"},
           Case{R"({"reflectorsConfig": {"secret": {"workers": 3, "type": "All"}}})", "DenyList 32", "All 3"},
           Case{R"({"reflectorsConfig": {"configmap": {"workers": 100000}}})", "DenyList 1024", "AllowList 5"},
           // Names of Go are in lower case, and of what it has besides nothing is here.
           Case{R"({"reflectorsConfig": {"ConfigMap": {"workers": 0}, "pod": {"workers": 0, "type": "CustomLiqo"}}})",
                "DenyList 32", "AllowList 5"},
           Case{
               R"({"extraArgs": ["--configmap-reflection-type=AllowList", "--secret-reflection-workers", "7", "--x"]})",
               "AllowList 32", "AllowList 7"},
           Case{R"({"extraArgs": ["--secret-reflection-type=AllowList", "--secret-reflection-type=DenyList"],
             "reflectorsConfig": {"secret": {"workers": 3, "type": "AllowList"}}})",
                "DenyList 32", "DenyList 3"},
       }) {
    CAPTURE(c.spec);
    const TemplatePolicies policies = read(c.spec, usual);
    CHECK(of(policies, "ConfigMap") == c.config_map);
    CHECK(of(policies, "Secret") == c.secret);
    CHECK(of(policies, "Ingress") == "DenyList 32");
    CHECK(policies.mistakes.empty());
  }
}

TEST_CASE("EndpointSlices are selected as Services are, and have workers of their own") {
  const TemplatePolicies policies = read(R"({"reflectorsConfig": {"service": {"workers": 0, "type": "AllowList"},
    "endpointslice": {"workers": 10, "type": "CustomLiqo"}}})");
  CHECK(policies.mistakes.empty());
  CHECK(of(policies, "Service") == "AllowList 0");
  CHECK(of(policies, "EndpointSlice") == "AllowList 10");
  CHECK(of(read("{}"), "EndpointSlice") == "DenyList 32");
}

TEST_CASE("a kind of which something wrong is said is not reflected, and the others are") {
  for (const char* wrong :
       {R"("reflectorsConfig": {"secret": {"workers": 3, "type": "Everything"}})",
        R"("reflectorsConfig": {"secret": {"workers": 3, "type": "CustomLiqo"}})",
        R"("reflectorsConfig": {"secret": {"workers": -1}})", R"("reflectorsConfig": {"secret": {"workers": {}}})",
        R"("extraArgs": ["--secret-reflection-type="])", R"("extraArgs": ["--secret-reflection-workers"])",
        R"("extraArgs": ["--secret-reflection-workers=1e9"])",
        R"("reflectorsConfig": {"secret": {"workers": 3, "type": "allowlist"}},
           "extraArgs": ["--secret-reflection-type=DenyList"])"}) {
    CAPTURE(wrong);
    const TemplatePolicies policies = read("{" + std::string(wrong) + "}");
    CHECK(policies.policies.of(kind("Secret")).workers == 0);
    CHECK(of(policies, "ConfigMap") == "DenyList 32");
    CHECK(policies.mistakes.size() == 1);
  }
  CHECK(read(R"({"reflectorsConfig": {"service": {"workers": 3, "type": "Everything"}}})").mistakes.front() ==
        R"(reflectorsConfig.service.type is "Everything" and not DenyList or AllowList)");
  CHECK(read(R"({"reflectorsConfig": {"secret": {"workers": 3, "type": "Everything"}}})").mistakes.front() ==
        R"(reflectorsConfig.secret.type is "Everything" and not DenyList, AllowList or All)");
  // Of the other kinds a DenyList is all that there is.
  CHECK(read(R"({"extraArgs": ["--configmap-reflection-type=All"]})").mistakes.size() == 1);
}

TEST_CASE("a copy that an AllowList takes back is told of with the reason") {
  Reflection reflection("ConfigMap");
  const kube::Object local =
      parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words", "namespace": "shop"}})");
  const kube::Object copy = reflection.copy(local);
  reflection.policy = SelectionPolicy::allow_list;
  const ReflectionPlan plan = reflection.plan(&local, &copy);
  REQUIRE(name_of(plan) == "Remove");
  CHECK(std::get<reflection_action::Remove>(plan).message.contains("liqo.io/allow-reflection"));
}

}  // namespace liqo::reflection
