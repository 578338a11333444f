#include "model/install.hpp"

#include <charconv>
#include <set>

#include "kube/base/quantity.hpp"
#include "liqo/core/authentication/names.hpp"
#include "text/width.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;
using kube::Errc;
using kube::string_at;

constexpr std::string_view rbac = "rbac.authorization.k8s.io";

json::value typed(std::string_view text) {
  if (text == "null") return nullptr;
  if (text == "true") return true;
  if (text == "false") return false;
  std::int64_t whole = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (failure == std::errc() && end == text.data() + text.size()) return whole;
  return json::value(text);
}

/// Cuts at the first `separator` that has no backslash before it; takes the backslashes away.
std::string cut(std::string_view& rest, char separator) {
  std::string out;
  std::size_t i = 0;
  for (; i < rest.size() && rest[i] != separator; ++i) {
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    out += rest[i];
  }
  rest.remove_prefix(std::min(i + 1, rest.size()));
  return out;
}

std::string text_of(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (value.is_null()) return {};
  return json::serialize(value);
}

/// Reads values by their paths and remembers which were looked at.
class Values {
 public:
  explicit Values(const json::object& tree) : tree_(tree) {}

  const json::value* at(const std::string& path) {
    known_.insert(path);
    const json::value* found = nullptr;
    const json::object* object = &tree_;
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::string part = cut(rest, '.');
      found = object ? object->if_contains(part) : nullptr;
      if (!found) return nullptr;
      object = found->if_object();
    }
    return found && !found->is_null() ? found : nullptr;
  }
  std::string text(const std::string& path, std::string fallback = {}) {
    const json::value* found = at(path);
    return found ? text_of(*found) : fallback;
  }

  std::vector<std::string> unknown() const {
    std::vector<std::string> out;
    collect(tree_, "", out);
    return out;
  }

 private:
  void collect(const json::object& object, const std::string& prefix, std::vector<std::string>& out) const {
    for (const auto& [key, value] : object) {
      const std::string path = prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
      if (known_.contains(path)) continue;
      if (value.is_object() && !value.get_object().empty()) {
        collect(value.get_object(), path, out);
      } else {
        out.push_back(path);
      }
    }
  }
  const json::object& tree_;
  std::set<std::string> known_;
};

