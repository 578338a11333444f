// TLS settings of one side, made from PEM text. Who may be trusted and who we are is decided here; connections are made
// by dial.hpp and http_server.hpp. OpenSSL stays behind this header.
// Tested by test/net/http/http_client_trust_test.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"

namespace kube::net {

/// What a client needs to make a connection that can be trusted.
struct TlsClientConfig {
  std::string_view ca_pem;           ///< one or more certificates; "" = the system's store
  std::string_view certificate_pem;  ///< chain that proves who we are, leaf first; "" = none
  std::string_view key_pem;
  bool verify = true;  ///< false only if the user has said so (`insecure-skip-tls-verify`)
};

/// What a server shows and whom it asks for.
struct TlsServerConfig {
  std::string_view certificate_pem;  ///< chain, leaf first
  std::string_view key_pem;
  std::string_view
      client_ca_pem;  ///< client certificates are asked for, and verified against these; "" = not asked for
};

/// Settings for TLS 1.2 and later, shared by any number of connections; cheap to copy. A connection keeps the settings
/// with which it was made.
class TlsContext {
 public:
  struct Impl;

  /// Settings for a client. Errors: Errc::tls, naming what cannot be read or does not fit together; never quoting a
  /// key.
  static Result<TlsContext> client(const TlsClientConfig& config);
  /// Settings for a server. Errors: Errc::tls, naming what cannot be read or does not fit together; never quoting a
  /// key.
  static Result<TlsContext> server(const TlsServerConfig& config);

  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  explicit TlsContext(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace kube::net
