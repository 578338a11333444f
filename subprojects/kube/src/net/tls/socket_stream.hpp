// TCP and TLS connections as ByteStreams, for the files of this room that dial and accept.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>

#include "kube/net/tls/tls.hpp"
#include "kube/net/tls/x509.hpp"
#include "kube/net/transport.hpp"

namespace kube::net {

using boost::asio::ip::tcp;

/// Bytes that have passed, as the owner of the connection counts them.
struct Traffic {
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

/// Small writes at once, and a silent peer noticed by the kernel too.
void tune(tcp::socket& socket);

/// A connection that this side has made, with what the client asks of its socket besides.
class ClientStream : public ByteStream {
 public:
  /// True while the peer has sent nothing that was not read, and has not closed: it waits for a request. Not while a
  /// read is pending.
  virtual bool is_quiet() = 0;
  /// Bytes that the system has taken for sending. Those after them have not left this process.
  virtual std::uint64_t bytes_taken() const = 0;
  /// From now on the end of the connection is a reset: what has not left this machine by then never does, also if the
  /// end of this process ends it.
  virtual void reset_at_close() = 0;
};

/// A plain connection; `traffic` may be null.
std::unique_ptr<ClientStream> make_tcp_stream(tcp::socket socket, std::shared_ptr<Traffic> traffic = nullptr);

/// A TLS connection after its handshake, and what came of it.
struct Secured {
  std::unique_ptr<ClientStream> stream;
  std::string protocol;  ///< by ALPN, "" = none
};

/// How a client speaks TLS with one server.
struct ClientTls {
  TlsContext context;
  std::string server_name;  ///< name or IP literal that the certificate is checked against
  bool offers_http2 = false;
};

/// The client's handshake. Errors: Errc::tls, saying what is wrong with the certificate; Errc::connect if the
/// connection broke.
asio::awaitable<Result<Secured>> tls_handshake_client(tcp::socket socket, ClientTls how,
                                                      std::shared_ptr<Traffic> traffic = nullptr);

/// A TLS connection of a server; may be closed from the start, within the handshake too.
class TlsServerStream : public ByteStream {
 public:
  /// Comes before reads and writes; returns who the client is, if it has shown a certificate that is verified.
  virtual asio::awaitable<Result<std::optional<CertificateSubject>>> handshake() = 0;
};
std::unique_ptr<TlsServerStream> make_tls_server_stream(tcp::socket socket, const TlsContext& context);

}  // namespace kube::net
