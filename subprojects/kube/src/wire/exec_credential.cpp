#include "kube/wire/exec_credential.hpp"

#include <algorithm>

#include "kube/base/base64.hpp"

namespace kube::wire {

namespace {

/// The token goes into a header as it is.
bool is_header_text(std::string_view token) {
  return std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::string exec_info(const ClusterConfig& cluster, const ExecPlugin& plugin, bool interactive) {
  json::object spec{{"interactive", interactive}};
  if (plugin.provide_cluster_info) {
    json::object& told = spec["cluster"].emplace_object();
    told["server"] = cluster.server.text();
    if (!cluster.tls_server_name.empty()) told["tls-server-name"] = cluster.tls_server_name;
    if (cluster.insecure_skip_tls_verify) told["insecure-skip-tls-verify"] = true;
    if (!cluster.ca_pem.empty()) told["certificate-authority-data"] = encode_base64(cluster.ca_pem);
    if (!plugin.cluster_config.is_null()) told["config"] = plugin.cluster_config;
  }
  return json::serialize(
      json::object{{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

Result<ExecCredential> parse_exec_credential(std::string_view text, const ExecPlugin& plugin) {
  const auto document = parse_json(text);
  if (!document || !document->is_object()) return fail(Errc::parse, "its answer is not a JSON document");
  if (string_at(*document, {"kind"}) != "ExecCredential")
    return fail(Errc::parse, "its answer is not an ExecCredential");
  if (string_at(*document, {"apiVersion"}) != plugin.api_version)
    return fail(Errc::invalid_input,
                "its answer is not of the version that the kubeconfig names, " + plugin.api_version);
  ExecCredential credential;
  credential.token = string_at(*document, {"status", "token"});
  credential.certificate_pem = string_at(*document, {"status", "clientCertificateData"});
  credential.key_pem = string_at(*document, {"status", "clientKeyData"});
  if (credential.certificate_pem.empty() != credential.key_pem.empty())
    return fail(Errc::invalid_input, "its answer has a client certificate or a key, but not both");
  if (credential.token.empty() && credential.certificate_pem.empty())
    return fail(Errc::invalid_input, "its answer has neither a token nor a client certificate");
  if (!is_header_text(credential.token)) return fail(Errc::invalid_input, "its token has characters that no token has");
  if (const auto expires = string_at(*document, {"status", "expirationTimestamp"}); !expires.empty()) {
    auto time = parse_time(expires);
    if (!time) return fail(Errc::invalid_input, "its expirationTimestamp is not a time");
    credential.expires = *time;
  }
  return credential;
}

}  // namespace kube::wire
