// How Ingresses are reflected.
#include <array>

#include "core/reflection/copy_notes.hpp"
#include "core/reflection/forge.hpp"
#include "core/reflection/references.hpp"
#include "core/reflection/remote_addresses.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::core::reflection {
namespace json = kube::json;
namespace {

using kube::string_at;

/// The older way to name a class, which is one of the home cluster.
constexpr std::string_view class_annotation = "kubernetes.io/ingress.class";

constexpr std::array<std::string_view, 3> resource_fields = {"apiGroup", "kind", "name"};
constexpr std::array<std::string_view, 2> path_fields = {"path", "pathType"};
constexpr std::array<std::string_view, 3> atomic = {"spec.defaultBackend", "spec.rules", "spec.tls"};

json::object forge_backend(const json::value& local) {
  json::object backend;
  if (const json::value* service = kube::find(local, {"service"}); service && service->is_object())
    backend["service"] = {
        {"name", string_at(*service, {"name"})},
        {"port",
         {{"name", string_at(*service, {"port", "name"})}, {"number", kube::int_at(*service, {"port", "number"})}}}};
  if (const json::value* resource = kube::find(local, {"resource"}); resource && resource->is_object()) {
    json::object copy;
    copy_fields(resource->get_object(), copy, resource_fields);
    backend["resource"] = std::move(copy);
  }
  return backend;
}

json::object forge_path(const json::value& local) {
  json::object path;
  if (const json::object* entries = local.if_object()) copy_fields(*entries, path, path_fields);
  path["backend"] = forge_backend(kube::object_at(local, {"backend"}));
  return path;
}

json::object forge_rule(const json::value& local) {
  json::object rule;
  if (const std::string_view host = string_at(local, {"host"}); !host.empty()) rule["host"] = host;
  if (const json::value* http = kube::find(local, {"http"}); http && http->is_object()) {
    json::array paths;
    for (const json::value& path : kube::array_at(*http, {"paths"})) paths.push_back(forge_path(path));
    rule["http"] = {{"paths", std::move(paths)}};
  }
  return rule;
}

json::object forge_tls(const json::value& local) {
  json::object tls;
  if (const json::array& hosts = kube::array_at(local, {"hosts"}); !hosts.empty()) tls["hosts"] = hosts;
  tls["secretName"] = string_at(local, {"secretName"});
  return tls;
}

void forge_list(const json::object& local, json::object& spec, std::string_view name,
                json::object (*forge_entry)(const json::value&)) {
  json::array list;
  for (const json::value& entry : kube::array_at(local, {name})) list.push_back(forge_entry(entry));
  if (!list.empty()) spec[name] = std::move(list);
}

kube::Object forge(const kube::Object& local, std::string_view remote_namespace, const core::ForgingContext& ctx) {
  kube::Object copy =
      forge_copy(api::kinds::ingresses, local, {std::string(remote_namespace), std::string(local.name())}, ctx);
  kube::ensure_object(copy.mutable_metadata(), "annotations").erase(class_annotation);
  json::object& spec = copy.mutable_spec();
  if (!ctx.ingress_class.empty()) spec["ingressClassName"] = ctx.ingress_class;
  if (const json::object& backend = kube::object_at(local.spec(), {"defaultBackend"}); !backend.empty())
    spec["defaultBackend"] = forge_backend(backend);
  forge_list(local.spec(), spec, "rules", forge_rule);
  forge_list(local.spec(), spec, "tls", forge_tls);
  return copy;
}

Comparison compare(const kube::Object& live, const kube::Object& wanted) {
  return contains({{"spec", live.spec()}}, {{"spec", wanted.spec()}}, {.merged_lists = {}, .atomic = atomic})
             ? Comparison::same
             : Comparison::differs;
}

}  // namespace

extern const ReflectedKind ingress{
    .name = "Ingress",
    .plural = "Ingresses",
    .resource = api::kinds::ingresses,
    .secrets_of = secrets_of_ingress,
    .forge = forge,
    .is_door = [](const kube::Object&) { return true; },
    .compare = compare,
    .addresses = addresses_given,
    .notes = notes_on_ingress,
    .unserved = unserved_ingress,
};

}  // namespace liqo::core::reflection
