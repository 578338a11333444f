// The parameters with which a consumer authenticates at its provider: `authParams` of Tenants, Identities, Renews and
// ResourceSlices.
#pragma once

#include <string>

#include "kube/base/failure.hpp"
#include "kube/base/json.hpp"

namespace liqo::api {

/// The fields of `authParams`, decoded.
struct AuthParams {
  std::string ca_pem;           ///< "" = the authorities that the consumer's system trusts
  std::string certificate_pem;  ///< `signedCRT`
  std::string api_server;       ///< URL
  std::string proxy_url;        ///< "" = none
  bool has_aws = false;  ///< credentials of an EKS cluster in place of a certificate, which only the Go version takes
};

/// Reads the object; what is absent is "". Errors: Errc::parse (a field that is not base64).
kube::Result<AuthParams> read_auth_params(const kube::json::object& tree);
/// The object; empty fields are left out.
kube::json::object write_auth_params(const AuthParams& params);

}  // namespace liqo::api
