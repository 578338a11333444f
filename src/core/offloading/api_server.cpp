#include "core/offloading/api_server.hpp"

#include <algorithm>
#include <utility>

#include "core/common/ip.hpp"
#include "core/common/json_values.hpp"
#include "core/common/names.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/offloading/token_audiences.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/names.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

/// A source with the reflected token in place of one that would ask for a token of the provider.
json::object token_source(const kube::Object& local_pod, std::string_view volume, const json::object& token) {
  const std::string_view path = kube::string_at(token, {"path"});
  json::object item{{"key", token_key(volume, path)}, {"path", path}};
  // The owner of the file (Kubernetes 1.37) has the same field for a key of a Secret.
  if (const json::value* owner = token.if_contains("user"); owner && !owner->is_null()) item["user"] = *owner;
  return {
      {"secret", json::object{{"name", token_secret_name(local_pod.name())}, {"items", json::array{std::move(item)}}}}};
}

/// The sources with reflected tokens in place of the provider's, and without those that the pod does not get.
json::array adapt_tokens(const json::array& sources, std::string_view volume, const kube::Object& local_pod,
                         const ForgingContext& ctx) {
  json::array adapted;
  for (const json::value& entry : sources) {
    const json::object* source = entry.if_object();
    if (source && source->contains("serviceAccountToken")) {
      const json::object& token = kube::object_at(*source, {"serviceAccountToken"});
      if (gets_token(local_pod, kube::string_at(token, {"audience"}), ctx))
        adapted.push_back(token_source(local_pod, volume, token));
      continue;
    }
    adapted.push_back(entry);
  }
  return adapted;
}

/// Makes the sources name the reflected copy of home's root CA.
void adapt_root_ca(json::array& sources, const ForgingContext& ctx) {
  for (json::value& source : sources)
    if (kube::string_at(source, {"configMap", "name"}) == api::root_ca_name)
      (*object_in(source.get_object(), "configMap"))["name"] = remote_root_ca_name(ctx.clusters.local);
}

/// The names of the API server's Service in every cluster.
constexpr std::string_view short_name = "kubernetes.default", service_name = "kubernetes.default.svc",
                           full_name = "kubernetes.default.svc.cluster.local";

struct ApiServerAddress {
  std::string host, port;
};

/// Host and port can each be overridden alone.
ApiServerAddress address_of(const ForgingContext& ctx) {
  return {ctx.api_server_host.empty() ? std::string(short_name) : ctx.api_server_host,
          ctx.api_server_port.empty() ? ctx.kubernetes_service_port : ctx.api_server_port};
}

/// Whether the longer names lead to the host that was given: an alias is for an address, and clients of these names use
/// the port of HTTPS.
bool is_aliased(const ForgingContext& ctx) {
  return IpAddress::parse(ctx.api_server_host) && address_of(ctx).port == "443";
}

/// Whether a text has a name of the API server that is no alias.
bool names_api_server(std::string_view text, bool aliased) {
  for (std::size_t at = text.find(short_name); at != std::string_view::npos; at = text.find(short_name, at + 1)) {
    if (!aliased) return true;
    if (!text.substr(at).starts_with(service_name)) return true;
  }
  return false;
}

json::array service_environment(const ForgingContext& ctx) {
  const auto [host, port] = address_of(ctx);
  const bool bracketed = host.contains(':');
  const std::string url = "tcp://" + (bracketed ? "[" + host + "]" : host) + ":" + port;
  const std::string prefix = "KUBERNETES_PORT_" + port + "_TCP";
  const auto entry = [](std::string_view name, std::string_view value) -> json::value {
    return json::object{{"name", name}, {"value", value}};
  };
  return {entry("KUBERNETES_SERVICE_HOST", host), entry("KUBERNETES_SERVICE_PORT", port),
          entry("KUBERNETES_PORT", url),          entry(prefix, url),
          entry(prefix + "_PROTO", "tcp"),        entry(prefix + "_ADDR", host),
          entry(prefix + "_PORT", port)};
}

void adapt_container(json::object& container, const json::array& added) {
  json::array& env = kube::ensure_array(container, "env");
  // Variables that the pod sets itself take precedence, as with a kubelet.
  json::array missing;
  for (const json::value& entry : added)
    if (!find_named(env, kube::string_at(entry, {"name"}))) missing.push_back(entry);
  for (json::value& entry : missing) env.push_back(std::move(entry));
}

}  // namespace

void adapt_volumes(json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx) {
  for_each_object(pod_spec, "volumes", [&](json::object& volume) {
    json::object* projected = object_in(volume, "projected");
    if (!projected) return;
    const std::string name(kube::string_at(volume, {"name"}));
    json::array sources = adapt_tokens(kube::array_at(*projected, {"sources"}), name, local_pod, ctx);
    adapt_root_ca(sources, ctx);
    (*projected)["sources"] = std::move(sources);
  });
}

void adapt_environment(json::object& pod_spec, const ForgingContext& ctx) {
  const json::array added = service_environment(ctx);
  for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"})
    for_each_object(pod_spec, list, [&](json::object& container) { adapt_container(container, added); });
}

void adapt_host_aliases(json::object& pod_spec, const kube::Object& local_pod, const ForgingContext& ctx) {
  const auto add = [&pod_spec](const std::string& ip, json::array names) {
    kube::ensure_array(pod_spec, "hostAliases").push_back(json::object{{"ip", ip}, {"hostnames", std::move(names)}});
  };
  if (!ctx.api_server_host.empty()) {
    // A provider maps the address of an alias that has the shortest name, and this one it reaches as it is.
    if (is_aliased(ctx)) add(ctx.api_server_host, {service_name, full_name});
    return;
  }
  json::array names{short_name, service_name, full_name};
  // Elsewhere the name is free for a Service.
  if (local_pod.ns() == "default") names.emplace_back("kubernetes");
  for (const std::string& ip : ctx.api_server_ips) add(ip, names);
}

bool asks_provider_by_name(const kube::Object& local_pod, const ForgingContext& ctx) {
  if (ctx.api_server_host.empty()) return false;
  const bool aliased = is_aliased(ctx);
  const auto names = [aliased](const json::value& word) {
    const json::string* text = word.if_string();
    return text && names_api_server(*text, aliased);
  };
  for (std::string_view list : {"containers", "initContainers"})
    for (const json::value& container : kube::array_at(local_pod.spec(), {list})) {
      for (std::string_view words : {"command", "args"})
        if (std::ranges::any_of(kube::array_at(container, {words}), names)) return true;
      for (const json::value& variable : kube::array_at(container, {"env"})) {
        // A list of names that are not asked for through a proxy.
        if (kube::lower_case(kube::string_at(variable, {"name"})) == "no_proxy") continue;
        if (const json::value* value = kube::find(variable, {"value"}); value && names(*value)) return true;
      }
    }
  return false;
}

}  // namespace liqo::core
