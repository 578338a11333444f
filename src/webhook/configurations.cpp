#include "liqo/webhook/configurations.hpp"

#include "kube/base/base64.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::webhook {
namespace {

namespace json = kube::json;
using namespace std::chrono_literals;

/// One webhook: what is asked about, and where.
struct Hook {
  bool mutating;
  std::string_view name, path;
  std::string_view group, version;
  std::string_view resources;  ///< separated by spaces
  std::string_view operations;
  bool skippable = false;       ///< not asked about objects with the label liqo.io/webhook-skip=true
  bool offloaded_only = false;  ///< only in namespaces that are offloaded, but for those that this process stands on
  bool of_peers_only = false;   ///< only in namespaces that belong to a peer: of tenants, and twins
  bool reserves = false;        ///< an answer has an effect, except in a dry run
};

constexpr std::string_view written = "CREATE UPDATE";
constexpr std::string_view offloading = "offloading.liqo.io", authentication = "authentication.liqo.io";

constexpr Hook hooks[] = {
    {.mutating = true,
     .name = "pod.mutate.liqo.io",
     .path = "/mutate/pod",
     .group = "",
     .version = "v1",
     .resources = "pods",
     .operations = "CREATE",
     .offloaded_only = true},
    {true, "shadowpod.mutate.liqo.io", "/mutate/shadowpods", offloading, "v1beta1", "shadowpods", written},
    {.mutating = true,
     .name = "virtualnode.mutate.liqo.io",
     .path = "/mutate/virtualnodes",
     .group = offloading,
     .version = "v1beta1",
     .resources = "virtualnodes",
     .operations = written,
     .skippable = true},
    {.mutating = true,
     .name = "fc.mutate.liqo.io",
     .path = "/mutate/foreign-cluster",
     .group = "core.liqo.io",
     .version = "v1beta1",
     .resources = "foreignclusters",
     .operations = written,
     .skippable = true},
    {true, "tenant.mutate.liqo.io", "/mutate/tenants", authentication, "v1beta1", "tenants", written},
    {.mutating = false,
     .name = "shadowpod.validate.liqo.io",
     .path = "/validate/shadowpods",
     .group = offloading,
     .version = "v1beta1",
     .resources = "shadowpods",
     .operations = written,
     .reserves = true},
    {.mutating = false,
     .name = "virtualnode.validate.liqo.io",
     .path = "/validate/virtualnodes",
     .group = offloading,
     .version = "v1beta1",
     .resources = "virtualnodes",
     .operations = written,
     .skippable = true},
    {.mutating = false,
     .name = "nsoff.validate.liqo.io",
     .path = "/validate/namespace-offloading",
     .group = offloading,
     .version = "v1beta1",
     .resources = "namespaceoffloadings",
     .operations = written,
     .skippable = true},
    {false, "namespacemap.validate.liqo.io", "/validate/namespacemaps", offloading, "v1beta1",
     "namespacemaps namespacemaps/status", written},
    {false, "quota.validate.liqo.io", "/validate/quotas", offloading, "v1beta1", "quotas", written},
    {false, "resourceslice.validate.liqo.io", "/validate/resourceslices", authentication, "v1beta1",
     "resourceslices resourceslices/status", written},
    {false, "renew.validate.liqo.io", "/validate/renews", authentication, "v1beta1", "renews renews/status", written},
    {.mutating = false,
     .name = "secret.validate.liqo.io",
     .path = "/validate/secrets",
     .group = "",
     .version = "v1",
     .resources = "secrets",
     .operations = "CREATE",
     .of_peers_only = true},
    {.mutating = false,
     .name = "service.validate.liqo.io",
     .path = "/validate/services",
     .group = "",
     .version = "v1",
     .resources = "services",
     .operations = written,
     .of_peers_only = true},
    {.mutating = false,
     .name = "ingress.validate.liqo.io",
     .path = "/validate/ingresses",
     .group = "networking.k8s.io",
     .version = "v1",
     .resources = "ingresses",
     .operations = written,
     .of_peers_only = true},
    {false, "tenant.validate.liqo.io", "/validate/tenants", authentication, "v1beta1", "tenants tenants/status",
     written},
};

json::array words(std::string_view text) {
  json::array found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

json::object requirement(std::string_view key, std::string_view verb, json::array values = {}) {
  json::object made;
  made["key"] = key;
  made["operator"] = verb;
  if (!values.empty()) made["values"] = std::move(values);
  return made;
}

json::object selector(json::array requirements) {
  json::object made;
  made["matchExpressions"] = std::move(requirements);
  return made;
}

/// Offloaded namespaces. Where this process runs, and what the cluster itself needs to come up, pods must start while
/// it is away, also if somebody offloads those namespaces.
json::object offloaded_namespaces(std::string_view own) {
  json::array kept{json::string("kube-system")};
  if (!own.empty() && own != "kube-system") kept.emplace_back(own);
  return selector({requirement(api::labels::scheduling_enabled, "In", {"true"}),
                   requirement("kubernetes.io/metadata.name", "NotIn", std::move(kept))});
}

json::object client(const Hook& hook, const Reach& reach, std::string_view ca_pem) {
  json::object made;
  made["caBundle"] = kube::encode_base64(ca_pem);
  if (!reach.url.empty()) {
    made["url"] = reach.url + std::string(hook.path);
    return made;
  }
  json::object service;
  service["namespace"] = reach.ns;
  service["name"] = reach.service;
  service["port"] = reach.port;
  service["path"] = hook.path;
  made["service"] = std::move(service);
  return made;
}

json::object forge_hook(const Hook& hook, const Reach& reach, std::string_view ca_pem) {
  json::object rule;
  rule["apiGroups"] = json::array{json::string(hook.group)};
  rule["apiVersions"] = json::array{json::string(hook.version)};
  rule["operations"] = words(hook.operations);
  rule["resources"] = words(hook.resources);
  rule["scope"] = "*";
  json::object made;
  made["name"] = hook.name;
  made["clientConfig"] = client(hook, reach, ca_pem);
  made["rules"] = json::array{std::move(rule)};
  made["failurePolicy"] = "Fail";
  made["matchPolicy"] = "Equivalent";
  made["namespaceSelector"] = hook.offloaded_only  ? offloaded_namespaces(reach.ns)
                              : hook.of_peers_only ? selector({requirement(api::labels::remote_cluster_id, "Exists")})
                                                   : json::object();
  made["objectSelector"] =
      hook.skippable ? selector({requirement(api::labels::webhook_skip, "NotIn", {"true"})}) : json::object();
  made["sideEffects"] = hook.reserves ? "NoneOnDryRun" : "None";
  made["timeoutSeconds"] = 10;
  made["admissionReviewVersions"] = json::array{"v1"};
  if (hook.mutating) made["reinvocationPolicy"] = "Never";
  return made;
}

}  // namespace

kube::Object forge_configuration(const kube::Resource& kind, const Reach& reach, std::string_view ca_pem) {
  kube::Object made = kube::Object::make(kind, {"", std::string(configuration_name)});
  made.set_label(api::labels::webhook, "true");
  json::array list;
  for (const Hook& hook : hooks)
    if (hook.mutating == (kind == mutating_configurations)) list.push_back(forge_hook(hook, reach, ca_pem));
  made.tree()["webhooks"] = std::move(list);
  return made;
}

bool is_as_wanted(const kube::Object& stored, const kube::Object& wanted) {
  return stored.label(api::labels::webhook) == "true" &&
         kube::array_at(stored.tree(), {"webhooks"}) == kube::array_at(wanted.tree(), {"webhooks"});
}

Configurations::Configurations(const asio::any_io_executor& executor, kube::Api& api, kube::InformerSet& home,
                               kube::Random& random, kube::Metrics& metrics, Reach reach)
    : api_(api),
      reach_(std::move(reach)),
      log_("webhook"),
      mutating_(home.acquire({.resource = mutating_configurations,
                              .ns = {},
                              .selection = {.field_selector = "metadata.name=" + std::string(configuration_name)}})),
      validating_(home.acquire({.resource = validating_configurations,
                                .ns = {},
                                .selection = {.field_selector = "metadata.name=" + std::string(configuration_name)}})),
      controller_(executor, api.clock(), random, metrics, {.name = "webhook-configuration"},
                  [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
  for (kube::InformerHandle* handle : {&mutating_, &validating_})
    handle->subscribe([this](const kube::ObjectKey&) { enqueue_all(); }, [this] { enqueue_all(); });
}

void Configurations::trust(std::string ca_pem) {
  ca_pem_ = std::move(ca_pem);
  enqueue_all();
}

void Configurations::enqueue_all() {
  // The name stands for the kind: there is one object of each.
  controller_.enqueue({.object = {"", "mutating"}});
  controller_.enqueue({.object = {"", "validating"}});
}

asio::awaitable<kube::Outcome> Configurations::reconcile(kube::WorkKey key) {
  const bool is_mutating = key.object.name == "mutating";
  kube::InformerHandle& stored = is_mutating ? mutating_ : validating_;
  const kube::Resource kind = is_mutating ? mutating_configurations : validating_configurations;
  // The certificate and the caches bring it back here.
  if (ca_pem_.empty() || !stored->has_synced()) co_return kube::Outcome::done();
  kube::Object wanted = forge_configuration(kind, reach_, ca_pem_);
  auto found = stored->find(wanted.key());
  if (found && is_as_wanted(*found, wanted)) co_return kube::Outcome::done();
  kube::Result<kube::Object> answer = kube::fail(kube::Errc::missing, "");
  if (found) {
    found->set_label(api::labels::webhook, "true");
    found->tree()["webhooks"] = wanted.tree()["webhooks"];
    answer = co_await api_.replace(kind, *found);
  } else {
    answer = co_await api_.create(kind, wanted);
  }
  if (!answer) co_return kube::Outcome::retry(std::move(answer.error()).in("writing the webhook configuration"));
  log_.info("Wrote a webhook configuration", {{"kind", kind.kind}, {"by", reach_.url.empty() ? "service" : "url"}});
  stored->observe(std::move(*answer));
  co_return kube::Outcome::done();
}

}  // namespace liqo::webhook
