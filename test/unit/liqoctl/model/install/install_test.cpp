// The manifests of an installation, and the YAML reader that they need.
#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "kube/wire/yaml.hpp"
#include "model/install/install.hpp"
#include "text/yaml.hpp"

namespace {

using namespace liqoctl;
namespace json = kube::json;

TEST_CASE("YAML is read as the tree that it says, and as it was written by us") {
  const auto read =
      kube::wire::read_yaml("a: 1\nb: \"1\"\nc: [true, null, x, 1.5]\nd: |\n  two\n  lines\n---\n---\n{e: 8Gi}\n");
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  CHECK(json::serialize(read->front()) == R"({"a":1,"b":"1","c":[true,null,"x",1.5E0],"d":"two\nlines\n"})");
  CHECK(json::serialize(read->back()) == R"({"e":"8Gi"})");
  const json::value tree = json::parse(
      R"({"s":["","yes","1","a: b"," x","-","a\nb","a\tb","é"],"n":[1,null,true],"o":{},"f":[0.5,1e-9,1.5e300],"l":[[1,["x"]],[],{"k":[{"z":1,"a":"b"}]}]})");
  const auto again = kube::wire::read_yaml(text::yaml(tree));
  REQUIRE(again);
  CHECK(again->front() == tree);
  CHECK_FALSE(kube::wire::read_yaml("a: [1"));
  CHECK_FALSE(kube::wire::read_yaml(std::string(200, '[') + std::string(200, ']')));
}

const std::vector<chart::File> small_chart{
    {"Chart.yaml", "{name: liqo, version: 0.1.0, appVersion: 0.2.0}"},
    {"values.yaml", "{clusterID: \"\", port: 1, odd: \"\"}"},
    {"values.schema.json", R"({"type": "object", "additionalProperties": false, "properties": {
      "clusterID": {"type": "string"}, "port": {"type": "integer"}, "odd": {"type": "string"}}})"},
    {"crds/one.yaml", "{kind: CustomResourceDefinition, metadata: {name: one}}"},
    {"templates/_helpers.tpl",
     "{{ define \"liqo.noEffect\" }}{{ with .Values.odd }}\nodd.{{ . }}: no: part\n{{ end }}{{ end }}"},
    {"templates/a.yaml",
     "kind: Deployment\nport: {{ int64 .Values.port }}\nof: {{ .Chart.AppVersion }}\n---\n---\n"
     "kind: Other\n"},
    {"templates/b.yaml", "kind: Service\nmetadata: {namespace: {{ .Release.Namespace }}}\n"},
    {"templates/hook.yaml", "kind: Job\nmetadata: {annotations: {helm.sh/hook: pre-delete}}\n"},
    {"templates/NOTES.txt", "{{ fail \"not here\" }}"}};

TEST_CASE("an installation is what the templates make, in the order in which it can be applied") {
  const auto made = model::installation(small_chart, {{"port", 2}, {"odd", "x"}}, "other");
  REQUIRE(made);
  std::string kinds;
  for (const json::value& manifest : made->manifests) kinds += std::string(kube::string_at(manifest, {"kind"})) + " ";
  CHECK(kinds == "Namespace CustomResourceDefinition Service Other Deployment ");
  CHECK(made->manifests.back() == json::parse(R"({"kind":"Deployment","port":2,"of":"0.2.0"})"));
  CHECK(kube::string_at(made->manifests[0], {"metadata", "name"}) == "other");
  CHECK(kube::string_at(made->manifests[2], {"metadata", "namespace"}) == "other");
  REQUIRE(made->without_effect.size() == 1);
  CHECK(made->without_effect[0].path == "odd.x");
  CHECK(made->without_effect[0].why == "no: part");
}

TEST_CASE("the kinds of a chart are those of its files, whatever its values need") {
  const auto kinds = model::kinds_of_chart(small_chart);
  REQUIRE(kinds);
  CHECK(*kinds == std::vector{json::parse(R"({"kind":"CustomResourceDefinition","metadata":{"name":"one"}})")});
  CHECK_FALSE(model::kinds_of_chart(std::vector<chart::File>{{"crds/one.yaml", "a: ["}}));
}

TEST_CASE("values that the schema refuses are told together, and a chart that is broken by its file") {
  const auto refused = model::installation(small_chart, {{"prot", 2}, {"odd", 1}}, "liqo");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == "value prot is not known: did you mean port?; value odd must be a text, not 1");
  for (const auto& [path, text, wanted] : std::vector<std::tuple<const char*, const char*, const char*>>{
           {"templates/a.yaml", "a: {{ .Values.port }}", "templates/a.yaml:1: "},
           {"templates/a.yaml", "{{ if }}", "templates/a.yaml:1: "},
           {"templates/a.yaml", "a: [", "templates/a.yaml: "},
           {"crds/one.yaml", "a: [", "crds/one.yaml: "},
           {"values.yaml", "[]", "values.yaml is no map"},
           {"values.schema.json", "{oneOf: []}", "the schema says oneOf"}}) {
    CAPTURE(text);
    auto files = small_chart;
    std::ranges::find(files, std::string_view(path), &chart::File::path)->text = text;
    const auto broken = model::installation(files, {}, "liqo");
    REQUIRE_FALSE(broken);
    CHECK_MESSAGE(broken.error().text().contains(wanted), broken.error().text());
  }
  CHECK_FALSE(model::installation({}, {}, "liqo"));
}

TEST_CASE("of kinds of others it is said what to install first, or which value does without") {
  const auto way_out = [](std::string_view kind, std::string_view group) {
    return model::install_first({.group = group, .version = "v1", .plural = "x", .kind = kind});
  };
  for (const auto& [kind, value] : {std::pair{"PodMonitor", "metrics.prometheusOperator.enabled=false"},
                                    std::pair{"ServiceMonitor", "metrics.serviceMonitor.enabled=false"},
                                    std::pair{"PrometheusRule", "metrics.rules.enabled=false"}}) {
    CHECK(way_out(kind, "monitoring.coreos.com").starts_with("install the Prometheus operator first"));
    CHECK(way_out(kind, "monitoring.coreos.com").ends_with(value));
  }
  CHECK(way_out("Deployment", "apps").empty());
}

}  // namespace
