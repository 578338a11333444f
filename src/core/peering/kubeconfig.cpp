#include "core/peering/kubeconfig.hpp"

#include "kube/base/base64.hpp"
#include "kube/base/json.hpp"

namespace liqo::core {
namespace {

/// "<key>: <value>" with the value as JSON string, which is also a YAML one.
std::string entry(std::string_view key, std::string_view value) {
  return std::string(key) + ": " + kube::json::serialize(kube::json::string(value)) + "\n";
}

}  // namespace

std::string forge_kubeconfig(const KubeconfigParts& parts) {
  std::string text = "apiVersion: v1\nclusters:\n- cluster:\n";
  if (!parts.ca_pem.empty()) text += entry("    certificate-authority-data", kube::encode_base64(parts.ca_pem));
  if (!parts.proxy_url.empty()) text += entry("    proxy-url", parts.proxy_url);
  text += entry("    server", parts.server);
  text += entry("  name", parts.cluster);
  text += "contexts:\n- context:\n";
  text += entry("    cluster", parts.cluster);
  if (!parts.ns.empty()) text += entry("    namespace", parts.ns);
  text += entry("    user", parts.user);
  text += "  name: default-context\ncurrent-context: default-context\nkind: Config\nusers:\n";
  text += entry("- name", parts.user);
  text += "  user:\n";
  text += entry("    client-certificate-data", kube::encode_base64(parts.certificate_pem));
  text += entry("    client-key-data", kube::encode_base64(parts.key_pem));
  return text;
}

}  // namespace liqo::core
