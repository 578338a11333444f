#include "model/leftover_secrets.hpp"

#include "liqo/api/labels.hpp"
#include "liqo/core/forge/meta.hpp"
#include "liqo/core/service_account_token.hpp"
#include "liqo/reflection/references.hpp"

namespace liqoctl::model {

void add_references(const kube::Object& object, std::set<std::string>& into) {
  const std::string_view kind = kube::string_at(object.tree(), {"kind"});
  std::vector<std::string> names;
  if (kind == "Pod") names = liqo::reflection::secrets_of_pod(object);
  if (kind == "Ingress") names = liqo::reflection::secrets_of_ingress(object);
  if (kind == "ServiceAccount") names = liqo::reflection::pull_secrets_of(object);
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
