// TCP and TLS connections as ByteStreams, for the files of this room that dial and accept.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>

#include "kube/net/tls.hpp"
#include "kube/net/transport.hpp"
#include "kube/net/x509.hpp"

namespace kube::net {

using boost::asio::ip::tcp;

/// Bytes that have passed, as the owner of the connection counts them.
struct Traffic {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

/// Small writes at once, and a silent peer noticed by the kernel too.
void tune(tcp::socket& socket);

/// A plain connection; `traffic` may be null.
std::unique_ptr<ByteStream> make_tcp_stream(tcp::socket socket, std::shared_ptr<Traffic> traffic = nullptr);

/// A TLS connection after its handshake, and what came of it.
struct Secured {
  std::unique_ptr<ByteStream> stream;
  std::string protocol;  ///< by ALPN, "" = none
};

/// How a client speaks TLS with one server.
struct ClientTls {
  TlsContext context;
  std::string server_name;  ///< name or IP literal that the certificate is checked against
  bool offers_http2 = false;
};

/// The client's handshake. Errors: Errc::tls, saying what is wrong with the certificate; Errc::connect where the
/// connection broke.
asio::awaitable<Result<Secured>> tls_handshake_client(tcp::socket socket, ClientTls how,
                                                      std::shared_ptr<Traffic> traffic = nullptr);

/// A TLS connection of a server; may be closed from the start, within the handshake too.
class TlsServerStream : public ByteStream {
 public:
  /// Comes before reads and writes; answers who the client is, where it has shown a certificate that is verified.
  virtual asio::awaitable<Result<std::optional<CertificateSubject>>> handshake() = 0;
};
std::unique_ptr<TlsServerStream> make_tls_server_stream(tcp::socket socket, const TlsContext& context);

}  // namespace kube::net
