#include "kube/net/tls/server_identity.hpp"

namespace kube::net {

Result<TlsContext> ServerIdentity::make_tls(const KeyAndCertificate& pair, std::string_view client_ca) const {
  return TlsContext::server(
      {.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem, .client_ca_pem = client_ca});
}

Result<TlsContext> ServerIdentity::begin(KeyAndCertificate pair) {
  auto tls = make_tls(pair, client_ca_);
  if (!tls) return tls;
  pair_ = std::move(pair);
  begun_ = true;
  return tls;
}

Result<void> ServerIdentity::use_certificate(KeyAndCertificate pair) {
  KUBE_TRY(tls, make_tls(pair, client_ca_));
  pair_ = std::move(pair);
  apply_(std::move(tls));
  return {};
}

Result<bool> ServerIdentity::use_client_ca(std::string pem) {
  if (pem == client_ca_) return false;
  if (!begun_) {
    client_ca_ = std::move(pem);
    return false;
  }
  KUBE_TRY(tls, make_tls(pair_, pem));
  client_ca_ = std::move(pem);
  apply_(std::move(tls));
  return true;
}

}  // namespace kube::net
