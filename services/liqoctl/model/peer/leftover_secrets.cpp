#include "model/peer/leftover_secrets.hpp"

#include "core/common/meta.hpp"
#include "core/offloading/service_account_token.hpp"
#include "core/reflection/references.hpp"
#include "liqo/api/annotations.hpp"

namespace liqoctl::model {
namespace {

namespace json = kube::json;

void add_pod(const json::object& spec, std::set<std::string>& into) {
  kube::Object pod;
  pod.mutable_spec() = spec;
  // Ephemeral containers refer to Secrets like other containers.
  json::array& containers = kube::ensure_array(pod.mutable_spec(), "containers");
  for (const json::value& container : kube::array_at(spec, {"ephemeralContainers"})) containers.push_back(container);
  const auto names = liqo::core::reflection::secrets_of_pod(pod);
  into.insert(names.begin(), names.end());
}

}  // namespace

void add_references(const kube::Object& object, std::set<std::string>& into) {
  const std::string_view kind = kube::string_at(object.tree(), {"kind"});
  std::vector<std::string> names;
  if (kind == "Pod") add_pod(object.spec(), into);
  // Pods of a template may be created at any time.
  add_pod(kube::object_at(object.spec(), {"template", "spec"}), into);
  add_pod(kube::object_at(object.spec(), {"jobTemplate", "spec", "template", "spec"}), into);
  if (kind == "Ingress") {
    names = liqo::core::reflection::secrets_of_ingress(object);
    // Ingress controllers have annotations of their own that name Secrets, as NAME or NAMESPACE/NAME.
    for (const auto& [key, value] : kube::object_at(object.tree(), {"metadata", "annotations"}))
      if (const json::string* text = value.if_string()) {
        const std::string_view words = *text;
        names.emplace_back(words.substr(words.rfind('/') + 1));
      }
  }
  if (kind == "ServiceAccount") names = liqo::core::reflection::pull_secrets_of(object);
  into.insert(names.begin(), names.end());
}

std::vector<kube::Object> leftover_secrets(const std::vector<kube::Object>& secrets,
                                           const std::set<std::string>& referred,
                                           const liqo::core::ClusterPair& clusters) {
  std::vector<kube::Object> out;
  for (const kube::Object& secret : secrets) {
    if (!liqo::core::is_reflected(secret, clusters) || liqo::core::is_token_secret(secret, clusters)) continue;
    if (secret.has_annotation(liqo::api::annotations::reflected_digest) || secret.is_deleting()) continue;
    if (!referred.contains(std::string(secret.name()))) out.push_back(secret);
  }
  return out;
}

}  // namespace liqoctl::model