json::object named(std::string_view version, std::string_view kind, std::string_view name, std::string_view ns) {
  json::object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  metadata["labels"] = json::object{{"app.kubernetes.io/part-of", "liqo"}};
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

json::object binding(std::string_view name, std::string_view ns, std::string_view role_kind, std::string_view role,
                     const std::string& liqo_namespace) {
  json::object out = named("rbac.authorization.k8s.io/v1", ns.empty() ? "ClusterRoleBinding" : "RoleBinding", name, ns);
  out["roleRef"] = json::object{{"apiGroup", rbac}, {"kind", role_kind}, {"name", role}};
  out["subjects"] =
      json::array{json::object{{"kind", "ServiceAccount"}, {"name", "liqo"}, {"namespace", liqo_namespace}}};
  return out;
}

json::object env(std::string_view name, std::string_view field) {
  return {{"name", name}, {"valueFrom", json::object{{"fieldRef", json::object{{"fieldPath", field}}}}}};
}

json::object deployment_of(Values& values, const std::string& ns, const std::string& id) {
  const std::string port = values.text("listenPort", "10250"), metrics = values.text("metrics.port", "8082"),
                    webhook = values.text("webhook.port", "9443"),
                    enforce = values.text("controllerManager.config.enableResourceEnforcement",
                                          values.text("enableResourceEnforcement", "true"));
  json::array args{json::string("--cluster-id=" + id),
                   json::string("--liqo-namespace=$(POD_NAMESPACE)"),
                   json::string("--node-ip=" + values.text("nodeIP", "$(POD_IP)")),
                   json::string("--listen-port=" + port),
                   json::string("--metrics-address=:" + metrics),
                   json::string("--webhook-port=" + webhook),
                   json::string("--enable-resource-enforcement=" + enforce)};
  if (const std::string server = values.text("apiServer.address"); !server.empty())
    args.push_back(json::string("--api-server-address-override=" + server));
  // The ConfigMap with the CA of the API servers that may ask the webhooks.
  const std::string client_ca = values.text("webhook.clientCAConfigMap"), ca_place = "/etc/liqo/webhook-client-ca";
  if (!client_ca.empty()) args.push_back(json::string("--webhook-client-ca-file=" + ca_place + "/ca.crt"));
  const json::value* replicas = values.at("replicas");
  if (replicas && *replicas != json::value(1)) args.push_back("--leader-elect");
  if (const json::value* extra = values.at("extraArgs"); extra && extra->is_array())
    for (const json::value& arg : extra->get_array()) args.push_back(arg);
  const auto number = [](const std::string& text) { return typed(text); };
  json::object container{
      {"name", "liqod"},
      {"image",
       values.text("image.repository", "liqo/liqod") + ":" + values.text("image.tag", values.text("tag", "0.1.0"))},
      {"args", std::move(args)},
      {"env", json::array{env("POD_NAME", "metadata.name"), env("POD_NAMESPACE", "metadata.namespace"),
                          env("POD_IP", "status.podIP")}},
      {"ports", json::array{json::object{{"name", "kubelet"}, {"containerPort", number(port)}},
                            json::object{{"name", "metrics"}, {"containerPort", number(metrics)}},
                            json::object{{"name", "webhook"}, {"containerPort", number(webhook)}}}},
      {"livenessProbe", json::object{{"httpGet", json::object{{"path", "/healthz"}, {"port", "metrics"}}},
                                     {"periodSeconds", 10},
                                     {"failureThreshold", 6}}},
      {"readinessProbe",
       json::object{{"httpGet", json::object{{"path", "/readyz"}, {"port", "metrics"}}}, {"periodSeconds", 5}}},
      {"securityContext", json::object{{"allowPrivilegeEscalation", false},
                                       {"readOnlyRootFilesystem", true},
                                       {"capabilities", json::object{{"drop", json::array{"ALL"}}}}}},
      {"resources", json::object{{"requests", json::object{{"cpu", "50m"}, {"memory", "32Mi"}}},
                                 {"limits", json::object{{"memory", "512Mi"}}}}}};
  if (!client_ca.empty())
    container["volumeMounts"] =
        json::array{json::object{{"name", "webhook-client-ca"}, {"mountPath", ca_place}, {"readOnly", true}}};
  const json::object selector{{"app.kubernetes.io/name", "liqod"}, {"app.kubernetes.io/instance", "liqo"}};
  // The daemon that serves the virtual nodes must not run on one.
  const json::object affinity = json::parse(R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
    {"nodeSelectorTerms":[{"matchExpressions":[{"key":"liqo.io/type","operator":"NotIn","values":["virtual-node"]}]}]}}})")
                                    .as_object();
  json::object out = named("apps/v1", "Deployment", "liqod", ns);
  out["spec"] = json::object{
      {"replicas", replicas ? *replicas : json::value(1)},
      {"selector", json::object{{"matchLabels", selector}}},
      {"template",
       json::object{{"metadata", json::object{{"labels", selector}}},
                    {"spec", json::object{{"serviceAccountName", "liqo"},
                                          {"affinity", affinity},
                                          {"securityContext",
                                           json::object{{"runAsNonRoot", true},
                                                        {"runAsUser", 65532},
                                                        {"runAsGroup", 65532},
                                                        {"seccompProfile", json::object{{"type", "RuntimeDefault"}}}}},
                                          {"containers", json::array{std::move(container)}}}}}}};
  if (!client_ca.empty())
    kube::ensure_object(kube::ensure_object(kube::ensure_object(out, "spec"), "template"), "spec")["volumes"] =
        json::array{json::object{{"name", "webhook-client-ca"}, {"configMap", json::object{{"name", client_ca}}}}};
  return out;
}

/// "a=b,c=d" of an object of scalars, in the order of its keys.
std::string joined(const json::value& value) {
  std::string out;
  if (const auto* object = value.if_object())
    for (const auto& [key, amount] : *object)
      out += (out.empty() ? "" : ",") + std::string(key) + "=" + text_of(amount);
  return out;
}

/// What the provider grants, as the ConfigMap that liqod reads while it runs; nothing where no value says anything.
kube::Result<std::optional<json::object>> policy_of(Values& values, const std::string& ns) {
  json::object data;
  if (const json::value* resources = values.at("offloading.defaultNodeResources")) {
    // Those that are not named keep their defaults.
    json::object all{{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}, {"ephemeral-storage", "20Gi"}};
    if (!resources->is_object())
      return kube::fail(Errc::invalid_input, "offloading.defaultNodeResources is no list of resources");
    for (const auto& [key, amount] : resources->get_object()) {
      const auto quantity = kube::Quantity::from_json(amount);
      if (!quantity || quantity->sign() < 0)
        return kube::fail(Errc::invalid_input, "offloading.defaultNodeResources." + std::string(key) + ": '" +
                                                   text_of(amount) + "' is no amount of a resource");
      all[key] = text_of(amount);
    }
    data["default-node-resources"] = joined(all);
  }
  if (const std::string mode = values.text("controllerManager.config.defaultLimitsEnforcement"); !mode.empty()) {
    const std::string lower = text::lower_case(mode);
    const std::string known = lower == "none" ? "None" : lower == "soft" ? "Soft" : lower == "hard" ? "Hard" : "";
    if (known.empty())
      return kube::fail(Errc::invalid_input,
                        "controllerManager.config.defaultLimitsEnforcement is None, Soft or Hard, not '" + mode + "'");
    data["default-limits-enforcement"] = known;
  }
  if (const std::string on = values.text("authentication.defaultResourceSliceClassEnabled"); !on.empty())
    data["default-resource-slice-class-enabled"] = on;
  if (const std::string percent = values.text("offloading.sharingPercentage"); !percent.empty())
    data["sharing-percentage"] = percent;
  if (const json::value* labels = values.at("discovery.config.clusterLabels")) data["cluster-labels"] = joined(*labels);
  if (data.empty()) return std::optional<json::object>();
  json::object out = named("v1", "ConfigMap", "liqo-sharing-policy", ns);
  out["data"] = std::move(data);
  return std::optional<json::object>(std::move(out));
}

}  // namespace

