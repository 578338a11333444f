#include "core/offloading/token_secrets.hpp"

#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace json = kube::json;
namespace {

constexpr std::size_t max_names = 1000;

/// Whether the annotation is there with any value but "false", as reflection reads it.
bool is_set(const kube::Object& object, std::string_view key) {
  return object.has_annotation(key) && kube::lower_case(object.annotation(key)) != "false";
}

void add(const json::value* reference, std::string_view name, std::set<std::string>& names) {
  if (!reference || kube::bool_at(*reference, {"optional"})) return;
  const std::string_view named = kube::string_at(*reference, {name});
  if (!named.empty() && names.size() < max_names) names.emplace(named);
}

}  // namespace

std::set<std::string> needed_secrets(const kube::Object& pod) {
  std::set<std::string> names;
  for (const json::value& volume : kube::array_at(pod.spec(), {"volumes"})) {
    add(kube::find(volume, {"secret"}), "secretName", names);
    for (const json::value& source : kube::array_at(volume, {"projected", "sources"}))
      add(kube::find(source, {"secret"}), "name", names);
  }
  for (std::string_view list : {"initContainers", "containers"})
    for (const json::value& container : kube::array_at(pod.spec(), {list})) {
      for (const json::value& variable : kube::array_at(container, {"env"}))
        add(kube::find(variable, {"valueFrom", "secretKeyRef"}), "name", names);
      for (const json::value& source : kube::array_at(container, {"envFrom"}))
        add(kube::find(source, {"secretRef"}), "name", names);
    }
  return names;
}

bool may_copy_token(const kube::Object& secret) {
  return is_set(secret, api::annotations::allow_reflection) && !is_set(secret, api::annotations::skip_reflection);
}

std::string describe_token_secret(std::string_view secret) {
  return "Secret " + std::string(secret) +
         " holds a token of a service account of this cluster, and is copied only if it is annotated "
         "liqo.io/allow-reflection: annotate it, or mount a token by a projected volume (serviceAccountToken) instead";
}

}  // namespace liqo::core
