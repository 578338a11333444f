// The policy of each kind by options and a VkOptionsTemplate.
#include "core/reflection/policy.hpp"

#include "objects.hpp"

namespace liqo::core::reflection {
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
           // Names of Go are in lower case.
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
  // What is shown is cut between characters.
  const std::string text = std::string(63, 'a') + "é";
  CHECK(read(R"({"reflectorsConfig": {"secret": {"type": ")" + text + R"("}}})").mistakes.front() ==
        "reflectorsConfig.secret.type is \"" + std::string(63, 'a') + "\" and not DenyList, AllowList or All");
  // Of the other kinds a DenyList is all that there is.
  CHECK(read(R"({"extraArgs": ["--configmap-reflection-type=All"]})").mistakes.size() == 1);
}

TEST_CASE("what a template asks for and nobody here does is told, where that is less than what is done") {
  const auto told = [](std::string_view spec, const AlwaysDone& done, std::vector<std::string> custom = {}) {
    const kube::Object options =
        parse(R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": )" + std::string(spec) + "}");
    std::string text;
    for (const std::string& clause : not_followed(options, policies_under({}, options).policies, custom, done))
      text += clause + "; ";
    return text;
  };
  // What the Go version's chart writes.
  const char* usual = R"({"reflectorsConfig": {"pod": {"workers": 10}, "service": {"workers": 3, "type": "DenyList"},
    "endpointslice": {"workers": 10}, "ingress": {"workers": 3, "type": "DenyList"},
    "configmap": {"workers": 3, "type": "DenyList"}, "secret": {"workers": 3, "type": "DenyList"},
    "serviceaccount": {"workers": 3}, "persistentvolumeclaim": {"workers": 3}, "event": {"workers": 3, "type": "DenyList"}},
    "extraArgs": ["--enable-apiserver-support=true", "--enable-storage", "--disable-ip-reflection=false"]})";
  const AlwaysDone all{.shows_addresses = true, .offers_storage = true};
  CHECK(told(usual, all) == "");
  struct Case {
    const char *spec, *told, *of_less;
  };
  for (
      const Case& c : {
          Case{R"({"reflectorsConfig": {"secrets": {"workers": 0}, "ConfigMap": {}}})",
               "what is said of ConfigMap (no such kind); what is said of secrets (no such kind); ",
               "what is said of ConfigMap (no such kind); what is said of secrets (no such kind); "},
          Case{R"({"extraArgs": ["--secrets-reflection-type=AllowList", "-reflection-type", "--reflection-workers"]})",
               "what is said of secrets (no such kind); extraArgs -reflection-type; extraArgs --reflection-workers; ",
               "what is said of secrets (no such kind); extraArgs -reflection-type; extraArgs --reflection-workers; "},
          Case{R"({"extraArgs": ["--node-extra-labels=a=b", "--configmap-reflection-workers", "3", "-v=4"]})",
               "extraArgs --node-extra-labels=a=b; extraArgs -v=4; ",
               "extraArgs --node-extra-labels=a=b; extraArgs -v=4; "},
          Case{
              R"({"nodeExtraLabels": {"tier": "gold", "kubernetes.io/os": "dos"}, "nodeExtraAnnotations": {"a b": "x"}})",
              "nodeExtraLabels \"kubernetes.io/os\" (reserved, or none that a Node can have); "
              "nodeExtraAnnotations \"a b\" (reserved, or none that a Node can have); ",
              "nodeExtraLabels \"kubernetes.io/os\" (reserved, or none that a Node can have); "
              "nodeExtraAnnotations \"a b\" (reserved, or none that a Node can have); "},
          Case{R"({"containerImage": "x", "metricsEnabled": true, "replicas": 2, "tolerations": [], "extraLabels": {},
            "pullPolicy": "", "resources": null, "metricsAddress": ":5872"})",
               "metricsAddress, replicas (there is no separate virtual kubelet); ",
               "metricsAddress, replicas (there is no separate virtual kubelet); "},
          Case{R"({"reflectorsConfig": {"pod": {"workers": 0}, "event": {"type": "AllowList"}}})",
               "no workers for pod; type AllowList of event; ", "no workers for pod; type AllowList of event; "},
          Case{R"({"extraArgs": ["--event-reflection-workers=0"], "reflectorsConfig": {"event": {"workers": 3}}})",
               "no workers for event; ", "no workers for event; "},
          Case{
              R"({"reflectorsConfig": {"persistentvolumeclaim": {"workers": 0}}, "extraArgs": ["--enable-storage=false"]})",
              "no workers for persistentvolumeclaim; --enable-storage=false; ", ""},
          Case{R"({"extraArgs": ["--disable-ip-reflection"]})", "--disable-ip-reflection; ", ""},
          Case{R"({"reflectorsConfig": {"endpointslice": {"type": "AllowList"}}})",
               "type AllowList of endpointslice (what is said of service holds); ",
               "type AllowList of endpointslice (what is said of service holds); "},
          Case{R"({"reflectorsConfig": {"endpointslice": {"type": "AllowList"}, "service": {"type": "AllowList"}}})",
               "", ""},
      }) {
    CAPTURE(c.spec);
    CHECK(told(c.spec, all) == c.told);
    CHECK(told(c.spec, {}) == c.of_less);
  }
  CHECK(told(R"({"reflectorsConfig": {"widgets.example.org": {"workers": 0}}})", all, {"widgets.example.org"}) == "");
}

