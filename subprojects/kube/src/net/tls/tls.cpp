#include "kube/net/tls/tls.hpp"

#include "openssl.hpp"
#include "tls_impl.hpp"

namespace kube::net {

namespace {

namespace ssl = boost::asio::ssl;

void set_versions(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

/// Checks what the reading of `count` certificates ended with: the end of the text, or a certificate that cannot be
/// read.
Result<void> expect_end(int count, std::string_view what) {
  const unsigned long end = ERR_peek_last_error();
  const bool clean = ERR_GET_LIB(end) == ERR_LIB_PEM && ERR_GET_REASON(end) == PEM_R_NO_START_LINE;
  const std::string why = openssl::take_error();
  if (clean) return {};
  return fail(Errc::tls, std::string(what) + ": certificate " + std::to_string(count + 1) + ": " + why);
}

/// Adds every certificate of the PEM text to the store that peers are verified against.
Result<void> add_authorities(SSL_CTX* context, std::string_view pem) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const openssl::Bio bio = openssl::bio_of(pem);
  int count = 0;
  while (const openssl::Certificate certificate = openssl::read_pem_certificate(bio.get())) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1)
      return fail(Errc::tls, "certificate authority: " + openssl::take_error());
    ++count;
  }
  if (count == 0) {
    ERR_clear_error();
    return fail(Errc::tls, "certificate authority: no certificate in PEM form");
  }
  return expect_end(count, "certificate authority");
}

Result<void> use_certificate(SSL_CTX* context, std::string_view certificate_pem, std::string_view key_pem) {
  const openssl::Bio bio = openssl::bio_of(certificate_pem);
  const openssl::Certificate leaf = openssl::read_pem_certificate(bio.get());
  if (!leaf) {
    ERR_clear_error();
    return fail(Errc::tls, "certificate: no certificate in PEM form");
  }
  if (SSL_CTX_use_certificate(context, leaf.get()) != 1)
    return fail(Errc::tls, "certificate: " + openssl::take_error());
  int count = 1;
  for (; const openssl::Certificate issuer = openssl::read_pem_certificate(bio.get()); ++count)
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1)
      return fail(Errc::tls, "certificate chain: " + openssl::take_error());
  KUBE_TRYV(expect_end(count, "certificate chain"));
  const openssl::Key key = openssl::read_pem_key(key_pem);
  if (!key) {
    ERR_clear_error();
    return fail(Errc::tls, "private key: not a key in PEM form, or encrypted");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return fail(Errc::tls, "the private key does not belong to the certificate");
  }
  return {};
}

/// A server takes HTTP/1.1 if the client offers it, and does without the extension otherwise.
int select_http1(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* offered,
                 unsigned int length, void*) {
  static constexpr unsigned char http1[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, http1, sizeof(http1) - 1, offered, length) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<TlsContext> TlsContext::client(const TlsClientConfig& config) {
  ERR_clear_error();
  auto impl = std::make_shared<Impl>(ssl::context::tls_client);
  SSL_CTX* context = impl->context.native_handle();
  set_versions(context);
  impl->verify = config.verify;
  if (config.verify) {
    if (config.ca_pem.empty()) {
      SSL_CTX_set_default_verify_paths(context);
      ERR_clear_error();
    } else if (auto added = add_authorities(context, config.ca_pem); !added) {
      return std::unexpected(std::move(added.error()));
    }
    // A kubeconfig may name an intermediate or the server's own certificate as the authority.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  } else {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  }
  if (!config.certificate_pem.empty() || !config.key_pem.empty())
    KUBE_TRYV(use_certificate(context, config.certificate_pem, config.key_pem), "client");
  return TlsContext(std::move(impl));
}

Result<TlsContext> TlsContext::server(const TlsServerConfig& config) {
  ERR_clear_error();
  auto impl = std::make_shared<Impl>(ssl::context::tls_server);
  SSL_CTX* context = impl->context.native_handle();
  set_versions(context);
  KUBE_TRYV(use_certificate(context, config.certificate_pem, config.key_pem), "serving");
  SSL_CTX_set_alpn_select_cb(context, select_http1, nullptr);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Nobody resumes a session with us, and TLS 1.3 makes tickets whatever the option says.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  if (!config.client_ca_pem.empty()) {
    KUBE_TRYV(add_authorities(context, config.client_ca_pem), "client");
    const openssl::Bio bio = openssl::bio_of(config.client_ca_pem);
    while (const openssl::Certificate authority = openssl::read_pem_certificate(bio.get()))
      SSL_CTX_add_client_CA(context, authority.get());
    ERR_clear_error();
    // Asked for and not demanded: a client without one may bring a token instead. One that cannot be verified ends the
    // handshake.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  return TlsContext(std::move(impl));
}

}  // namespace kube::net
