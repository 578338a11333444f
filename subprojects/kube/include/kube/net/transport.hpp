// The seam between verbs and the network: one request in, one answer with a streamed body out. Real connections,
// and the in-memory API server of simulations, stand behind it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/failure.hpp"
#include "kube/base/time.hpp"
#include "kube/k8s/request.hpp"

namespace kube::net {

namespace asio = boost::asio;

/// Status line and headers of an answer.
struct ResponseHead {
  int status = 0;
  HttpHeaders headers;

  /// The first value of that header, compared without regard to ASCII case; "" if there is none.
  std::string_view header(std::string_view name) const;
};

/// The body of one answer. Destroying it before its end makes the peer stop sending (RST_STREAM on HTTP/2).
class Body {
 public:
  virtual ~Body() = default;
  /// The next bytes, in the sizes in which they arrive; an empty string is the end. While nobody reads, at most one
  /// flow-control window is buffered. Errors: Errc::closed when the connection broke, Errc::too_large,
  /// Errc::protocol. Cancellation (terminal) throws operation_aborted and leaves the body usable.
  virtual asio::awaitable<Result<std::string>> read() = 0;
};

struct Response {
  ResponseHead head;
  std::unique_ptr<Body> body;
};

/// A way to one API server. Connects when needed, repeats `repeatable` requests over a new connection when the old one
/// broke, and never repeats others once they may have been carried out.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Sends the request and waits for the answer's headers, at most until the deadline (Errc::timeout). The time that an
  /// exec plugin takes to give credentials, in which a person may log in, is added to that. An answer with any HTTP
  /// status is a success here. Errors: connect, tls, closed, timeout, protocol, too_large, stopped, invalid_input (a
  /// header that HTTP does not allow), and those of the credentials.
  virtual asio::awaitable<Result<Response>> send(HttpRequest request, Deadline deadline) = 0;
};

/// A connection that has left HTTP by an upgrade (SPDY/3.1, WebSocket): bytes both ways.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Reads at least one byte; 0 is the end. Errors: Errc::closed. Cancellable.
  virtual asio::awaitable<Result<std::size_t>> read_some(std::span<char> buffer) = 0;
  /// Writes everything, in one TLS record if it fits. One writer at a time.
  virtual asio::awaitable<Result<void>> write(std::string_view bytes) = 0;
  /// Closes both directions at once; a pending read ends.
  virtual void close() = 0;
  /// From now on waits for a peer that is there and does not read, however long that takes. Otherwise one that takes
  /// nothing for half a minute is given up.
  virtual void be_patient() {}
  /// True if the peer acknowledges nothing, though it was sent again and again for a quarter of a minute: it is gone.
  virtual bool is_cut_off() const { return false; }
};

/// What came of asking for an upgrade: a stream after 101, or else the answer's head and at most 64 KiB of its body.
struct Upgraded {
  ResponseHead head;
  std::unique_ptr<ByteStream> stream;  ///< null if the server did not switch protocols
  std::string refusal;                 ///< the body of an answer other than 101
};

/// Opens a connection of its own over HTTP/1.1 and asks for an upgrade on it.
class Upgrader {
 public:
  virtual ~Upgrader() = default;
  /// `request` carries the headers `upgrade` and what the protocol needs besides; `connection: Upgrade`, host and
  /// credentials are added. Bytes that arrive after the head belong to the stream.
  virtual asio::awaitable<Result<Upgraded>> upgrade(HttpRequest request, Deadline deadline) = 0;

  /// What callers have learnt about the server behind this Upgrader.
  struct Manners {
    TimePoint no_get_until{};  ///< until then an upgrade by GET is refused (403), and one by POST is not
  };
  Manners& manners() { return manners_; }

 private:
  Manners manners_;
};

}  // namespace kube::net