TEST_CASE("a template may keep the tokens of pods at home") {
  const char *none = "serviceaccount has no workers", *off = "--enable-apiserver-support is false";
  for (const auto& [spec, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{}", ""},
           {R"({"reflectorsConfig": {"serviceaccount": {"workers": 3}}})", ""},
           {R"({"reflectorsConfig": {"serviceaccount": {"workers": 0}}})", none},
           {R"({"reflectorsConfig": {"serviceaccount": {"workers": "none"}}})",
            "workers of serviceaccount is \"none\" and not a number"},
           {R"({"extraArgs": ["--serviceaccount-reflection-workers=0"]})", none},
           {R"({"extraArgs": ["--enable-apiserver-support"]})", ""},
           {R"({"extraArgs": ["--enable-apiserver-support=false"]})", off},
           {R"({"extraArgs": ["--enable-apiserver-support=false", "--enable-apiserver-support=true"]})", ""}}) {
    CAPTURE(spec);
    CHECK(why_tokens_withheld(parse(R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": )" +
                                    std::string(spec) + "}")) == why);
  }
}

TEST_CASE("a template may keep tokens with an audience of their own at home, too") {
  const std::string none = "serviceaccount has no workers", off = "--audience-tokens is never";
  for (const auto& [spec, why] : std::initializer_list<std::pair<const char*, std::string>>{
           {"{}", ""},
           {R"({"reflectorsConfig": {"serviceaccount": {"workers": 0}}})", none},
           {R"({"extraArgs": ["--enable-apiserver-support=false"]})", ""},
           {R"({"extraArgs": ["--audience-tokens=never"]})", off},
           {R"({"extraArgs": ["--audience-tokens=always"]})", ""},
           {R"({"extraArgs": ["--audience-tokens=maybe"]})",
            "--audience-tokens is \"maybe\" and neither always nor never"}}) {
    CAPTURE(spec);
    CHECK(why_audience_tokens_withheld(parse(R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": )" +
                                             std::string(spec) + "}")) == why);
  }
  const std::string begin = "pods that are offloaded from now on get no ";
  const std::string because = ", because of the VkOptionsTemplate: ";
  CHECK(describe_withheld("", "") == "");
  CHECK(describe_withheld(none, none) == begin + "tokens of this cluster" + because + none);
  CHECK(describe_withheld("x", off) == begin + "tokens of this cluster" + because + "x, and " + off);
  CHECK(describe_withheld("x", "") == begin + "tokens for the API server at home" + because + "x");
  CHECK(describe_withheld("", off) == begin + "tokens with an audience of their own" + because + off);
}

TEST_CASE("a template may leave pods the trust bundles of their provider") {
  for (const auto& [spec, withholds] :
       std::initializer_list<std::pair<const char*, bool>>{{"{}", false},
                                                           {R"({"extraArgs": ["--trust-bundles=home"]})", false},
                                                           {R"({"extraArgs": ["--trust-bundles=provider"]})", true},
                                                           {R"({"extraArgs": ["--trust-bundles=maybe"]})", true}}) {
    CAPTURE(spec);
    const kube::Object options =
        parse(R"({"kind": "VkOptionsTemplate", "metadata": {"name": "x"}, "spec": )" + std::string(spec) + "}");
    CHECK(leaves_to_provider(options, "--trust-bundles") == withholds);
  }
}

TEST_CASE("mistakes and what is not followed are told in one message") {
  CHECK(describe_mistakes({}) == "");
  CHECK(describe_mistakes({.policies = {}, .mistakes = {"a", "b"}, .not_followed = {}}) ==
        "the VkOptionsTemplate has mistakes (a, b), so these kinds are not reflected");
  CHECK(describe_mistakes({.policies = {}, .mistakes = {"a"}, .not_followed = {"c", "d"}}) ==
        "the VkOptionsTemplate has mistakes (a), so these kinds are not reflected; the VkOptionsTemplate asks for what "
        "is not supported: c, d");
}

TEST_CASE("a copy that an AllowList takes back is told of with the reason") {
  Reflection reflection("ConfigMap");
  const kube::Object local =
      parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words", "namespace": "shop"}})");
  const kube::Object copy = reflection.copy(local);
  reflection.policy = SelectionPolicy::allow_list;
  const ReflectionPlan plan = reflection.plan(&local, &copy);
  REQUIRE(name_of(plan) == "Remove");
  CHECK(std::get<reflection_action::Remove>(plan).message ==
        "ConfigMap words is no longer reflected to cluster remote-cluster: under an AllowList only what is annotated "
        "liqo.io/allow-reflection is");
}

}  // namespace liqo::core::reflection
