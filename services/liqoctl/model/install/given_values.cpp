#include "model/install/given_values.hpp"

#include "core/common/secret_bytes.hpp"
#include "core/reflection/policy.hpp"
#include "kube/base/base64.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"
#include "model/install/daemon_arguments.hpp"
#include "template/values.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;

constexpr std::string_view key = "values";

/// The form of a value in an argument or in the ConfigMap.
enum class Form { text, number, truth, list, pairs, given, not_given };

/// The place where a value is shown, and its path.
struct Shown {
  std::string_view name;
  Form form;
  std::string_view path;
};

constexpr Shown in_arguments[] = {
    {"--listen-port=", Form::number, "listenPort"},
    {"--listen-port-count=", Form::number, "listenPortCount"},
    {"--metrics-address=:", Form::number, "metrics.port"},
    {"--metrics-secure=", Form::truth, "metrics.secure"},
    {"--health-probe-address=:", Form::number, "healthPort"},
    {"--webhook-port=", Form::number, "webhook.port"},
    {"--webhook-failure-policy=", Form::text, "webhook.failurePolicy"},
    {"--metric-agent-port=", Form::number, "metricAgent.port"},
    {"--enable-resource-enforcement=", Form::truth, "controllerManager.config.enableResourceEnforcement"},
    {"--enable-node-failure-controller=", Form::truth, "controllerManager.config.enableNodeFailureController"},
    {"--pod-cidr=", Form::list, "ipam.podCIDRs"},
    {"--api-server-address-override=", Form::text, "apiServer.address"},
    {"--ca-override=", Form::text, "apiServer.ca"},
    {"--trusted-ca", Form::given, "apiServer.trustedCA"},
    {"--audience-tokens=", Form::text, "apiServer.audienceTokens"},
    {"--trust-bundles=", Form::text, "offloading.trustBundles"},
    {"--pod-certificates=", Form::text, "offloading.podCertificates"},
    {"--home-api-server-host=", Form::text, "apiServer.hostForPods"},
    {"--tls-compatibility-mode", Form::given, "authentication.tlsCompatibilityMode"},
    {"--disable-ip-reflection", Form::not_given, "networking.reflectIPs"},
    {"--deny-direct-connections", Form::given, "networking.denyDirectConnections"},
    {"--virtual-storage-class-name=", Form::text, "storage.virtualStorageClassName"},
    {"--storage-namespace=", Form::text, "storage.storageNamespace"},
    {"--offload-namespaces=", Form::text, "offloading.namespaces.selector"},
    {"--offload-namespaces-pod-strategy=", Form::text, "offloading.namespaces.podOffloadingStrategy"},
    {"--offload-namespaces-mapping-strategy=", Form::text, "offloading.namespaces.namespaceMappingStrategy"},
    {"--offload-namespaces-to=", Form::list, "offloading.namespaces.clusterSelectors"},
    {"--pod-reflection-workers=", Form::number, "offloading.reflection.pod.workers"},
    {"--home-names=", Form::truth, "homeNames"},
    {"--cordon-silent-tenants-after=", Form::text, "cordonSilentTenantsAfter"},
};

constexpr Shown in_sharing_policy[] = {
    {"default-node-resources", Form::pairs, "offloading.defaultNodeResources"},
    {"default-limits-enforcement", Form::text, "controllerManager.config.defaultLimitsEnforcement"},
    {"default-resource-slice-class-enabled", Form::truth, "authentication.defaultResourceSliceClassEnabled"},
    {"sharing-percentage", Form::number, "offloading.sharingPercentage"},
    {"cluster-labels", Form::pairs, "discovery.config.clusterLabels"},
    {"enable-storage", Form::truth, "storage.enabled"},
    {"real-storage-class-name", Form::text, "storage.realStorageClassName"},
};

/// The place of a path in a tree, which is created if it is missing.
json::value& place(json::object& values, std::string_view path) {
  json::object* at = &values;
  const std::vector<std::string_view> names = kube::split(path, '.');
  for (std::size_t i = 0; i + 1 < names.size(); ++i) at = &kube::ensure_object(*at, names[i]);
  return (*at)[names.back()];
}

json::value number_of(std::string_view text) {
  const auto number = kube::read_number<std::int64_t>(text);
  return number ? json::value(*number) : json::value(text);
}

json::object pairs_of(std::string_view text) {
  json::object pairs;
  for (const std::string_view pair : kube::split(text, ','))
    if (const std::size_t at = pair.find('='); at != std::string_view::npos)
      pairs[pair.substr(0, at)] = pair.substr(at + 1);
  return pairs;
}

void take(json::object& values, const Shown& shown, std::string_view text) {
  json::value& at = place(values, shown.path);
  switch (shown.form) {
    case Form::text:
      at = text;
      break;
    case Form::number:
      at = number_of(text);
      break;
    case Form::truth:
      at = text == "true";
      break;
    case Form::list:
      if (!at.is_array()) at = json::array();
      at.get_array().emplace_back(text);
      break;
    case Form::pairs:
      at = pairs_of(text);
      break;
    case Form::given:
      at = true;
      break;
    case Form::not_given:
      at = false;
      break;
  }
}

