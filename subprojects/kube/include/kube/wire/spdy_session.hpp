// One SPDY/3.1 connection as a state machine, for either role: bytes in, events and frames out. It knows no socket.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/failure.hpp"
#include "kube/wire/spdy_headers.hpp"

namespace kube::wire {

enum class SpdyRole : std::uint8_t { client, server };

/// Why a stream was reset (RST_STREAM), as on the wire.
enum class SpdyReset : std::uint32_t {
  protocol_error = 1,
  invalid_stream = 2,
  refused_stream = 3,
  unsupported_version = 4,
  cancel = 5,
  internal_error = 6,
  flow_control_error = 7,
  stream_in_use = 8,
  stream_already_closed = 9,
};

/// Why a connection ends (GOAWAY), as on the wire.
enum class SpdyGoAway : std::uint32_t { ok = 0, protocol_error = 1, internal_error = 2 };

/// Something that the peer did.
struct SpdyEvent {
  enum class Kind : std::uint8_t {
    opened,     ///< a stream of the peer: answer with reply() or reset(); `headers`
    replied,    ///< the peer accepted a stream of ours: from now on it takes data; `headers`
    data,       ///< `bytes` of a stream, in the pieces in which they arrived
    finished,   ///< the peer will send no more on this stream
    reset,      ///< the peer ended this stream in both directions; `code` says why
    pong,       ///< the answer to our ping `code`
    going_away  ///< the peer takes no more streams and may read nothing more; `code` says why
  };
  Kind kind;
  std::uint32_t stream = 0;
  SpdyHeaders headers;
  std::string bytes;
  std::uint32_t code = 0;
};

/// What a peer may make us hold.
struct SpdyLimits {
  std::size_t frame = 1 << 20;           ///< bytes of one data frame
  std::size_t header_block = 64 * 1024;  ///< bytes of one header list after decompression
  std::size_t streams = 1000;            ///< open streams that the peer started
  /// False: its header blocks are skipped, and it opens no streams.
  bool reads_headers = true;
};

/// Rules and quirks are those of the Go implementation that Kubernetes uses: there is no flow control, ids of streams
/// rise, data before the reply to a stream is dropped, frame types that carry no meaning here are skipped. A breach of
/// the rules ends the connection: feed() fails from then on, and a GOAWAY with PROTOCOL_ERROR is left in the output.
class SpdySession {
 public:
  explicit SpdySession(SpdyRole role, SpdyLimits limits = {});

  /// Takes bytes of the peer, cut anywhere, which become events. The session answers pings by itself.
  /// Errors: Errc::protocol, Errc::too_large.
  Result<void> feed(std::string_view bytes);
  std::optional<SpdyEvent> next();
  /// From now on feed() hands data to `sink` as a view of the fed bytes, and makes no events of it. An event that was
  /// fed before such data is fetched after it.
  using DataSink = std::function<void(std::uint32_t stream, std::string_view bytes)>;
  void hand_data_to(DataSink sink) { sink_ = std::move(sink); }

  /// The next frame to send. It is to be written whole, in one write: Go's reader of header blocks depends on it. Pings
  /// and their answers overtake the rest.
  std::optional<std::string> next_output();
  /// Bytes of frames that nobody has fetched yet: producers wait while this is large.
  std::size_t pending_output() const { return pending_; }

  /// Opens a stream; wait for `replied` before data is sent or the next stream opened. Errors: Errc::too_large for
  /// headers over 3 KiB, Errc::closed after going away.
  Result<std::uint32_t> open(const SpdyHeaders& headers);
  /// Accepts a stream of the peer.
  void reply(std::uint32_t stream);
  /// Queues data, in frames of at most 32 KiB: after what waits already, in the same frame if there is room. False if
  /// the stream takes none (any more).
  bool write(std::uint32_t stream, std::string_view bytes);
  /// Half-closes: nothing more is sent on this stream. A second call does nothing.
  void finish(std::uint32_t stream);
  /// Frees what header blocks of this connection refer to, which is most of what a session costs. From now on streams
  /// of the peer are refused, and none is opened or accepted here.
  void forget_headers();
  /// Ends a stream in both directions.
  void reset(std::uint32_t stream, SpdyReset reason);
  /// Sends a ping; its answer is a `pong` with the returned number.
  std::uint32_t ping();
  /// Resets every stream that we have not finished and says goodbye. What was queued before is sent before.
  void close(SpdyGoAway reason = SpdyGoAway::ok);
  bool is_closed() const { return closed_; }
  std::size_t open_streams() const { return streams_.size(); }

 private:
  struct Stream {
    bool replied = false;
    bool local_finished = false;
    bool remote_finished = false;
  };
  using Streams = std::map<std::uint32_t, Stream>;

  Result<void> consume(std::string_view& bytes);
  Result<void> start_frame();
  Result<void> control_frame();
  Result<void> syn_stream();
  Result<void> syn_reply();
  Result<void> headers_frame();
  Result<void> rst_stream();
  Result<void> settings();
  Result<void> ping_frame();
  Result<void> go_away();
  Result<void> refuse(std::uint32_t stream, SpdyReset reason);
  Result<void> data(std::string_view piece);
  void data_ended();
  void remote_finished(std::uint32_t stream);
  void forget_if_done(Streams::iterator stream);
  Result<SpdyHeaders> decode(std::string_view block);
  bool is_ours(std::uint32_t id) const { return (id % 2 == 1) == (role_ == SpdyRole::client); }
  std::uint8_t flags() const;
  void push(std::string frame);
  void push_urgent(std::string frame);
  void send_reset(std::uint32_t stream, SpdyReset reason);

  SpdyRole role_;
  SpdyLimits limits_;
  std::optional<SpdyHeaderEncoder> encoder_;  // none once headers are of no interest
  std::optional<SpdyHeaderDecoder> decoder_;
  Streams streams_;
  std::uint32_t next_id_;
  std::uint32_t next_ping_;
  std::uint32_t last_received_ = 0;
  std::size_t peer_streams_ = 0;
  std::size_t faults_ = 0;

  std::string head_;     // of the frame being read
  std::string payload_;  // of a control frame
  std::size_t missing_ = 0;
  std::optional<Failure> failure_;
  DataSink sink_;
  std::deque<SpdyEvent> events_;
  std::deque<std::string> output_;
  std::uint32_t growing_ = 0;  // the stream whose data the last frame of the output holds, with room for more
  std::deque<std::string> urgent_;
  std::size_t pending_ = 0;
  bool closed_ = false;
};

}  // namespace kube::wire
