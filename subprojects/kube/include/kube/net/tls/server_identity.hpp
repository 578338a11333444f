// The certificate that a server shows and the CA of its callers, both of which may be replaced while it serves.
#pragma once

#include <functional>
#include <string>

#include "kube/net/tls/tls.hpp"
#include "kube/net/tls/x509.hpp"

namespace kube::net {

/// Keeps both, and makes new TLS settings when one of them changes. What cannot be used changes nothing. One thread.
class ServerIdentity {
 public:
  /// `apply`: hands the server settings for its new connections; not called before begin() has succeeded.
  explicit ServerIdentity(std::function<void(TlsContext)> apply) : apply_(std::move(apply)) {}

  /// The settings to start a server with: this certificate, and the client CA that was given until now. Errors: those
  /// of TlsContext::server().
  Result<TlsContext> begin(KeyAndCertificate pair);
  /// Another certificate, after begin(). Errors: as begin().
  Result<void> use_certificate(KeyAndCertificate pair);
  /// Another CA that signs the certificates of callers, as PEM; "" = they are not asked for one. True if new
  /// connections use it from now on. False if they use it already, or if begin() was not called yet, which then checks
  /// it. Errors: as begin().
  Result<bool> use_client_ca(std::string pem);

 private:
  Result<TlsContext> make_tls(const KeyAndCertificate& pair, std::string_view client_ca) const;

  std::function<void(TlsContext)> apply_;
  bool begun_ = false;
  KeyAndCertificate pair_;
  std::string client_ca_;
};

}  // namespace kube::net