/// Takes what an argument says of a reflected kind: `--configmap-reflection-workers=8` is the value
/// `offloading.reflection.configmap.workers`.
void take_policies(json::object& values, std::string_view word) {
  for (const liqo::core::reflection::ReflectedKind* kind : liqo::core::reflection::reflected_kinds())
    for (const bool is_type : {false, true}) {
      const std::string name = liqo::core::reflection::option_name(*kind), setting = is_type ? "type" : "workers";
      const std::string flag = "--" + name + "-reflection-" + setting + "=";
      const std::string path = "offloading.reflection." + name + "." + setting;
      if (word.starts_with(flag))
        take(values, {flag, is_type ? Form::text : Form::number, path}, word.substr(flag.size()));
    }
}

/// Takes over the image, without a tag that is the version of its chart, because a newer chart brings a newer tag.
void take_image(json::object& values, const kube::Object& deployment) {
  for (const json::value& container : kube::array_at(deployment.spec(), {"template", "spec", "containers"})) {
    const std::string_view image = kube::string_at(container, {"image"});
    const std::size_t colon = image.rfind(':');
    const bool has_tag = colon != std::string_view::npos && image.find('/', colon) == std::string_view::npos;
    if (image.empty()) continue;
    place(values, "image.repository") = image.substr(0, has_tag ? colon : image.size());
    if (has_tag && image.substr(colon + 1) != deployment.label("app.kubernetes.io/version"))
      place(values, "image.tag") = image.substr(colon + 1);
    return;
  }
}

/// Removes values that equal the defaults, and maps that are empty without them.
void drop_defaults(json::object& values, const json::object& defaults) {
  std::vector<std::string> gone;
  for (auto& [name, value] : values) {
    const json::value* usual = defaults.if_contains(name);
    if (usual && usual->is_object() && value.is_object()) {
      drop_defaults(value.get_object(), usual->get_object());
      if (value.get_object().empty()) gone.emplace_back(name);
    } else if (usual && *usual == value) {
      gone.emplace_back(name);
    }
  }
  for (const std::string& name : gone) values.erase(name);
}

void add_paths(const json::object& values, const std::string& before, std::vector<std::string>& paths) {
  for (const auto& [name, value] : values) {
    std::string path = before + std::string(name);
    if (value.is_object() && !value.get_object().empty())
      add_paths(value.get_object(), path + ".", paths);
    else
      paths.push_back(std::move(path));
  }
}

}  // namespace

kube::Object forge_given_values(const kube::Object& of_chart, const std::string& ns, const json::object& values) {
  kube::Object secret = kube::Object::make(kube::resources::secrets, {ns, std::string(given_values_secret)});
  json::object& metadata = secret.mutable_metadata();
  metadata["labels"] = of_chart.labels();
  if (!of_chart.annotations().empty()) metadata["annotations"] = of_chart.annotations();
  secret.tree()["type"] = "Opaque";
  secret.tree()["data"] = json::object{{key, kube::encode_base64(json::serialize(values))}};
  return secret;
}

kube::Result<json::object> read_given_values(const kube::Object& secret) {
  auto values = kube::parse_json(liqo::core::secret_bytes(secret, key));
  if (!values || !values->is_object())
    return kube::fail(kube::Errc::parse, "Secret " + secret.key().text() +
                                             " does not hold the values of an installation: delete it, and give all "
                                             "values again");
  return std::move(values->get_object());
}

json::object shown_values(const kube::Object* deployment, const kube::Object* sharing_policy,
                          const json::object& defaults) {
  json::object values;
  if (deployment) {
    take_image(values, *deployment);
    if (const json::value* replicas = kube::find(deployment->spec(), {"replicas"})) values["replicas"] = *replicas;
    for (const std::string_view word : arguments_of(deployment)) {
      take_policies(values, word);
      for (const Shown& shown : in_arguments) {
        const bool is_it =
            shown.name.ends_with('=') || shown.name.ends_with(':') ? word.starts_with(shown.name) : word == shown.name;
        if (is_it) take(values, shown, word.substr(shown.name.size()));
      }
    }
    if (!has_metric_agent(deployment)) place(values, "metricAgent.enabled") = false;
  }
  if (sharing_policy)
    for (const Shown& shown : in_sharing_policy)
      if (const json::value* text = kube::find(sharing_policy->tree(), {"data", shown.name}); text && text->is_string())
        take(values, shown, text->get_string());
  drop_defaults(values, defaults);
  return values;
}

std::vector<std::string> paths_of(const json::object& values) {
  std::vector<std::string> paths;
  add_paths(values, "", paths);
  return paths;
}

}  // namespace liqoctl::model
