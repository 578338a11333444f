#include "model/install/install.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "kube/base/text.hpp"
#include "kube/wire/yaml.hpp"
#include "template/numbers.hpp"
#include "template/schema.hpp"
#include "template/values.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
using kube::Errc;

/// The order of kinds: objects come after those that they need. Other kinds come before the last one.
constexpr std::array<std::string_view, 15> order{"Namespace",      "CustomResourceDefinition",
                                                 "NetworkPolicy",  "PodDisruptionBudget",
                                                 "ServiceAccount", "ConfigMap",
                                                 "RuntimeClass",   "StorageClass",
                                                 "ClusterRole",    "ClusterRoleBinding",
                                                 "Role",           "RoleBinding",
                                                 "Service",        "",
                                                 "Deployment"};

std::size_t rank(const json::value& manifest) {
  const auto of = [](std::string_view kind) { return std::size_t(std::ranges::find(order, kind) - order.begin()); };
  const std::size_t found = of(kube::string_at(manifest, {"kind"}));
  return found < order.size() ? found : of("");
}

std::vector<json::value> in_order(std::vector<json::value> manifests) {
  std::vector<json::value> out;
  for (std::size_t wanted = 0; wanted < order.size(); ++wanted)
    for (json::value& manifest : manifests)
      if (!manifest.is_null() && rank(manifest) == wanted) out.push_back(std::exchange(manifest, nullptr));
  return out;
}

kube::Result<json::object> read_object(std::span<const chart::File> files, std::string_view path) {
  const auto file = std::ranges::find(files, path, &chart::File::path);
  if (file == files.end()) return kube::fail(Errc::missing, "the chart has no " + std::string(path));
  KUBE_TRY(documents, kube::wire::read_yaml(file->text), path);
  if (documents.size() != 1 || !documents.front().is_object())
    return kube::fail(Errc::parse, std::string(path) + " is no map");
  return std::move(documents.front().get_object());
}

kube::Result<void> check(const json::object& schema, const json::object& values) {
  KUBE_TRY(findings, chart::check_values(schema, values));
  if (!findings.empty()) return kube::fail(Errc::invalid_input, kube::join(findings, "; "));
  return {};
}

/// The documents of a file, without Helm's hooks, because liqoctl does their work itself.
kube::Result<void> add_documents(std::vector<json::value>& manifests, std::string_view path, std::string_view text) {
  KUBE_TRY(documents, kube::wire::read_yaml(text), path);
  for (json::value& document : documents)
    if (kube::string_at(document, {"metadata", "annotations", "helm.sh/hook"}).empty())
      manifests.push_back(std::move(document));
  return {};
}

}  // namespace

std::string install_first(const kube::Resource& kind) {
  if (kind.group != "monitoring.coreos.com") return {};
  const std::string_view value = kind.kind == "PodMonitor"       ? "prometheusOperator"
                                 : kind.kind == "ServiceMonitor" ? "serviceMonitor"
                                                                 : "rules";
  return "install the Prometheus operator first (github.com/prometheus-operator), or set metrics." +
         std::string(value) + ".enabled=false";
}

kube::Result<json::object> default_values(std::span<const chart::File> files) {
  return read_object(files, "values.yaml");
}

kube::Result<std::vector<json::value>> kinds_of_chart(std::span<const chart::File> files) {
  std::vector<json::value> definitions;
  for (const chart::File& file : files)
    if (file.path.starts_with("crds/")) KUBE_TRYV(add_documents(definitions, file.path, file.text));
  return definitions;
}

kube::Result<Installation> installation(std::span<const chart::File> files, const json::object& values,
                                        const std::string& ns) {
  KUBE_TRY(about, read_object(files, "Chart.yaml"));
  KUBE_TRY(defaults, read_object(files, "values.yaml"));
  KUBE_TRY(schema, read_object(files, "values.schema.json"));
  KUBE_TRY(engine, chart::Engine::read(files));

  json::object merged = chart::with_defaults(values, defaults);
  KUBE_TRYV(check(schema, merged));
  json::object root;
  root["Values"] = chart::as_values(std::move(merged));
  root["Chart"] =
      json::object{{"Name", about["name"]}, {"Version", about["version"]}, {"AppVersion", about["appVersion"]}};
  root["Release"] = json::object{{"Name", "liqo"}, {"Namespace", ns}};

  Installation made;
  made.manifests.emplace_back(json::object{
      {"apiVersion", "v1"},
      {"kind", "Namespace"},
      {"metadata", json::object{{"name", ns}, {"labels", json::object{{"app.kubernetes.io/part-of", "liqo"}}}}}});
  KUBE_TRY(definitions, kinds_of_chart(files));
  std::ranges::move(definitions, std::back_inserter(made.manifests));
  for (const std::string& path : engine.objects()) {
    KUBE_TRY(text, engine.render(path, root));
    KUBE_TRYV(add_documents(made.manifests, path, text));
  }
  made.manifests = in_order(std::move(made.manifests));

  KUBE_TRY(told, engine.render("liqo.noEffect", root));
  for (const std::string_view line : kube::split(told, '\n'))
    if (const std::size_t path = line.find(": "); path != std::string_view::npos)
      made.without_effect.push_back({std::string(line.substr(0, path)), std::string(line.substr(path + 2))});
  return made;
}

}  // namespace liqoctl::model
