#include "liqo/api/auth_params.hpp"

#include "kube/base/base64.hpp"

namespace liqo::api {

kube::Result<AuthParams> read_auth_params(const kube::json::object& tree) {
  AuthParams params{.api_server = std::string(kube::string_at(tree, {"apiServer"})),
                    .proxy_url = std::string(kube::string_at(tree, {"proxyURL"})),
                    .has_aws = kube::find(tree, {"awsConfig"}) != nullptr};
  for (const auto& [field, out] : {std::pair{"ca", &params.ca_pem}, std::pair{"signedCRT", &params.certificate_pem}}) {
    auto bytes = kube::decode_base64(kube::string_at(tree, {field}));
    if (!bytes) return kube::fail(kube::Errc::parse, std::string("field '") + field + "' of authParams is not base64");
    *out = std::move(*bytes);
  }
  return params;
}

kube::json::object write_auth_params(const AuthParams& params) {
  kube::json::object tree;
  if (!params.ca_pem.empty()) tree["ca"] = kube::encode_base64(params.ca_pem);
  if (!params.certificate_pem.empty()) tree["signedCRT"] = kube::encode_base64(params.certificate_pem);
  if (!params.api_server.empty()) tree["apiServer"] = params.api_server;
  if (!params.proxy_url.empty()) tree["proxyURL"] = params.proxy_url;
  return tree;
}

}  // namespace liqo::api
