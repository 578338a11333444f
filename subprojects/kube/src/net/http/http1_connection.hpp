// One HTTP/1.1 connection of a client: a request and its answer at a time.
#pragma once

#include <memory>

#include "net/tls/socket_stream.hpp"

namespace kube::net {

/// One thread; one exchange at a time.
class Http1Connection {
 public:
  /// Keeps `slot` for as long as it carries requests.
  explicit Http1Connection(std::unique_ptr<ClientStream> stream, std::shared_ptr<void> slot = nullptr);
  ~Http1Connection();

  using Headers = HttpHeaders;
  /// Sends the request and reads the answer's head. Interim answers are skipped. Errors: Errc::invalid_input (before
  /// anything is sent), Errc::closed, Errc::protocol, Errc::too_large.
  asio::awaitable<Result<ResponseHead>> exchange(HttpRequest request, std::string host, std::string path_prefix,
                                                 Headers extra);
  /// The next bytes of the answer's body, "" = end.
  asio::awaitable<Result<std::string>> read_body();
  /// True once the answer is complete and the connection may carry another request.
  bool is_reusable() const;
  /// True while the peer waits for another request: nothing has come since the last answer, not even the end.
  bool is_quiet() const;
  /// A part of the request under way may have reached the peer.
  bool has_sent() const;
  /// Ends the connection: what waits for it fails with Errc::closed.
  void close();
  /// Bytes of the peer have come for the request under way: the peer has acted on it.
  bool has_answered() const;
  /// The connection after a 101: what has come already is read first.
  std::unique_ptr<ByteStream> into_stream();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube::net