kube::Result<void> set_value(json::object& values, std::string_view assignment, bool as_string) {
  while (!assignment.empty()) {
    const std::size_t equal = assignment.find('=');
    if (equal == 0 || equal == std::string_view::npos)
      return kube::fail(Errc::invalid_input, "'" + std::string(assignment) + "' is not key=value");
    std::string_view path = assignment.substr(0, equal);
    assignment.remove_prefix(equal + 1);
    const std::string value = cut(assignment, ',');
    json::object* at = &values;
    while (true) {
      const std::string part = cut(path, '.');
      if (part.empty()) return kube::fail(Errc::invalid_input, "a key has an empty part");
      if (path.empty()) {
        (*at)[part] = as_string ? json::value(value) : typed(value);
        break;
      }
      at = &kube::ensure_object(*at, part);
    }
  }
  return {};
}

void overlay(json::object& values, const json::object& over) {
  for (const auto& [key, value] : over) {
    json::value* there = values.if_contains(key);
    if (there && there->is_object() && value.is_object()) {
      overlay(there->get_object(), value.get_object());
    } else {
      values[key] = value;
    }
  }
}

kube::Result<Installation> installation(const std::vector<json::value>& chart, const json::object& tree,
                                        const std::string& ns, bool deployment) {
  Values values(tree);
  const std::string id = values.text("discovery.config.clusterID", values.text("clusterID"));
  if (deployment && !liqo::core::is_cluster_id(id))
    return kube::fail(Errc::invalid_input, id.empty() ? "the cluster needs an ID: give --cluster-id"
                                                      : "'" + id +
                                                            "' is no cluster ID: lower-case letters, digits and "
                                                            "dashes, at most 51 characters");
  Installation out;
  out.manifests.emplace_back(named("v1", "Namespace", ns, ""));
  for (json::value document : chart) {
    if (string_at(document, {"kind"}) == "Role" && string_at(document, {"metadata", "namespace"}) == "liqo")
      kube::ensure_object(document.as_object(), "metadata")["namespace"] = ns;
    out.manifests.push_back(std::move(document));
  }
  out.manifests.emplace_back(named("v1", "ServiceAccount", "liqo", ns));
  out.manifests.emplace_back(binding("liqo-liqod", "", "ClusterRole", "liqo-liqod", ns));
  out.manifests.emplace_back(binding("liqo-liqod", ns, "Role", "liqo-liqod", ns));
  out.manifests.emplace_back(
      binding("liqo-liqod-node-leases", "kube-node-lease", "Role", "liqo-liqod-node-leases", ns));
  out.manifests.emplace_back(binding("liqo-liqod-authentication-reader", "kube-system", "Role",
                                     "extension-apiserver-authentication-reader", ns));
  auto policy = policy_of(values, ns);
  if (!policy) return std::unexpected(std::move(policy.error()));
  if (*policy) out.manifests.emplace_back(std::move(**policy));
  if (deployment) {
    json::object made = deployment_of(values, ns, id);
    const json::value* port = values.at("webhook.port");
    if (!port || *port != json::value(0)) {
      // Where the API server finds the webhooks, whose configurations liqod writes and renews by itself.
      json::object service = named("v1", "Service", "liqo-webhook", ns);
      service["spec"] = json::object{
          {"selector", json::object{{"app.kubernetes.io/name", "liqod"}, {"app.kubernetes.io/instance", "liqo"}}},
          {"publishNotReadyAddresses", true},
          {"ports", json::array{json::object{{"name", "webhook"}, {"port", 9443}, {"targetPort", "webhook"}}}}};
      out.manifests.emplace_back(std::move(service));
    }
    out.manifests.emplace_back(std::move(made));
  }
  out.unknown = values.unknown();
  return out;
}

}  // namespace liqoctl::model
